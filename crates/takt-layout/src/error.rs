//! Errors of messages.

use takt_ua::StatusCode;
use takt_ua::binary::DecodeError;
use thiserror::Error;

/// Error of bytes that are not a message of this layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// The bytes do not begin with the mark, or end within the head.
    #[error("the message does not begin with a head")]
    Head,
    /// The message has another version of the layout.
    #[error("the message has the layout {0}; this is layout {version}", version = crate::VERSION)]
    Version(u8),
    /// The message is of another kind than expected.
    #[error("messages of kind {0} are not expected here")]
    Kind(u16),
    /// The records exceed the message.
    #[error("{count} records exceed the message")]
    Records {
        /// Number of records in the head.
        count: u32,
    },
    /// A count or a length is above the named limit.
    #[error("the limit for {0} is exceeded")]
    Limit(&'static str),
    /// There is no record with this number.
    #[error("there is no record {0}")]
    NoRecord(usize),
    /// A span exceeds the message, or overlaps the previous one in a request.
    #[error("the span of {length} bytes at {offset} is not allowed there")]
    Span {
        /// Start of the span, in bytes from the start of the message.
        offset: u32,
        /// Length of the span in bytes.
        length: u32,
    },
    /// The contents of a span cannot be decoded.
    #[error("at byte {offset}: {error}")]
    Decode {
        /// Start of the span, in bytes from the start of the message.
        offset: u32,
        /// Decoding error, with its position within the span.
        error: DecodeError,
    },
    /// A span is longer than its contents.
    #[error("the span of {length} bytes at {offset} is longer than its contents")]
    Trailing {
        /// Start of the span, in bytes from the start of the message.
        offset: u32,
        /// Length of the span in bytes.
        length: u32,
    },
}

impl LayoutError {
    /// Returns the StatusCode for the peer.
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        match self {
            Self::Version(_) => StatusCode::BadProtocolVersionUnsupported,
            Self::Limit(_) => StatusCode::BadEncodingLimitsExceeded,
            Self::Decode { error, .. } => error.status_code(),
            _ => StatusCode::BadDecodingError,
        }
    }
}
