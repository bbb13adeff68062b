//! Errors of messages.

use takt_ua::StatusCode;
use takt_ua::binary::{DecodeError, DecodeErrorKind, Decoder, EncodeError};

/// Cause of the refusal of a received message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireErrorKind {
    /// A value is not encoded according to OPC 10000-6, or is cut off.
    Encoding(DecodeErrorKind),
    /// The UADPVersion is not 1 (OPC 10000-14, 7.2.4.4.2).
    UnsupportedVersion(u8),
    /// A field has a value, or bits, that the standard reserves.
    Reserved {
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        value: u16,
    },
    /// The standard forbids the named combination.
    Forbidden(&'static str),
    /// A length does not match another one.
    LengthMismatch {
        /// Name of the length field.
        field: &'static str,
        /// Expected length, in bytes or elements.
        expected: usize,
        /// Actual length.
        found: usize,
    },
    /// This number of bytes that are not padding follow the end of the message.
    TrailingBytes(usize),
    /// The message is shorter than its signature and SecurityFooter.
    NoRoomForSignature,
}

/// Error of a received message, with its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireError {
    /// Offset in bytes from the start of the NetworkMessage.
    pub offset: usize,
    /// Cause of the error.
    pub kind: WireErrorKind,
}

impl WireError {
    /// Creates an error at an offset.
    #[cold]
    pub fn new(offset: usize, kind: WireErrorKind) -> Self {
        Self { offset, kind }
    }

    /// Returns the corresponding StatusCode: `BadEncodingLimitsExceeded` if a limit was exceeded, else
    /// `BadDecodingError`.
    pub fn status_code(&self) -> StatusCode {
        match self.kind {
            WireErrorKind::Encoding(kind) => DecodeError::new(self.offset, kind).status_code(),
            _ => StatusCode::BadDecodingError,
        }
    }
}

impl From<DecodeError> for WireError {
    #[cold]
    fn from(error: DecodeError) -> Self {
        Self::new(error.offset, WireErrorKind::Encoding(error.kind))
    }
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            WireErrorKind::Encoding(kind) => {
                return DecodeError::new(self.offset, kind).fmt(f);
            }
            WireErrorKind::UnsupportedVersion(version) => {
                write!(f, "UADPVersion {version} is not supported")?;
            }
            WireErrorKind::Reserved { field, value } => {
                write!(f, "{field} has the reserved value 0x{value:02X}")?;
            }
            WireErrorKind::Forbidden(what) => write!(f, "not allowed: {what}")?,
            WireErrorKind::LengthMismatch {
                field,
                expected,
                found,
            } => write!(f, "{field} is {found}, but {expected} was expected")?,
            WireErrorKind::TrailingBytes(count) => {
                write!(f, "{count} bytes follow the end of the message")?;
            }
            WireErrorKind::NoRoomForSignature => {
                f.write_str("the message is shorter than its signature and SecurityFooter")?;
            }
        }
        write!(f, " (at byte {})", self.offset)
    }
}

impl std::error::Error for WireError {}

/// Error of a message that could not be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireEncodeError {
    /// The buffer is too small, or a string or array too long.
    #[error(transparent)]
    Encoding(#[from] EncodeError),
    /// The standard forbids the named combination.
    #[error("not allowed: {0}")]
    Forbidden(&'static str),
    /// There are more elements than their count field can hold.
    #[error("{count} {what}: at most {maximum} are possible")]
    TooMany {
        /// Name of the elements.
        what: &'static str,
        /// Actual number.
        count: usize,
        /// Largest allowed number.
        maximum: usize,
    },
}

/// Checks that a count or length fits its field.
pub(crate) fn count<T: TryFrom<usize>>(
    what: &'static str,
    count: usize,
    maximum: usize,
) -> Result<T, WireEncodeError> {
    T::try_from(count).map_err(|_| WireEncodeError::TooMany {
        what,
        count,
        maximum,
    })
}

/// Checks that only zeros follow, with which messages and Ethernet frames are padded; returns their number.
pub(crate) fn padding(decoder: &Decoder<'_>) -> Result<usize, WireError> {
    let rest = decoder.rest();
    match rest.iter().position(|byte| *byte != 0) {
        None => Ok(rest.len()),
        Some(first) => {
            let kind = WireErrorKind::TrailingBytes(rest.len() - first);
            Err(WireError::new(decoder.position() + first, kind))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_problem_and_position() {
        let error = WireError::new(
            3,
            WireErrorKind::Reserved {
                field: "GroupFlags",
                value: 0xF0,
            },
        );
        assert_eq!(
            error.to_string(),
            "GroupFlags has the reserved value 0xF0 (at byte 3)"
        );
        assert_eq!(error.status_code(), StatusCode::BadDecodingError);
        let error = WireError::from(DecodeError::new(7, DecodeErrorKind::LimitExceeded("x")));
        assert_eq!(error.to_string(), "the limit for x is exceeded (at byte 7)");
        assert_eq!(error.status_code(), StatusCode::BadEncodingLimitsExceeded);
    }
}
