//! Errors of the sources.

use crate::error::Error;

/// Returns the error of sources that contradict each other.
pub(super) fn content(message: String) -> Error {
    Error::content("NodeSet and type files", message)
}
