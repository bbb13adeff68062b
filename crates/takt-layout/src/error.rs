//! What can be wrong with a message.

use takt_ua::StatusCode;
use takt_ua::binary::DecodeError;
use thiserror::Error;

/// Why bytes are not a message of this layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// They do not begin with the mark, or end within the head.
    #[error("the message does not begin with a head")]
    Head,
    /// Another version of the layout.
    #[error("the message has the layout {0}; this is layout {version}", version = crate::VERSION)]
    Version(u8),
    /// Not the kind of message that is expected here.
    #[error("no such kind of message here: {0}")]
    Kind(u16),
    /// The records reach beyond the end.
    #[error("{count} records reach beyond the message")]
    Records {
        /// How many the head says.
        count: u32,
    },
    /// A count or a length is above the limit that is named.
    #[error("the limit for {0} is exceeded")]
    Limit(&'static str),
    /// There is no record with this number.
    #[error("there is no record {0}")]
    NoRecord(usize),
    /// A span reaches beyond the end, or, in a request, into what comes before.
    #[error("{length} bytes at {offset} are not where they can be")]
    Span {
        /// Where it begins, in bytes from the start of the message.
        offset: u32,
        /// How long it is, in bytes.
        length: u32,
    },
    /// What a span points to is not what it should be.
    #[error("at byte {offset}: {error}")]
    Decode {
        /// Where the span begins.
        offset: u32,
        /// What is wrong with it, and where within the span.
        error: DecodeError,
    },
    /// What a span points to is longer than what is in it.
    #[error("{length} bytes at {offset} are more than what is in them")]
    Trailing {
        /// Where the span begins.
        offset: u32,
        /// How long it is.
        length: u32,
    },
}

impl LayoutError {
    /// What the peer is told.
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
