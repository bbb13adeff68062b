//! The head of a message.

use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DateTime, NodeIdRef};

/// First byte of every message.
pub const MARK: u8 = b'L';
/// Version of the layout that this crate writes and reads.
pub const VERSION: u8 = 1;
/// Number of bytes before the records.
pub const HEAD_LENGTH: usize = 48;

// Offsets of the fields of the head.
pub(crate) const COUNT: usize = 4;
pub(crate) const REQUEST_HANDLE: usize = 8;
pub(crate) const TIMEOUT_HINT: usize = 12;
pub(crate) const TIMESTAMP: usize = 16;
pub(crate) const TOKEN: usize = 24;
pub(crate) const MAX_AGE: usize = 32;
pub(crate) const TIMESTAMPS: usize = 40;

/// Size of a DataValue in bytes.
pub(crate) const DATA_VALUE: usize = 40;
/// Offset of the DataValue in the record of a Write.
pub(crate) const WRITTEN: usize = 24;

/// Returns whether a message begins with the mark of this layout.
#[must_use]
#[inline]
pub fn is_layout(message: &[u8]) -> bool {
    message.first() == Some(&MARK)
}

/// The services that have a fixed layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// The Read service (OPC 10000-4, 5.11.2).
    Read,
    /// The Write service (OPC 10000-4, 5.11.4).
    Write,
    /// The Call service (OPC 10000-4, 5.12.2).
    Call,
}

impl Service {
    pub(crate) const fn request_kind(self) -> u16 {
        match self {
            Self::Read => 1,
            Self::Write => 3,
            Self::Call => 5,
        }
    }

    pub(crate) const fn response_kind(self) -> u16 {
        self.request_kind() + 1
    }

    pub(crate) const fn of_request(kind: u16) -> Option<Self> {
        match kind {
            1 => Some(Self::Read),
            3 => Some(Self::Write),
            5 => Some(Self::Call),
            _ => None,
        }
    }

    /// Returns the number of bytes of a record of the request.
    pub(crate) const fn request_record(self) -> usize {
        match self {
            Self::Read => 32,
            Self::Write => WRITTEN + DATA_VALUE,
            Self::Call => 24,
        }
    }

    /// Returns the number of bytes of a record of the response.
    pub(crate) const fn response_record(self) -> usize {
        match self {
            Self::Read => DATA_VALUE,
            Self::Write => 4,
            Self::Call => 24,
        }
    }
}

/// Contents of a request apart from its items: the RequestHeader (OPC 10000-4, 7.33) and the parameters of the
/// service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestHead<'a> {
    /// AuthenticationToken of the Session.
    pub authentication_token: NodeIdRef<'a>,
    /// Time at which the client sent the request.
    pub timestamp: DateTime,
    /// Handle chosen by the client and repeated in the response.
    pub request_handle: u32,
    /// Time that the client waits, in milliseconds; 0 for no limit.
    pub timeout_hint: u32,
    /// Largest age of the values of a Read, in milliseconds; not checked.
    pub max_age: f64,
    /// Timestamps that a Read requests; not checked.
    pub timestamps_to_return: TimestampsToReturn,
}

/// Returns the bytes at a fixed offset.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    // Callers read within records that they have checked: the 0 is never used.
    array(bytes, at).map_or(0, u16::from_le_bytes)
}

#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    array(bytes, at).map_or(0, u32::from_le_bytes)
}

#[inline]
pub(crate) fn i64_at(bytes: &[u8], at: usize) -> i64 {
    array(bytes, at).map_or(0, i64::from_le_bytes)
}
