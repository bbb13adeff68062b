//! Layout of every message: a fixed header, then the body.
//!
//! ```text
//! offset  size  field          (all little-endian)
//!      0     4  magic          54 41 4B 54, "TAKT"
//!      4     2  version        1
//!      6     2  header length  bytes from the start of the message to its body: 32, later versions may add to it;
//!                              a multiple of 8
//!      8     4  request id     chosen by the client; a response repeats it
//!     12     4  flags          bit 0, in a request: the body is a NodeId, and the client wants to know where its current
//!                              value can be read; in a response and all others: 0, ignored by receivers
//!     16     4  body length    bytes
//!     20     4  status         in a response: 0, or the StatusCode why there is no body; in a request: 0
//!     24     8  timeout        in a request: how long the client waits, in nanoseconds, 0 for not at all;
//!                              in a response: 0
//!     32        body           TypeId and structure in the binary DataEncoding (OPC 10000-6, 5.2.2.15 and 6.7.2.5),
//!                              exactly as in the body of a MessageChunk over opc.tcp; Read, Write and Call in the
//!                              fixed layout of takt-layout, which begins with another byte than a TypeId
//! ```
//!
//! A message may be followed by unused bytes: memory is loaned before the length of the body is known.

use std::ops::Range;

use takt_ua::StatusCode;
use thiserror::Error;

/// First bytes of every message.
pub const MAGIC: [u8; 4] = *b"TAKT";
/// Version of the layout that this crate writes and reads.
pub const VERSION: u16 = 1;
/// Length of the header that this crate writes, in bytes.
pub const HEADER_LENGTH: usize = 32;

/// Default length of the longest body, in bytes: a value of 64 MiB, and 64 KiB for the data around it.
pub const MAX_MESSAGE: u32 = (64 << 20) + (64 << 10);

/// Flag of a request: the body is a NodeId (OPC 10000-6, 5.2.2.9). The response has the number of the segment that holds the
/// node's current value (UInt32), and its location there; or it is empty, if the value has to be requested.
pub const FLAG_LOCATE: u32 = 1;

/// Error in the bytes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// The bytes are fewer than those of a header.
    #[error("the message has {0} bytes, fewer than its header")]
    TooShort(usize),
    /// The bytes do not begin with [`MAGIC`].
    #[error("the message does not begin with \"TAKT\"")]
    Magic,
    /// The layout has another version.
    #[error("the message has version {0}; this is version {VERSION}")]
    Version(u16),
    /// The header length is below 32, not a multiple of 8, or beyond the end.
    #[error("the header length {0} is wrong")]
    HeaderLength(u16),
    /// The body would reach beyond the end of the message.
    #[error("the body of {length} bytes reaches beyond the message, which has {available}")]
    BodyLength {
        /// Length in the header, in bytes.
        length: u32,
        /// Number of available bytes.
        available: usize,
    },
    /// The body is longer than was agreed.
    #[error("the body of {length} bytes is longer than the limit of {limit}")]
    TooLarge {
        /// Length in the header, in bytes.
        length: u32,
        /// Agreed limit, in bytes.
        limit: u32,
    },
}

impl HeaderError {
    /// Returns the StatusCode for the peer.
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        match self {
            Self::Version(_) => StatusCode::BadProtocolVersionUnsupported,
            Self::TooLarge { .. } => StatusCode::BadRequestTooLarge,
            _ => StatusCode::BadDecodingError,
        }
    }
}

/// Header of a message; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageHeader {
    /// Request id, chosen by the client and repeated by the server.
    pub request_id: u32,
    /// Flags: [`FLAG_LOCATE`] or 0.
    pub flags: u32,
    /// Length of the body in bytes.
    pub body_length: u32,
    /// StatusCode of a response without a body.
    pub status: u32,
    /// Time that the client waits, in nanoseconds.
    pub timeout_nanos: u64,
}

impl MessageHeader {
    /// Returns the header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_LENGTH] {
        let mut bytes = [0; HEADER_LENGTH];
        let mut put = |at: usize, field: &[u8]| {
            if let Some(target) = bytes.get_mut(at..at + field.len()) {
                target.copy_from_slice(field);
            }
        };
        put(0, &MAGIC);
        put(4, &VERSION.to_le_bytes());
        put(6, &(HEADER_LENGTH as u16).to_le_bytes());
        put(8, &self.request_id.to_le_bytes());
        put(12, &self.flags.to_le_bytes());
        put(16, &self.body_length.to_le_bytes());
        put(20, &self.status.to_le_bytes());
        put(24, &self.timeout_nanos.to_le_bytes());
        bytes
    }

    /// Reads the header of a message and returns it with the place of the body in the message.
    ///
    /// The fields are copied out before they are checked, so that a peer that changes the memory meanwhile gains nothing.
    ///
    /// # Errors
    /// The message is invalid, or its body is longer than `limit` bytes.
    pub fn parse(message: &[u8], limit: u32) -> Result<(Self, Range<usize>), HeaderError> {
        match message.first_chunk::<HEADER_LENGTH>() {
            Some(bytes) => Self::parse_bytes(*bytes, message.len(), limit),
            None => Err(HeaderError::TooShort(message.len())),
        }
    }

    /// Reads the copied header of a message of `message_length` bytes.
    ///
    /// # Errors
    /// The errors are those of [`parse`](Self::parse).
    #[inline]
    pub fn parse_bytes(
        bytes: [u8; HEADER_LENGTH],
        message_length: usize,
        limit: u32,
    ) -> Result<(Self, Range<usize>), HeaderError> {
        if message_length < HEADER_LENGTH {
            return Err(HeaderError::TooShort(message_length));
        }
        let [m0, m1, m2, m3, v0, v1, l0, l1, rest @ ..] = bytes;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(HeaderError::Magic);
        }
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(HeaderError::Version(version));
        }
        let header_length = u16::from_le_bytes([l0, l1]);
        let start = usize::from(header_length);
        if start < HEADER_LENGTH || !start.is_multiple_of(8) || start > message_length {
            return Err(HeaderError::HeaderLength(header_length));
        }
        let word = |at: usize| {
            rest.get(at..)
                .and_then(|tail| tail.first_chunk::<4>())
                .map_or(0, |word| u32::from_le_bytes(*word))
        };
        let header = Self {
            request_id: word(0),
            flags: word(4),
            body_length: word(8),
            status: word(12),
            timeout_nanos: u64::from(word(16)) | u64::from(word(20)) << 32,
        };
        let length = header.body_length;
        if length > limit {
            return Err(HeaderError::TooLarge { length, limit });
        }
        let available = message_length - start;
        if length as usize > available {
            return Err(HeaderError::BodyLength { length, available });
        }
        Ok((header, start..start + length as usize))
    }

    /// Returns the request id of bytes that may be a message, so that they can be answered with an error.
    #[must_use]
    pub fn request_id_of(message: &[u8]) -> u32 {
        let id = message.get(8..).and_then(|tail| tail.first_chunk::<4>());
        id.map_or(0, |id| u32::from_le_bytes(*id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(header: MessageHeader, body: &[u8]) -> Vec<u8> {
        let mut message = header.to_bytes().to_vec();
        message.extend_from_slice(body);
        message
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        let header = MessageHeader {
            request_id: 0x0403_0201,
            flags: 1,
            body_length: 3,
            status: 0x800A_0000,
            timeout_nanos: 0x0102_0304_0506_0708,
        };
        let bytes = message(header, b"abc");
        assert_eq!(
            bytes,
            [
                0x54, 0x41, 0x4B, 0x54, 1, 0, 32, 0, 1, 2, 3, 4, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0,
                0x0A, 0x80, 8, 7, 6, 5, 4, 3, 2, 1, b'a', b'b', b'c'
            ]
        );
        assert_eq!(MessageHeader::parse(&bytes, 3).unwrap(), (header, 32..35));
        assert_eq!(MessageHeader::request_id_of(&bytes), 0x0403_0201);
    }

    #[test]
    fn unused_bytes_after_the_body_and_longer_headers_are_fine() {
        let header = MessageHeader {
            body_length: 2,
            ..MessageHeader::default()
        };
        let mut bytes = message(header, &[0; 100]);
        assert_eq!(MessageHeader::parse(&bytes, 2).unwrap().1, 32..34);
        bytes[6] = 40;
        assert_eq!(MessageHeader::parse(&bytes, 2).unwrap().1, 40..42);
    }

    #[test]
    fn hostile_headers_are_errors() {
        let good = message(
            MessageHeader {
                body_length: 4,
                ..MessageHeader::default()
            },
            &[0; 4],
        );
        let with = |at: usize, bytes: &[u8]| {
            let mut bad = good.clone();
            bad[at..at + bytes.len()].copy_from_slice(bytes);
            MessageHeader::parse(&bad, 1000).unwrap_err()
        };
        for length in 0..HEADER_LENGTH {
            assert_eq!(
                MessageHeader::parse(&good[..length], 4),
                Err(HeaderError::TooShort(length))
            );
        }
        assert_eq!(with(0, b"X"), HeaderError::Magic);
        assert_eq!(with(4, &[2, 0]), HeaderError::Version(2));
        for length in [0_u16, 31, 33, 48, u16::MAX] {
            assert_eq!(
                with(6, &length.to_le_bytes()),
                HeaderError::HeaderLength(length)
            );
        }
        assert_eq!(
            with(16, &5_u32.to_le_bytes()),
            HeaderError::BodyLength {
                length: 5,
                available: 4
            }
        );
        assert_eq!(
            with(16, &u32::MAX.to_le_bytes()),
            HeaderError::TooLarge {
                length: u32::MAX,
                limit: 1000
            }
        );
        assert_eq!(
            MessageHeader::parse(&good, 3).unwrap_err().status_code(),
            StatusCode::BadRequestTooLarge
        );
    }
}
