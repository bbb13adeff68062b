//! Encoding of Events for a store.
//!
//! A record is a version, the NodeIds of EventType, source and Condition, and the fields with their BrowsePaths, all in the binary
//! encoding of OPC 10000-6, 5.2.

use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use takt_ua::{NodeId, QualifiedName, Variant};

use crate::event::Event;

/// Version of the encoding.
const VERSION: u8 = 1;

/// Largest number of fields of a record.
const MAX_FIELDS: usize = 1024;

/// Largest number of names in the path of a field.
const MAX_PATH: usize = 32;

/// Error of a record of an Event that cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventRecordError {
    /// The record has another version.
    #[error("the version {0} of a record of an Event is not known")]
    Version(u8),
    /// The record has too many fields, or too long paths.
    #[error("a record of an Event has too many fields")]
    TooLarge,
    /// Bytes follow the record.
    #[error("bytes follow a record of an Event")]
    Rest,
    /// The bytes are no record.
    #[error(transparent)]
    Encoding(#[from] DecodeError),
}

impl Event {
    /// Encodes the Event for a store, in at most `max_size` bytes; `None`: it is larger, or has too many fields. Its audience is not
    /// part of the record.
    #[must_use]
    pub fn to_record(&self, max_size: usize) -> Option<Vec<u8>> {
        let has_long_path = || {
            self.fields()
                .iter()
                .any(|field| field.path.len() > MAX_PATH)
        };
        if self.fields().len() > MAX_FIELDS || has_long_path() {
            return None;
        }
        let mut record = Vec::new();
        let mut encoder = Encoder::growing(&mut record, max_size);
        self.encode_record(&mut encoder).ok()?;
        Some(record)
    }

    fn encode_record(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // The decoder expects the same order and the same fields: a change of them needs another VERSION.
        VERSION.encode(encoder)?;
        self.event_type().encode(encoder)?;
        self.source().encode(encoder)?;
        self.condition().encode(encoder)?;
        encoder.array_length(Some(self.fields().len()))?;
        for field in self.fields() {
            encoder.array_length(Some(field.path.len()))?;
            for name in &field.path {
                name.encode(encoder)?;
            }
            field.value.encode(encoder)?;
        }
        Ok(())
    }

    /// Decodes an Event from a store.
    ///
    /// # Errors
    /// The bytes are no record of an Event.
    pub fn of_record(record: &[u8]) -> Result<Self, EventRecordError> {
        let mut decoder = Decoder::new(record);
        let version = u8::decode(&mut decoder)?;
        if version != VERSION {
            return Err(EventRecordError::Version(version));
        }
        let event_type = NodeId::decode(&mut decoder)?;
        let source = NodeId::decode(&mut decoder)?;
        let condition = NodeId::decode(&mut decoder)?;
        // Without the fields that a new Event gets: the record has all of them.
        let mut event = Self::bare(event_type, source).of_condition(condition);
        // A field is at least the number of its names and a Variant.
        let count = decoder.array_length(4 + Variant::MIN_SIZE)?.unwrap_or(0);
        if count > MAX_FIELDS {
            return Err(EventRecordError::TooLarge);
        }
        for _ in 0..count {
            let names = decoder.array_length(QualifiedName::MIN_SIZE)?.unwrap_or(0);
            if names > MAX_PATH {
                return Err(EventRecordError::TooLarge);
            }
            let mut path = Vec::with_capacity(names);
            for _ in 0..names {
                path.push(QualifiedName::decode(&mut decoder)?);
            }
            event.set(path, Variant::decode(&mut decoder)?);
        }
        match decoder.remaining() == 0 {
            true => Ok(event),
            false => Err(EventRecordError::Rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::{DateTime, LocalizedText, ids};

    use super::*;

    fn event() -> Event {
        Event::new(
            ids::EXCLUSIVE_LIMIT_ALARM_TYPE,
            NodeId::string(1, "Spindle"),
        )
        .severity(700)
        .time(DateTime(1234))
        .message(LocalizedText::from("hot"))
        .subfield("AckedState", "Id", false)
        .of_condition(NodeId::numeric(1, 7))
    }

    #[test]
    fn a_record_has_the_whole_event() {
        let record = event().to_record(1 << 16).unwrap();
        assert_eq!(Event::of_record(&record), Ok(event()));
        assert_eq!(event().to_record(record.len() - 1), None, "too large");
    }

    #[test]
    fn damaged_records_are_errors_or_other_events() {
        let record = event().to_record(1 << 16).unwrap();
        for length in 0..record.len() {
            let cut = record.get(..length).unwrap();
            assert!(Event::of_record(cut).is_err(), "{length} bytes");
        }
        let mut longer = record.clone();
        longer.push(0);
        assert_eq!(Event::of_record(&longer), Err(EventRecordError::Rest));
        for at in 0..record.len() {
            for bit in 0..8 {
                let mut damaged = record.clone();
                *damaged.get_mut(at).unwrap() ^= 1 << bit;
                // What can be decoded can be encoded and decoded again. A NaN is not equal to itself, a record of it is.
                if let Ok(event) = Event::of_record(&damaged) {
                    let again = event.to_record(1 << 20).unwrap();
                    let decoded = Event::of_record(&again).unwrap();
                    assert_eq!(decoded.to_record(1 << 20), Some(again));
                }
            }
        }
    }

    #[test]
    fn large_events_have_no_record() {
        let long = vec![QualifiedName::new(0, "a"); MAX_PATH + 1];
        assert_eq!(event().field_at(long, true).to_record(1 << 16), None);
        let many = (0..=MAX_FIELDS).fold(event(), |event, at| event.field(&at.to_string(), true));
        assert_eq!(many.to_record(1 << 20), None);
    }
}
