//! Records of one Variable.

use takt_ua::{DateTime, StatusCode};

/// A value of a Variable at a time.
///
/// The value is any Variant: that of a Variable, or later the array of the fields of an Event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HistoryRecord {
    /// Time at which the source set the value: the key of the record. A Variable has one record at a time.
    pub source_timestamp: DateTime,
    /// Time at which the server received the value.
    pub server_timestamp: DateTime,
    /// Quality of the value.
    pub status: StatusCode,
    /// Binary encoding of the value as a Variant (OPC 10000-6, 5.2.2.16); empty: no value.
    pub value: Vec<u8>,
}

/// A borrowed [`HistoryRecord`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryRecordRef<'a> {
    /// Time at which the source set the value.
    pub source_timestamp: DateTime,
    /// Time at which the server received the value.
    pub server_timestamp: DateTime,
    /// Quality of the value.
    pub status: StatusCode,
    /// Binary encoding of the value as a Variant; empty: no value.
    pub value: &'a [u8],
}

impl HistoryRecord {
    /// Returns the same, borrowed.
    #[must_use]
    pub fn as_ref(&self) -> HistoryRecordRef<'_> {
        HistoryRecordRef {
            source_timestamp: self.source_timestamp,
            server_timestamp: self.server_timestamp,
            status: self.status,
            value: &self.value,
        }
    }
}

impl HistoryRecordRef<'_> {
    /// Returns the same, owned.
    #[must_use]
    pub fn to_owned(&self) -> HistoryRecord {
        HistoryRecord {
            source_timestamp: self.source_timestamp,
            server_timestamp: self.server_timestamp,
            status: self.status,
            value: self.value.to_vec(),
        }
    }
}
