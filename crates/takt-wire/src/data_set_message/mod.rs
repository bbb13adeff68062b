//! DataSetMessages (OPC 10000-14, 7.2.4.5).

mod content;
mod encode;
mod fields;
mod mend;
#[cfg(test)]
mod tests;
mod view;

use takt_ua::{DateTime, StatusCode};

pub use content::{Action, ActionFields, DataSetContent};
pub use fields::{DeltaField, DeltaFields, DeltaFieldsRef, Fields, FieldsRef};
pub use mend::{DamagedField, LostMessage, MendedDataSetMessage};
pub use view::{ActionFieldsRef, ActionRef, DataSetContentRef, DataSetMessageRef};

/// The values of one DataSet at one time, with the header fields of OPC 10000-14, 7.2.4.5.4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataSetMessage {
    /// DataSetWriterId of the message. In UADP it is in the PayloadHeader of the NetworkMessage, so that either all
    /// of its DataSetMessages have one, or none.
    pub data_set_writer_id: Option<u16>,
    /// Sequence number of the message, increased by 1 for each message of the DataSetWriter; in a keep-alive, the
    /// number of the next message.
    pub sequence_number: Option<u16>,
    /// Time at which the values were collected.
    pub timestamp: Option<DateTime>,
    /// Addition to the timestamp, in units of 10 ps, at most 9999.
    pub pico_seconds: Option<u16>,
    /// Quality of the whole DataSet. UADP carries the upper 16 bits.
    pub status: Option<StatusCode>,
    /// Major version of the metadata: a VersionTime, seconds since 2000-01-01.
    pub major_version: Option<u32>,
    /// Minor version of the metadata: a VersionTime.
    pub minor_version: Option<u32>,
    /// Size in bytes that the message is padded to; 0 for no padding. A larger message is sent as invalid
    /// (OPC 10000-14, 6.3.1.3.3).
    pub configured_size: u16,
    /// Type of the message, and its fields.
    pub content: DataSetContent,
}

impl DataSetMessage {
    /// Creates a message without header fields.
    pub fn new(content: DataSetContent) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }
}

/// Bits of DataSetFlags1 and DataSetFlags2, Table 162.
mod flags {
    pub(super) const VALID: u8 = 0x01;
    pub(super) const RAW_DATA: u8 = 0x02;
    pub(super) const DATA_VALUE: u8 = 0x04;
    pub(super) const FIELD_ENCODING: u8 = 0x06;
    pub(super) const SEQUENCE_NUMBER: u8 = 0x08;
    pub(super) const STATUS: u8 = 0x10;
    pub(super) const MAJOR_VERSION: u8 = 0x20;
    pub(super) const MINOR_VERSION: u8 = 0x40;
    pub(super) const FLAGS2: u8 = 0x80;

    pub(super) const MESSAGE_TYPE: u8 = 0x0F;
    pub(super) const TIMESTAMP: u8 = 0x10;
    pub(super) const PICO_SECONDS: u8 = 0x20;
    pub(super) const RESERVED2: u8 = 0xC0;

    pub(super) const KEY_FRAME: u8 = 0;
    pub(super) const DELTA_FRAME: u8 = 1;
    pub(super) const EVENT: u8 = 2;
    pub(super) const KEEP_ALIVE: u8 = 3;
    pub(super) const ACTION_REQUEST: u8 = 4;
    pub(super) const ACTION_RESPONSE: u8 = 5;
}

/// Texts of the rules of the standard.
mod rules {
    pub(super) const DELTA_RAW_DATA: &str =
        "a delta frame with RawData fields (OPC 10000-14, 7.2.4.5.11: key frames only)";
    pub(super) const DELTA_TWICE: &str =
        "a delta frame with one FieldIndex twice (OPC 10000-14, 7.2.4.5.6)";
    pub(super) const EVENT_ENCODING: &str =
        "an event with fields other than Variants (OPC 10000-14, 7.2.4.5.7)";
    pub(super) const ACTION_ENCODING: &str = "an Action with DataValue fields (OPC 10000-14, 7.2.4.5.9 and 7.2.4.5.10: Variant or RawData)";
    pub(super) const PICO_SECONDS: &str =
        "PicoSeconds without a Timestamp (OPC 10000-14, 7.2.4.5.4)";
}
