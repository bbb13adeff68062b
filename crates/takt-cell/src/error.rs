//! What can go wrong with a cell.

use takt_ua::StatusCode;
use takt_ua::binary::{DecodeError, EncodeError};

use crate::Shape;

/// Why a cell was not set or not read. Nothing has changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// The encoded value is longer than the cell, whose size is fixed when it is made.
    #[error(
        "the value takes {needed} bytes and the cell has {capacity}: make it for longer arrays or strings"
    )]
    TooLarge {
        /// Bytes of the encoded value.
        needed: usize,
        /// Bytes that the cell has for it.
        capacity: usize,
    },
    /// The value is not of the cell's type.
    #[error("the cell holds {expected}, not {found}")]
    WrongType {
        /// What the cell holds.
        expected: Shape,
        /// What it was given, or asked for.
        found: Shape,
    },
    /// Setting: more sets at once than the cell has room for. Reading: the value was set again and again while it was
    /// being copied. Either way, try again.
    #[error("the cell is busy: too many set it at once")]
    Busy,
    /// The cell of another process is not there any more.
    #[error("the cell is gone: the process that had it has dropped it")]
    Gone,
    /// The current value is not in the cell, because it does not fit, or is not known. Its server has to be asked.
    #[error("the current value is not published: the server has to be asked")]
    Withheld,
    /// The caller's buffer is too small.
    #[error("the value does not fit the caller's buffer")]
    Encode(#[from] EncodeError),
    /// The bytes given are not one encoded Variant.
    #[error("the value is not one encoded Variant")]
    Decode(#[from] DecodeError),
}

impl CellError {
    /// What a client is told that reads or writes the cell (OPC 10000-4, 5.11.2.4 and 5.11.4.4).
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
