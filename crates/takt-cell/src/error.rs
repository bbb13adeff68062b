//! Errors of cells.

use takt_ua::StatusCode;
use takt_ua::binary::{DecodeError, EncodeError};

use crate::Shape;

/// Error of a cell that was not set or not read. The cell is unchanged then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// The encoded value is longer than the cell, whose size is fixed when it is created.
    #[error(
        "the value takes {needed} bytes and the cell has {capacity}: create it with a larger capacity"
    )]
    TooLarge {
        /// Size of the encoded value in bytes.
        needed: usize,
        /// Capacity of the cell in bytes.
        capacity: usize,
    },
    /// The value is not of the cell's type.
    #[error("the cell holds {expected}, not {found}")]
    WrongType {
        /// Shape of the cell.
        expected: Shape,
        /// Shape of the given or requested value.
        found: Shape,
    },
    /// The cell is busy: more sets at once than it supports, or, when reading, the value was set repeatedly while it
    /// was being copied. Try again in both cases.
    #[error("the cell is busy: too many threads set it at once")]
    Busy,
    /// The cell of another process no longer exists.
    #[error("the cell is gone: its process has dropped it")]
    Gone,
    /// The current value is not in the cell, because it does not fit, or is not known. Its server has to be asked.
    #[error("the current value is not published: read it from the server")]
    Withheld,
    /// The caller's buffer is too small.
    #[error("the value does not fit the caller's buffer")]
    Encode(#[from] EncodeError),
    /// The bytes given are not one encoded Variant.
    #[error("the value is not one encoded Variant")]
    Decode(#[from] DecodeError),
}

impl CellError {
    /// Returns the StatusCode for a client that reads or writes the cell (OPC 10000-4, 5.11.2.4 and 5.11.4.4).
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } => StatusCode::BadOutOfRange,
            Self::WrongType { .. } => StatusCode::BadTypeMismatch,
            Self::Gone => StatusCode::BadNodeIdUnknown,
            Self::Busy | Self::Withheld => StatusCode::BadResourceUnavailable,
            Self::Encode(error) => error.status_code(),
            Self::Decode(error) => error.status_code(),
        }
    }
}
