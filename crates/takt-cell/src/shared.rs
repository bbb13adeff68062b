//! Cells in memory that other processes read.
//!
//! A process has a store of [segments](takt_rt::segment), which only it can write; [`Cell::share`] moves a cell
//! there. Other processes get the segment and the cell's [`CellLocation`], and read it as a [`CellReader`] without
//! involving the process, which may sleep, be busy, or be stopped in a debugger.
//!
//! # Layout
//!
//! A cell begins at a cache line: `latest u64, tickets u64, identity u64, watched u64`, and four unused words. Its four slots
//! follow, each of whole cache lines: `sequence u64, length and StatusCode u64, source timestamp u64`, three unused
//! bytes, the encoded Variant. In a cell of [cached](crate::Publication::of_cache) values the last word of a slot is
//! the server timestamp. The module `slots` describes the meaning of the words. All of them have the machine's byte
//! order, except for the encoded Variant. A length of 2³² - 1 marks a withheld value, which does not fit.
//!
//! `watched` is 0, or the time of CLOCK_MONOTONIC until which the thread of the [deadline](Cell::deadline) has looked after the cell.
//! Afterwards the process stands still, or that thread does: nobody would mark an old value. So a reader marks it for itself.
//!
//! The memory of a dropped cell is reused for the next one of its size. So each cell has an identity that is never
//! reused: a reader of the old cell finds another identity and returns [`CellError::Gone`], never the value of the
//! new cell.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use takt_rt::clock::monotonic_nanos;
use takt_rt::segment::SegmentView;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DataValue, DateTime, StatusCode};

use crate::layout::{self, LINE_WORDS, MAX_CAPACITY};
use crate::place::ForeignPlace;
use crate::slots::SLOTS;
use crate::{Cell, CellError, CellLocation, Element, Reading, Scalar, Shape};

pub use crate::place::segment;

/// Reader of a cell of another process. Reading has no effect on that process.
#[derive(Debug)]
pub struct CellReader {
    cell: Cell,
    identity: u64,
}

impl CellReader {
    /// Creates the cell at `location` in the segment that `view` shows; `None` if the location is outside, or cannot
    /// be a cell.
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
            || slot_words < layout::slot_words(capacity, location.cached)
        {
            return None;
        }
        let place = ForeignPlace::new(view, start, length);
        Some(Self {
            cell: Cell::foreign(place, slot_words, capacity, location),
            identity: location.identity,
        })
    }

    /// Returns the result of a read if the memory still belongs to the same cell. `status` is where it has its status.
    #[inline]
    fn check<T>(
        &self,
        mut read: Result<T, CellError>,
        status: impl FnOnce(&mut T) -> &mut StatusCode,
    ) -> Result<T, CellError> {
        if self.is_unwatched()
            && let Ok(read) = &mut read
        {
            let status = status(read);
            *status = last_usable(*status);
        }
        // After the words of the value, before the identity, as within the cell.
        fence(Ordering::Acquire);
        let word = self.cell.identity_word();
        if word.is_some_and(|word| word.load(Ordering::Relaxed) == self.identity) {
            read
        } else {
            Err(CellError::Gone)
        }
    }

    /// Returns whether the cell has a deadline, and the thread that watches it stands still.
    #[inline]
    fn is_unwatched(&self) -> bool {
        // In the cache line of the published generation. Without a deadline, the clock is not read.
        let word = self.cell.watched_word();
        let until = word.map_or(0, |word| word.load(Ordering::Relaxed));
        until != 0 && monotonic_nanos() > until
    }

    /// Reads as [`Cell::get`].
    ///
    /// # Errors
    /// [`CellError::Gone`] in addition.
    pub fn get(&self) -> Result<DataValue, CellError> {
        self.check(self.cell.get(), |value| {
            value.status.get_or_insert(StatusCode::Good)
        })
    }

    /// Reads as [`Cell::reading`].
    ///
    /// # Errors
    /// [`CellError::Gone`] in addition.
    pub fn reading(&self) -> Result<Reading, CellError> {
        self.check(self.cell.reading(), |reading| &mut reading.status)
    }

    /// Reads as [`Cell::read_into`].
    ///
    /// # Errors
    /// [`CellError::Gone`] in addition.
    #[inline]
    pub fn read_into(&self, buffer: &mut [u8]) -> Result<Reading, CellError> {
        let read = self.cell.read_into(buffer);
        self.check(read, |reading| &mut reading.status)
    }

    /// Reads as [`Cell::read_scalar`].
    ///
    /// # Errors
    /// [`CellError::Gone`] in addition.
    #[inline]
    pub fn read_scalar<T: Scalar>(&self) -> Result<(Option<T>, Reading), CellError> {
        let read = self.cell.read_scalar();
        self.check(read, |(_, reading)| &mut reading.status)
    }

    /// Reads as [`Cell::read_slice`].
    ///
    /// # Errors
    /// [`CellError::Gone`] in addition.
    #[inline]
    pub fn read_slice<T: Element>(
        &self,
        elements: &mut [T],
    ) -> Result<(Option<usize>, Reading), CellError> {
        let read = self.cell.read_slice(elements);
        self.check(read, |(_, reading)| &mut reading.status)
    }

    /// Reads as [`Cell::encode_data_value`].
    ///
    /// # Errors
    /// [`CellError::Gone`] in addition; the appended bytes have to be discarded then.
    pub fn encode_data_value(
        &self,
        encoder: &mut Encoder<'_>,
        timestamps: TimestampsToReturn,
        server_timestamp: DateTime,
    ) -> Result<Reading, CellError> {
        let is_unwatched = self.is_unwatched();
        let timestamps = (timestamps, server_timestamp);
        let read =
            self.cell
                .encode_data_value_as(encoder, timestamps, |status| match is_unwatched {
                    true => last_usable(status),
                    false => status,
                });
        self.check(read, |reading| &mut reading.status)
    }

    /// Returns the shape of the values that the cell accepts.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.cell.shape()
    }

    /// Returns the largest size of an encoded value in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.cell.capacity()
    }
}

/// Returns the status of a value that may be an old one.
fn last_usable(status: StatusCode) -> StatusCode {
    if status.is_bad() {
        status
    } else {
        StatusCode::UncertainLastUsableValue
    }
}

impl Cell {
    /// Moves the cell with its value to memory that other processes can map.
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

    /// Creates a reader as another process does.
    pub(crate) fn reader_at(location: &CellLocation) -> CellReader {
        let location = CellLocation::parse(&location.to_bytes()).unwrap();
        let segment = segment(location.segment).unwrap();
        let fd = segment.fd().try_clone_to_owned().unwrap();
        let view = Arc::new(SegmentView::open(&fd, usize::MAX).unwrap());
        CellReader::new(view, &location).unwrap()
    }

    #[test]
    fn other_processes_read_the_value() {
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
