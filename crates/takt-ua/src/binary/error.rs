//! Errors of encoding and decoding.

use crate::StatusCode;

/// Cause of a failed decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// The bytes end before the value does.
    UnexpectedEnd,
    /// A string is not valid UTF-8 (OPC 10000-6, 5.2.2.4).
    InvalidUtf8,
    /// A length or count exceeds the named limit.
    LimitExceeded(&'static str),
    /// The elements of arrays take more memory than [`Limits::max_memory`](crate::binary::Limits::max_memory).
    MemoryExceeded,
    /// An encoding byte or mask has a value that the standard does not define.
    InvalidEncodingByte(u8),
    /// Values are nested deeper than [`Limits::max_depth`](crate::binary::Limits::max_depth).
    DepthExceeded,
    /// A length is negative, but not -1 (which stands for null).
    NegativeLength,
    /// A value breaks the named rule.
    InvalidValue(&'static str),
}

/// Decoding error with its cause and position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeError {
    /// Offset of the error in bytes from the start of the decoder's input.
    pub offset: usize,
    /// Cause of the error.
    pub kind: DecodeErrorKind,
}

impl DecodeError {
    /// Creates an error at an offset.
    #[cold]
    pub fn new(offset: usize, kind: DecodeErrorKind) -> Self {
        Self { offset, kind }
    }

    /// Returns the StatusCode for the peer: `BadEncodingLimitsExceeded` if a limit was exceeded, else
    /// `BadDecodingError`.
    pub fn status_code(&self) -> StatusCode {
        match self.kind {
            DecodeErrorKind::LimitExceeded(_)
            | DecodeErrorKind::DepthExceeded
            | DecodeErrorKind::MemoryExceeded => StatusCode::BadEncodingLimitsExceeded,
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
            DecodeErrorKind::MemoryExceeded => {
                f.write_str("the elements of arrays take more memory than the limit")?;
            }
            DecodeErrorKind::NegativeLength => f.write_str("a length is below -1")?,
            DecodeErrorKind::InvalidValue(what) => f.write_str(what)?,
        }
        write!(f, " (at byte {})", self.offset)
    }
}

impl std::error::Error for DecodeError {}

/// Error of a value that could not be encoded.
///
/// Both numbers are in bytes, limited to `u32::MAX`, so that the type is small enough to be returned in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The buffer, or the limit of a growing one, is too small for the next piece.
    #[error("the buffer is full: {needed} more bytes are needed, {available} are available")]
    BufferFull {
        /// Number of bytes that the next piece needs.
        needed: u32,
        /// Number of bytes available.
        available: u32,
    },
    /// A string or array is longer than the largest Int32 (OPC 10000-6, 5.2.2.4 and 5.2.5).
    #[error("a string or array is longer than 2147483647, the largest Int32")]
    LengthOverflow,
}

impl EncodeError {
    /// Returns the StatusCode for the peer: `BadEncodingLimitsExceeded`. A transport that answers a request sends
    /// `BadResponseTooLarge` instead.
    pub fn status_code(&self) -> StatusCode {
        StatusCode::BadEncodingLimitsExceeded
    }
}
