//! What can be wrong with a message.

use takt_ua::StatusCode;
use takt_ua::binary::{DecodeError, DecodeErrorKind, Decoder, EncodeError};

/// Why a received message was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireErrorKind {
    /// A value is not encoded as OPC 10000-6 asks, or is cut off.
    Encoding(DecodeErrorKind),
    /// The UADPVersion is not 1 (OPC 10000-14, 7.2.4.4.2).
    UnsupportedVersion(u8),
    /// A field has a value, or bits, that the standard reserves.
    Reserved {
        /// Name of the field.
        field: &'static str,
        /// What it holds.
        value: u16,
    },
    /// The standard forbids the combination that is named.
    Forbidden(&'static str),
    /// A length does not agree with another one.
    LengthMismatch {
        /// Name of the field that says the length.
        field: &'static str,
        /// The length that it should say, in bytes or elements.
        expected: usize,
        /// The length that it says.
        found: usize,
    },
    /// So many bytes that are not padding follow where the message should end.
    TrailingBytes(usize),
    /// The message is shorter than its signature and SecurityFooter.
    NoRoomForSignature,
}

/// Why, and where, a received message was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireError {
    /// Offset in bytes from the start of the NetworkMessage.
    pub offset: usize,
    /// What the problem is.
    pub kind: WireErrorKind,
}

impl WireError {
    /// Names a problem at an offset.
    #[cold]
    pub fn new(offset: usize, kind: WireErrorKind) -> Self {
        Self { offset, kind }
    }

    /// Returns the corresponding StatusCode: `BadEncodingLimitsExceeded` when a limit was hit, else `BadDecodingError`.
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
            WireErrorKind::Forbidden(what) => write!(f, "{what}: not allowed")?,
            WireErrorKind::LengthMismatch {
                field,
                expected,
                found,
            } => write!(f, "{field} says {found} where {expected} was expected")?,
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

/// Why a message could not be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireEncodeError {
    /// The buffer is too small, or a string or array too long.
    #[error(transparent)]
    Encoding(#[from] EncodeError),
    /// The standard forbids the combination that is named.
    #[error("{0}: not allowed")]
    Forbidden(&'static str),
    /// There are more of something than its count can say.
    #[error("{count} {what}: at most {maximum} fit")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        count: usize,
        /// How much there may be.
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

/// Checks that nothing but zeros follows, with which messages and Ethernet frames are padded; gives their number.
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
    fn an_error_says_what_and_where() {
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
