//! What can go wrong while encoding or decoding.

use crate::StatusCode;

/// Why a value could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// The bytes end before the value does.
    UnexpectedEnd,
    /// A string is not valid UTF-8 (OPC 10000-6, 5.2.2.4).
    InvalidUtf8,
    /// A length or count is above the limit that is named.
    LimitExceeded(&'static str),
    /// An encoding byte or mask has a value that the standard does not define.
    InvalidEncodingByte(u8),
    /// Values are nested deeper than [`Limits::max_depth`](crate::binary::Limits::max_depth).
    DepthExceeded,
    /// A length is negative, but not -1 (which says null).
    NegativeLength,
    /// A value breaks the rule that is named.
    InvalidValue(&'static str),
}

/// Why and where decoding failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeError {
    /// Offset in bytes, from the start of the decoder's input, at which the problem was seen.
    pub offset: usize,
    /// What the problem is.
    pub kind: DecodeErrorKind,
}

impl DecodeError {
    /// Names a problem at an offset.
    #[cold]
    pub fn new(offset: usize, kind: DecodeErrorKind) -> Self {
        Self { offset, kind }
    }

    /// What a peer is told: `BadEncodingLimitsExceeded` when a limit was hit, else `BadDecodingError`.
    pub fn status_code(&self) -> StatusCode {
        match self.kind {
            DecodeErrorKind::LimitExceeded(_) | DecodeErrorKind::DepthExceeded => {
                StatusCode::BadEncodingLimitsExceeded
            }
            _ => StatusCode::BadDecodingError,
        }
    }
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            DecodeErrorKind::UnexpectedEnd => f.write_str("the data ends too early")?,
            DecodeErrorKind::InvalidUtf8 => f.write_str("a string is not valid UTF-8")?,
            DecodeErrorKind::LimitExceeded(what) => write!(f, "the limit for {what} is exceeded")?,
            DecodeErrorKind::InvalidEncodingByte(byte) => {
                write!(f, "the encoding byte 0x{byte:02X} is not defined here")?;
            }
            DecodeErrorKind::DepthExceeded => f.write_str("values are nested too deeply")?,
            DecodeErrorKind::NegativeLength => f.write_str("a length is below -1")?,
            DecodeErrorKind::InvalidValue(what) => f.write_str(what)?,
        }
        write!(f, " (at byte {})", self.offset)
    }
}

impl std::error::Error for DecodeError {}

/// Why a value could not be encoded.
///
/// Both numbers are bytes, capped at `u32::MAX`; the type stays small enough to be returned in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The buffer, or the limit of a growing one, is too small for the next piece.
    #[error("the buffer is full: {needed} more bytes are needed, {available} are available")]
    BufferFull {
        /// Bytes that the next piece needs.
        needed: u32,
        /// Bytes that were left.
        available: u32,
    },
    /// A string or array is longer than an Int32 can say (OPC 10000-6, 5.2.2.4 and 5.2.5).
    #[error("a string or array is longer than an Int32 can say")]
    LengthOverflow,
}

impl EncodeError {
    /// What a peer is told: `BadEncodingLimitsExceeded`. A transport that answers a request says
    /// `BadResponseTooLarge` instead.
    pub fn status_code(&self) -> StatusCode {
        StatusCode::BadEncodingLimitsExceeded
    }
}
