//! Cells in memory that other processes read.
//!
//! A process has a store of [segments](takt_rt::segment), which it alone can write; [`Cell::share`] moves a cell
//! there. Others get the segment and the cell's [`CellLocation`], and read it as a [`CellReader`] without the process
//! noticing: it may sleep, be busy, or be stopped in a debugger.
//!
//! # Layout
//!
//! A cell begins at a cache line: `latest u64, tickets u64, identity u64`, and five unused words. Its four slots
//! follow, each of whole cache lines: `sequence u64, length and StatusCode u64, source timestamp u64`, three unused
//! bytes, the encoded Variant. In a cell of [cached](crate::Publication::of_cache) values the last word of a slot is
//! the server timestamp. What the words mean is said in the module `slots`. All are of the machine's byte order, but
//! for the encoded Variant. A length of 2³² - 1 says that the value is not there: it does not fit.
//!
//! Memory of a cell that was dropped is used for the next one of its size. So each has an identity that is never used
//! again: a reader of the old cell finds another one and says [`CellError::Gone`], never the value of the new cell.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_rt::segment::{Segment, SegmentView};
use takt_ua::binary::Encoder;
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DataValue, DateTime};

use crate::cell::{LINE_WORDS, MAX_CAPACITY};
use crate::slots::{Control, SLOTS};
use crate::{Cell, CellError, CellLocation, Element, Reading, Scalar, Shape};

/// Bytes of a segment for many cells. Miri looks at every word of it for each borrow.
const SEGMENT: usize = if cfg!(miri) { 1 << 12 } else { 1 << 20 };
/// The most that all cells of a process may take: 1 GiB.
const STORE: usize = 1 << 30;

/// Where a cell's identity is in its first line.
pub(crate) const IDENTITY: usize = 2;

/// The memory of a shared cell: its first line and its slots.
#[derive(Debug)]
pub(crate) struct Place {
    segment: Arc<Segment>,
    number: u32,
    start: usize,
    slot_words: usize,
    identity: u64,
}

/// The memory of the whole process.
#[derive(Debug, Default)]
struct Store {
    segments: Vec<Arc<Segment>>,
    /// Words of the last segment that are in use.
    used: usize,
    bytes: usize,
    /// Places of dropped cells by the words of their slots: segment and first word.
    free: HashMap<usize, Vec<(u32, usize)>>,
    identities: u64,
}

static PROCESS: Mutex<Option<Store>> = Mutex::new(None);

fn store() -> MutexGuard<'static, Option<Store>> {
    // Whoever panicked with the lock had not changed anything yet.
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the segment of that number, to be passed to a reader.
#[must_use]
pub fn segment(number: u32) -> Option<Arc<Segment>> {
    let store = store();
    let segments = &store.as_ref()?.segments;
    segments.get(usize::try_from(number).ok()?).cloned()
}

impl Place {
    /// Memory for a cell whose slots have so many words each.
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

    /// Makes it as new, with an identity of its own.
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

    /// Says whose memory it is. Readers of the cell before see it before they see anything of the next one.
    fn identify(&self, identity: u64) {
        if let Some(word) = self.words().get(IDENTITY) {
            word.store(identity, Ordering::Release);
        }
        fence(Ordering::SeqCst);
    }

    /// Opens it for readers.
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
    /// Returns the segment and the first word of so many new words.
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
    // a value. Both are atomics, so nobody minds that there are references to either.
    Some(unsafe { &*std::ptr::from_ref(first).cast::<Control>() })
}

/// A cell of another process, to be read. Nothing that this does can be noticed there.
#[derive(Debug)]
pub struct CellReader {
    cell: Cell,
    identity: u64,
}

/// The memory of a cell of another process.
#[derive(Debug)]
pub(crate) struct ForeignPlace {
    view: Arc<SegmentView>,
    start: usize,
    length: usize,
}

impl ForeignPlace {
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `CellReader`, which alone makes one and hands out neither it nor its cell, calls what reads: that
        // loads the identity and what `Slots::read` and `Control::generation` load, all of it relaxed.
        let words = unsafe { self.view.words() };
        words
            .get(self.start..self.start + self.length)
            .unwrap_or_default()
    }
}

impl CellReader {
    /// Creates the cell at `location` in the segment that `view` shows; `None` if it is not inside, or cannot be a
    /// cell.
    #[must_use]
    pub fn new(view: Arc<SegmentView>, location: &CellLocation) -> Option<Self> {
        let slot_words = usize::try_from(location.slot_words).ok()?;
        let capacity = usize::try_from(location.capacity).ok()?;
        let offset = usize::try_from(location.offset).ok()?;
        if capacity > MAX_CAPACITY || !offset.is_multiple_of(8) {
            return None;
        }
        let start = offset / 8;
        let length = slot_words.checked_mul(SLOTS)?.checked_add(LINE_WORDS)?;
        if start.checked_add(length)? > view.bytes().len() / 8
            || slot_words < crate::cell::slot_words(capacity, location.cached)
        {
            return None;
        }
        let place = ForeignPlace {
            view,
            start,
            length,
        };
        Some(Self {
            cell: Cell::foreign(place, slot_words, capacity, location),
            identity: location.identity,
        })
    }

    /// Passes on what was read, if it was of the cell that we know.
    #[inline]
    fn check<T>(&self, read: Result<T, CellError>) -> Result<T, CellError> {
        // After the words of the value, before the identity, as within the cell.
        fence(Ordering::Acquire);
        let word = self.cell.identity_word();
        if word.is_some_and(|word| word.load(Ordering::Relaxed) == self.identity) {
            read
        } else {
            Err(CellError::Gone)
        }
    }

    /// As [`Cell::get`].
    ///
    /// # Errors
    /// [`CellError::Gone`], besides.
    pub fn get(&self) -> Result<DataValue, CellError> {
        self.check(self.cell.get())
    }

    /// As [`Cell::reading`].
    ///
    /// # Errors
    /// [`CellError::Gone`], besides.
    pub fn reading(&self) -> Result<Reading, CellError> {
        self.check(self.cell.reading())
    }

    /// As [`Cell::read_into`].
    ///
    /// # Errors
    /// [`CellError::Gone`], besides.
    #[inline]
    pub fn read_into(&self, buffer: &mut [u8]) -> Result<Reading, CellError> {
        self.check(self.cell.read_into(buffer))
    }

    /// As [`Cell::read_scalar`].
    ///
    /// # Errors
    /// [`CellError::Gone`], besides.
    #[inline]
    pub fn read_scalar<T: Scalar>(&self) -> Result<(Option<T>, Reading), CellError> {
        self.check(self.cell.read_scalar())
    }

    /// As [`Cell::read_slice`].
    ///
    /// # Errors
    /// [`CellError::Gone`], besides.
    #[inline]
    pub fn read_slice<T: Element>(
        &self,
        elements: &mut [T],
    ) -> Result<(Option<usize>, Reading), CellError> {
        self.check(self.cell.read_slice(elements))
    }

    /// As [`Cell::encode_data_value`].
    ///
    /// # Errors
    /// [`CellError::Gone`], besides; what was appended is to be thrown away then.
    pub fn encode_data_value(
        &self,
        encoder: &mut Encoder<'_>,
        timestamps: TimestampsToReturn,
        server_timestamp: DateTime,
    ) -> Result<Reading, CellError> {
        let read = self
            .cell
            .encode_data_value(encoder, timestamps, server_timestamp);
        self.check(read)
    }

    /// What the cell takes.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.cell.shape()
    }

    /// How many bytes an encoded value may have.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.cell.capacity()
    }
}

impl Cell {
    /// Moves the cell, with the value that it has, to memory that other processes can be shown.
    ///
    /// # Errors
    /// The system has no memory or descriptors left, or the cells of this process take 1 GiB.
    pub fn share(self) -> io::Result<Self> {
        let shared = Self::in_shared_memory(self.capacity(), self.shape(), false)?;
        shared.take_over(&self);
        shared.publish();
        Ok(shared)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use takt_ua::{StatusCode, Variant};

    use super::*;

    fn reader(cell: &Cell) -> CellReader {
        reader_at(&cell.location().unwrap())
    }

    /// As in another process.
    pub(crate) fn reader_at(location: &CellLocation) -> CellReader {
        let location = CellLocation::parse(&location.to_bytes()).unwrap();
        let segment = segment(location.segment).unwrap();
        let fd = segment.fd().try_clone_to_owned().unwrap();
        let view = Arc::new(SegmentView::open(&fd, usize::MAX).unwrap());
        CellReader::new(view, &location).unwrap()
    }

    #[test]
    fn others_read_what_is_set() {
        let cell = Cell::of(&Variant::Double(1.5)).share().unwrap();
        let reader = reader(&cell);
        assert_eq!(reader.get().unwrap().value, Some(Variant::Double(1.5)));
        cell.set_f64(2.5, StatusCode::Uncertain, DateTime(7))
            .unwrap();
        let (value, reading) = reader.read_scalar::<f64>().unwrap();
        assert_eq!((value, reading.status), (Some(2.5), StatusCode::Uncertain));
        assert_eq!(reading.source_timestamp, DateTime(7));
        assert_eq!(
            (reader.shape(), reader.capacity()),
            (cell.shape(), cell.capacity())
        );
    }

    #[test]
    fn a_dropped_cell_is_gone_and_its_memory_never_shows_the_next() {
        let value = Variant::from(vec![1_u32; 50]);
        let cell = Cell::of(&value).share().unwrap();
        let old = reader(&cell);
        let mut elements = [0_u32; 50];
        assert_eq!(old.read_slice(&mut elements).unwrap().0, Some(50));
        drop(cell);
        assert_eq!(old.read_slice(&mut elements), Err(CellError::Gone));
        let next = Cell::of(&value).share().unwrap();
        assert_eq!(old.get().unwrap_err(), CellError::Gone);
        assert_eq!(reader(&next).get().unwrap().value, Some(value));
    }

    #[test]
    fn locations_outside_are_refused() {
        let cell = Cell::of(&Variant::UInt32(1)).share().unwrap();
        let good = cell.location().unwrap();
        let segment = segment(good.segment).unwrap();
        let fd = segment.fd().try_clone_to_owned().unwrap();
        let view = Arc::new(SegmentView::open(&fd, usize::MAX).unwrap());
        let refused = |change: &dyn Fn(&mut CellLocation)| {
            let mut location = good;
            change(&mut location);
            CellReader::new(Arc::clone(&view), &location).is_none()
        };
        assert!(!refused(&|_| ()));
        assert!(refused(&|location| location.offset = u32::MAX - 7));
        assert!(refused(&|location| location.offset += 1));
        assert!(refused(&|location| location.slot_words = u32::MAX));
        assert!(refused(&|location| location.slot_words = 1));
        assert!(
            refused(&|location| (location.capacity, location.cached) = (33, true)),
            "no room for the server timestamp"
        );
        assert!(refused(&|location| location.capacity = u32::MAX));
        assert!(CellLocation::parse(&[0; 5]).is_none());
    }

    #[test]
    fn many_threads_share_the_store() {
        let (threads, rounds) = if cfg!(miri) { (2, 2) } else { (4, 200) };
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || {
                    for round in 0..rounds {
                        let value = Variant::UInt32(thread << 16 | round);
                        let cell = Cell::of(&value).share().unwrap();
                        assert_eq!(reader(&cell).get().unwrap().value, Some(value));
                    }
                });
            }
        });
    }
}
