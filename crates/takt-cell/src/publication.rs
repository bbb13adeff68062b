//! Publication of values whose source is not a cell.

use std::io;

use takt_ua::{DataValue, DateTime, StatusCode};

use crate::layout::{MAX_CAPACITY, WITHHELD};
use crate::words::WordWriter;
use crate::{Cell, CellError, CellLocation, Reading, Shape};

/// A value from a source other than a cell, which other processes read as a [`CellReader`](crate::CellReader).
///
/// Its capacity in bytes is fixed when it is created. A value that does not fit is withheld: readers get
/// [`CellError::Withheld`] and have to ask the server. They never get an older value or a part of one. Before the
/// first set, the value is withheld too.
///
/// One thread sets at a time, without locks, system calls or allocation; any number read.
#[derive(Debug)]
pub struct Publication {
    cell: Cell,
}

impl Publication {
    /// Creates a publication for a source that publishes each of its values, so that the published value is always
    /// the current one.
    ///
    /// `capacity` is in bytes of a value encoded as a Variant (OPC 10000-6, 5.2.2.16): a number of 8 bytes takes 9.
    ///
    /// # Errors
    /// The system has no memory or descriptors left, or the cells of this process take 1 GiB.
    pub fn of_source(capacity: usize) -> io::Result<Self> {
        Self::new(capacity, false)
    }

    /// Creates a publication for a cache, whose values have a server timestamp: readers decide which age they accept.
    ///
    /// # Errors
    /// As for [`of_source`](Self::of_source).
    pub fn of_cache(capacity: usize) -> io::Result<Self> {
        Self::new(capacity, true)
    }

    fn new(capacity: usize, cached: bool) -> io::Result<Self> {
        let capacity = capacity.min(MAX_CAPACITY);
        let publication = Self {
            cell: Cell::in_shared_memory(capacity, Shape::ANY, cached)?,
        };
        publication.withhold();
        publication.cell.publish();
        Ok(publication)
    }

    /// Publishes a value, given as an encoded Variant that the caller has checked; an empty one, or the null Variant,
    /// is a status without a value. The server timestamp is used only for a publication [of a cache](Self::of_cache).
    pub fn set(
        &self,
        encoded: &[u8],
        status: StatusCode,
        source_timestamp: DateTime,
        server_timestamp: DateTime,
    ) {
        if encoded.len() > self.cell.capacity {
            return self.withhold();
        }
        // The null Variant is stored as a value of no bytes, as in all cells.
        let encoded = encoded.strip_prefix(&[0]).unwrap_or(encoded);
        self.store(encoded.len(), status, source_timestamp, |words| {
            let mut writer = WordWriter::new(words);
            writer.put(encoded);
            writer.finish();
            if let Some(last) = words.last().filter(|_| self.cell.cached) {
                let server_timestamp = server_timestamp.0.cast_unsigned();
                last.store(server_timestamp, crate::sync::Ordering::Relaxed);
            }
        });
    }

    /// Withholds the value: readers have to ask the server.
    pub fn withhold(&self) {
        self.store(WITHHELD, StatusCode::Good, DateTime::MIN, |_| ());
    }

    fn store(
        &self,
        length: usize,
        status: StatusCode,
        source_timestamp: DateTime,
        write: impl FnOnce(&[crate::sync::AtomicU64]),
    ) {
        // It could only be busy with more than three sets at once, and the caller makes one set at a time.
        let _ = self
            .cell
            .store_with(length, status, source_timestamp, write);
    }

    /// Returns the location for other processes.
    #[must_use]
    pub fn location(&self) -> Option<CellLocation> {
        self.cell.location()
    }

    /// Reads as [`Cell::get`] does.
    ///
    /// # Errors
    /// [`CellError::Withheld`] in addition.
    pub fn get(&self) -> Result<DataValue, CellError> {
        self.cell.get()
    }

    /// Reads as [`Cell::reading`] does.
    ///
    /// # Errors
    /// [`CellError::Withheld`] in addition.
    pub fn reading(&self) -> Result<Reading, CellError> {
        self.cell.reading()
    }

    /// Returns the cell with the value, for reading; its methods return [`CellError::Withheld`] in addition.
    #[must_use]
    pub fn as_cell(&self) -> &Cell {
        &self.cell
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use takt_ua::binary::Encoder;
    use takt_ua::enumerations::TimestampsToReturn;

    use takt_ua::Variant;
    use takt_ua::binary::Encode;

    use super::*;
    use crate::shared::tests::reader_at as reader;

    const GOOD: StatusCode = StatusCode::Good;
    const SOURCE: DateTime = DateTime(100);
    const SERVER: DateTime = DateTime(10_000_000);

    fn set(publication: &Publication, value: impl Into<Variant>) {
        publication.set(&value.into().encode_to_vec(), GOOD, SOURCE, SERVER);
    }

    #[test]
    fn values_of_a_source_are_of_now() {
        let publication = Publication::of_source(16).unwrap();
        let location = publication.location().unwrap();
        let reader = reader(&location);
        assert!(!location.is_cached());
        assert_eq!(reader.get().unwrap_err(), CellError::Withheld);
        set(&publication, 2.5_f64);
        let (value, reading) = reader.read_scalar::<f64>().unwrap();
        assert_eq!((value, reading.source_timestamp), (Some(2.5), SOURCE));
        assert_eq!(reading.server_timestamp, None);
        assert!(reading.satisfies(Duration::ZERO, DateTime(i64::MAX)));
        // A value of another type, and no value.
        set(&publication, "text");
        assert_eq!(reader.get().unwrap().value, Some("text".into()));
        set(&publication, Variant::Empty);
        assert_eq!(reader.get().unwrap().value, None);
        publication.set(&[], StatusCode::BadNoData, SOURCE, SERVER);
        assert_eq!(reader.get().unwrap().status, Some(StatusCode::BadNoData));
    }

    #[test]
    fn values_of_a_cache_have_their_age_with_them() {
        let publication = Publication::of_cache(5).unwrap();
        let location = publication.location().unwrap();
        let reader = reader(&location);
        assert!(location.is_cached());
        assert_eq!(reader.reading().unwrap_err(), CellError::Withheld);
        set(&publication, 7_u32);
        let value = reader.get().unwrap();
        assert_eq!(value.value, Some(Variant::UInt32(7)));
        assert_eq!(value.server_timestamp, Some(SERVER));

        let mut bytes = [0; 64];
        let mut encoder = Encoder::fixed(&mut bytes);
        for timestamps in [TimestampsToReturn::Server, TimestampsToReturn::Neither] {
            encoder.truncate(0);
            publication
                .as_cell()
                .encode_data_value(&mut encoder, timestamps, DateTime(99))
                .unwrap();
            let mut decoder = takt_ua::binary::Decoder::new(encoder.written());
            let encoded: DataValue = takt_ua::binary::Decode::decode(&mut decoder).unwrap();
            let wanted = (timestamps == TimestampsToReturn::Server).then_some(SERVER);
            assert_eq!(encoded.server_timestamp, wanted);
        }
    }

    #[test]
    fn max_age_is_counted_from_the_server_timestamp() {
        let publication = Publication::of_cache(5).unwrap();
        set(&publication, 7_u32);
        let reading = publication.reading().unwrap();
        let satisfies = |max_age: Duration, after_100_ns: i64| {
            reading.satisfies(max_age, DateTime(SERVER.0 + after_100_ns))
        };
        let millisecond = Duration::from_millis(1);
        assert!(satisfies(millisecond, 0) && satisfies(millisecond, 10_000));
        assert!(!satisfies(millisecond, 10_001));
        assert!(!satisfies(millisecond, -1), "the clock was set back");
        assert!(!satisfies(Duration::ZERO, 0), "a new value is wanted");
        assert!(!satisfies(Reading::ANY_AGE - millisecond, 1 << 50));
        assert!(satisfies(Reading::ANY_AGE, 1 << 50) && satisfies(Duration::MAX, -1));
    }

    #[test]
    fn too_large_values_are_withheld() {
        for publication in [Publication::of_source(8), Publication::of_cache(8)] {
            let publication = publication.unwrap();
            let reader = reader(&publication.location().unwrap());
            set(&publication, "abc");
            assert_eq!(reader.get().unwrap().value, Some("abc".into()));
            set(&publication, "abcd");
            assert_eq!(reader.get().unwrap_err(), CellError::Withheld);
            assert_eq!(reader.read_scalar::<u8>(), Err(CellError::Withheld));
            assert_eq!(reader.read_into(&mut [0; 8]), Err(CellError::Withheld));
            set(&publication, "xyz");
            assert_eq!(reader.get().unwrap().value, Some("xyz".into()));
            publication.withhold();
            assert_eq!(reader.get().unwrap_err(), CellError::Withheld);
        }
    }

    #[test]
    fn every_capacity_has_room_for_its_values_and_their_time() {
        for capacity in (5..200).step_by(if cfg!(miri) { 41 } else { 1 }) {
            let publication = Publication::of_cache(capacity).unwrap();
            let reader = reader(&publication.location().unwrap());
            let text = "x".repeat(capacity - 5);
            set(&publication, text.as_str());
            let value = reader.get().unwrap();
            assert_eq!(value.value, Some(text.as_str().into()));
            assert_eq!(value.server_timestamp, Some(SERVER));
        }
    }

    #[test]
    fn a_dropped_publication_is_gone() {
        let publication = Publication::of_cache(8).unwrap();
        let reader = reader(&publication.location().unwrap());
        set(&publication, 1_u8);
        drop(publication);
        assert_eq!(reader.get().unwrap_err(), CellError::Gone);
    }
}
