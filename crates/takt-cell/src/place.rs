//! Memory of cells that other processes read: places in the segments of this process, and in those of other ones.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_rt::segment::{Segment, SegmentView};

use crate::layout::{IDENTITY, LINE_WORDS};
use crate::slots::{Control, SLOTS};
use crate::{CellLocation, Shape};

/// Size in bytes of a segment for many cells. It is smaller under Miri, which checks every word of it for each
/// borrow.
const SEGMENT: usize = if cfg!(miri) { 1 << 12 } else { 1 << 20 };
/// Largest total size of all cells of a process in bytes: 1 GiB.
const STORE: usize = 1 << 30;

/// The memory of a shared cell: its first line and its slots.
#[derive(Debug)]
pub(crate) struct Place {
    segment: Arc<Segment>,
    number: u32,
    start: usize,
    slot_words: usize,
    identity: u64,
}

/// Memory of the shared cells of the process.
#[derive(Debug, Default)]
struct Store {
    segments: Vec<Arc<Segment>>,
    /// Number of words of the last segment in use.
    used: usize,
    bytes: usize,
    /// Memory of dropped cells, as segment and first word, by the number of words of their slots.
    free: HashMap<usize, Vec<(u32, usize)>>,
    identities: u64,
}

static PROCESS: Mutex<Option<Store>> = Mutex::new(None);

fn store() -> MutexGuard<'static, Option<Store>> {
    // A panic while the lock was held has changed nothing.
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the segment with this number, for passing it to a reader.
#[must_use]
pub fn segment(number: u32) -> Option<Arc<Segment>> {
    let store = store();
    let segments = &store.as_ref()?.segments;
    segments.get(usize::try_from(number).ok()?).cloned()
}

impl Place {
    /// Takes memory for a cell whose slots have `slot_words` words each.
    pub(crate) fn take(slot_words: usize) -> io::Result<Self> {
        let mut guard = store();
        let store = guard.get_or_insert_default();
        let words = LINE_WORDS + SLOTS * slot_words;
        let (number, start) = match store.free.get_mut(&slot_words).and_then(Vec::pop) {
            Some(place) => place,
            None => store.extend(words)?,
        };
        store.identities += 1;
        let segment = store
            .segments
            .get(number as usize)
            .cloned()
            .ok_or(io::ErrorKind::NotFound)?;
        let place = Self {
            segment,
            number,
            start,
            slot_words,
            identity: store.identities,
        };
        place.clear();
        Ok(place)
    }

    /// Resets the memory and gives it a new identity.
    fn clear(&self) {
        let words = self.words();
        self.identify(0);
        for word in words.iter().skip(IDENTITY + 1) {
            word.store(0, Ordering::Relaxed);
        }
        crate::slots::initialise(words.get(LINE_WORDS..).unwrap_or_default());
        if let Some(control) = control(words) {
            control.reset();
        }
    }

    /// Sets the identity of the memory. Readers of the previous cell see it before any contents of the next one.
    fn identify(&self, identity: u64) {
        if let Some(word) = self.words().get(IDENTITY) {
            word.store(identity, Ordering::Release);
        }
        fence(Ordering::SeqCst);
    }

    /// Opens the cell for readers.
    pub(crate) fn publish(&self) {
        self.identify(self.identity);
    }

    pub(crate) fn words(&self) -> &[AtomicU64] {
        let end = self.start + LINE_WORDS + SLOTS * self.slot_words;
        self.segment
            .words()
            .get(self.start..end)
            .unwrap_or_default()
    }

    pub(crate) fn location(
        &self,
        capacity: usize,
        shape: Shape,
        cached: bool,
    ) -> Option<CellLocation> {
        Some(CellLocation {
            segment: self.number,
            offset: u32::try_from(8 * self.start).ok()?,
            slot_words: u32::try_from(self.slot_words).ok()?,
            capacity: u32::try_from(capacity).ok()?,
            shape,
            cached,
            identity: self.identity,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.identify(0);
        if let Some(store) = store().as_mut() {
            let places = store.free.entry(self.slot_words).or_default();
            places.push((self.number, self.start));
        }
    }
}

impl Store {
    /// Returns the segment and the first word of `words` new words.
    fn extend(&mut self, words: usize) -> io::Result<(u32, usize)> {
        let room = self.segments.last().map_or(0, |last| last.words().len());
        if self.used + words > room {
            let bytes = (8 * words).max(SEGMENT);
            if self.bytes + bytes > STORE {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            self.segments
                .push(Arc::new(Segment::create("takt-cells", bytes)?));
            self.bytes += bytes;
            self.used = 0;
        }
        let start = self.used;
        self.used += words;
        let number = u32::try_from(self.segments.len() - 1).unwrap_or(u32::MAX);
        Ok((number, start))
    }
}

/// Returns the first two words of a cell's memory.
pub(crate) fn control(words: &[AtomicU64]) -> Option<&Control> {
    let first = words.first_chunk::<2>()?;
    // SAFETY: `Control` is `repr(C)`, of two `AtomicU64`: the same size and alignment as the array, and any bytes are
    // a value. Both are atomics, so shared references to both are allowed.
    Some(unsafe { &*std::ptr::from_ref(first).cast::<Control>() })
}

/// The memory of a cell of another process.
#[derive(Debug)]
pub(crate) struct ForeignPlace {
    view: Arc<SegmentView>,
    start: usize,
    length: usize,
}

impl ForeignPlace {
    /// Returns the `length` words from `start` on of the segment that `view` shows.
    pub(crate) fn new(view: Arc<SegmentView>, start: usize, length: usize) -> Self {
        Self {
            view,
            start,
            length,
        }
    }

    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `CellReader`, which is the only creator and returns neither it nor its cell, calls only reading
        // functions: these load the identity, the time of the deadline, and the words of `Slots::read` and
        // `Control::generation`, all of them relaxed.
        let words = unsafe { self.view.words() };
        words
            .get(self.start..self.start + self.length)
            .unwrap_or_default()
    }
}
