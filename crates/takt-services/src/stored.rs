//! A value that the server keeps: a cell that is replaced by a larger one when a value does not fit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use takt_cell::{Cell, CellError};
use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DataValue, DateTime, StatusCode, Variant};

use crate::value::or_null;

/// Encoded values up to this size, in bytes, are kept in a cell, which has room for several versions of its value.
/// Setting a larger one allocates memory for it, which is little beside copying it.
const MAX_CELL: usize = 64 << 10;

/// A stored value with its StatusCode and source timestamp. Reading takes no lock.
pub struct StoredValue {
    content: ArcSwap<Content>,
    /// Held while a value is set: what is read, changed and set again must not undo somebody else's change.
    setting: Mutex<()>,
}

enum Content {
    Cell(Cell),
    Large(Large),
}

struct Large {
    encoded: Box<[u8]>,
    status: StatusCode,
    time: DateTime,
}

impl StoredValue {
    /// A Good value, as of now.
    pub fn new(value: &Variant) -> Self {
        Self::with_status(value, StatusCode::Good)
    }

    /// A value with a StatusCode, as of now.
    pub fn with_status(value: &Variant, status: StatusCode) -> Self {
        let encoded = value.encode_to_vec();
        Self {
            content: ArcSwap::from_pointee(Content::new(&encoded, status, DateTime::now())),
            setting: Mutex::new(()),
        }
    }

    /// The value.
    ///
    /// # Errors
    /// `BadResourceUnavailable` if it is being set so often that no moment was found to read it.
    pub fn get(&self) -> Result<DataValue, StatusCode> {
        match &**self.content.load() {
            Content::Cell(cell) => cell.get().map_err(|error| error.status_code()),
            Content::Large(large) => Ok(DataValue {
                value: if large.status.is_bad() {
                    None
                } else {
                    Some(decode(&large.encoded)?)
                },
                status: Some(large.status),
                source_timestamp: Some(large.time),
                ..DataValue::default()
            }),
        }
    }

    /// Sets a Good value, as of now.
    ///
    /// # Errors
    /// `BadResourceUnavailable` if it is being set by too many threads at once.
    pub fn set(&self, value: impl Into<Variant>) -> Result<(), StatusCode> {
        self.set_encoded(
            &value.into().encode_to_vec(),
            StatusCode::Good,
            DateTime::now(),
        )
    }

    /// Sets value, StatusCode and source timestamp. Missing ones are Good and now.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn set_data_value(&self, value: &DataValue) -> Result<(), StatusCode> {
        let encoded = value
            .value
            .as_ref()
            .unwrap_or(&Variant::Empty)
            .encode_to_vec();
        let time = value.source_timestamp.unwrap_or_else(DateTime::now);
        self.set_encoded(&encoded, value.status_code(), time)
    }

    /// Sets an encoded Variant (OPC 10000-6, 5.2.2.16), which the caller has checked. Allocates only if it needs more
    /// room than all values before.
    pub(crate) fn set_encoded(
        &self,
        encoded: &[u8],
        status: StatusCode,
        time: DateTime,
    ) -> Result<(), StatusCode> {
        let setting = self.setting();
        self.replace(&setting, encoded, status, time)
    }

    /// Changes the value depending on what it is.
    pub(crate) fn update(
        &self,
        change: impl FnOnce(DataValue) -> Result<(Variant, StatusCode, DateTime), StatusCode>,
    ) -> Result<(), StatusCode> {
        let setting = self.setting();
        let (value, status, time) = change(self.get()?)?;
        self.replace(&setting, &value.encode_to_vec(), status, time)
    }

    /// Keeps value and source timestamp, and changes the StatusCode.
    pub(crate) fn set_status(&self, status: StatusCode) -> Result<(), StatusCode> {
        let setting = self.setting();
        let content = self.content.load();
        let (encoded, time) = match &**content {
            Content::Large(large) => (large.encoded.to_vec(), large.time),
            Content::Cell(cell) => {
                let mut encoded = vec![0; cell.capacity()];
                let reading = cell
                    .read_into(&mut encoded)
                    .map_err(|error| error.status_code())?;
                encoded.truncate(reading.length);
                (encoded, reading.source_timestamp)
            }
        };
        self.replace(&setting, or_null(&encoded), status, time)
    }

    fn setting(&self) -> MutexGuard<'_, ()> {
        self.setting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn replace(
        &self,
        _: &MutexGuard<'_, ()>,
        encoded: &[u8],
        status: StatusCode,
        time: DateTime,
    ) -> Result<(), StatusCode> {
        if let Content::Cell(cell) = &**self.content.load() {
            match cell.set_encoded(encoded, status, time) {
                Ok(()) => return Ok(()),
                Err(CellError::TooLarge { .. } | CellError::WrongType { .. }) => {}
                Err(error) => return Err(error.status_code()),
            }
        }
        self.content
            .store(Arc::new(Content::new(encoded, status, time)));
        Ok(())
    }

    /// Appends the DataValue as a client wants it.
    pub(crate) fn encode_data_value(
        &self,
        response: &mut Encoder<'_>,
        timestamps: TimestampsToReturn,
        now: DateTime,
    ) -> Result<(), CellError> {
        match &**self.content.load() {
            Content::Cell(cell) => cell
                .encode_data_value(response, timestamps, now)
                .map(|_| ()),
            Content::Large(large) => Ok(large.encode(response, timestamps, now)?),
        }
    }
}

impl std::fmt::Debug for StoredValue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("StoredValue")
            .field(&self.get())
            .finish()
    }
}

impl Content {
    fn new(encoded: &[u8], status: StatusCode, time: DateTime) -> Self {
        let large = || {
            Self::Large(Large {
                encoded: encoded.into(),
                status,
                time,
            })
        };
        if encoded.len() > MAX_CELL {
            return large();
        }
        // A little more than needed, so that a text that grows does not need a new cell each time.
        let cell = Cell::new(encoded.len().next_power_of_two().max(16));
        match cell.set_encoded(encoded, status, time) {
            Ok(()) => Self::Cell(cell),
            Err(_) => large(),
        }
    }
}

impl Large {
    /// A DataValue (OPC 10000-6, 5.2.2.17) around the encoded Variant.
    fn encode(
        &self,
        response: &mut Encoder<'_>,
        timestamps: TimestampsToReturn,
        now: DateTime,
    ) -> Result<(), EncodeError> {
        let source = matches!(
            timestamps,
            TimestampsToReturn::Source | TimestampsToReturn::Both
        );
        let server = matches!(
            timestamps,
            TimestampsToReturn::Server | TimestampsToReturn::Both
        );
        let has_status = self.status != StatusCode::Good;
        // With a Bad status there is no value (OPC 10000-4, 7.11).
        let has_value = !self.status.is_bad();
        let mask = u8::from(has_value)
            | u8::from(has_status) << 1
            | u8::from(source) << 2
            | u8::from(server) << 3;
        response.u8(mask)?;
        if has_value {
            response.bytes(&self.encoded)?;
        }
        if has_status {
            self.status.encode(response)?;
        }
        if source {
            self.time.encode(response)?;
        }
        if server { now.encode(response) } else { Ok(()) }
    }
}

fn decode(encoded: &[u8]) -> Result<Variant, StatusCode> {
    Variant::decode(&mut Decoder::new(encoded)).map_err(|error| error.status_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(stored: &StoredValue) -> Variant {
        stored.get().unwrap().value.unwrap()
    }

    #[test]
    fn it_grows_with_what_is_set() {
        let stored = StoredValue::new(&Variant::from("a"));
        for length in [0, 1, 100, 5_000, MAX_CELL + 1, 3, 200_000] {
            let text = "x".repeat(length);
            stored.set(text.as_str()).unwrap();
            assert_eq!(value(&stored), Variant::from(text.as_str()));
        }
    }

    #[test]
    fn status_and_time_are_kept_with_it() {
        let stored = StoredValue::new(&Variant::from(1_u32));
        let time = DateTime(123_456_789);
        let uncertain = DataValue::good(2_u32)
            .with_status(StatusCode::UncertainInitialValue)
            .with_source_timestamp(time);
        stored.set_data_value(&uncertain).unwrap();
        stored.set_status(StatusCode::BadNoCommunication).unwrap();
        let read = stored.get().unwrap();
        assert_eq!(read.value, None, "a Bad value is not shown");
        assert_eq!(read.status, Some(StatusCode::BadNoCommunication));
        stored
            .set_status(StatusCode::UncertainLastUsableValue)
            .unwrap();
        let read = stored.get().unwrap();
        assert_eq!(
            read.value,
            Some(Variant::from(2_u32)),
            "and not forgotten either"
        );
        assert_eq!(read.source_timestamp, Some(time));
    }

    #[test]
    fn large_values_are_encoded_like_small_ones() {
        let numbers: Vec<u32> = (0..20_000).collect();
        let stored = StoredValue::new(&Variant::from(numbers.clone()));
        let mut bytes = Vec::new();
        let mut encoder = Encoder::growing(&mut bytes, 1 << 20);
        stored
            .encode_data_value(&mut encoder, TimestampsToReturn::Both, DateTime(7))
            .unwrap();
        let read = DataValue::decode(&mut Decoder::new(&bytes)).unwrap();
        assert_eq!(read.value, Some(Variant::from(numbers)));
        assert_eq!(read.server_timestamp, Some(DateTime(7)));
        assert!(read.source_timestamp.is_some());
    }
}
