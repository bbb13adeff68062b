//! Errors of the store.

use takt_database::DatabaseFileError;
use takt_ua::StatusCode;

/// Reasons why history cannot be recorded or read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] DatabaseFileError),
    /// The store was closed.
    #[error("the history is closed")]
    Ended,
}

impl HistoryError {
    /// Returns the StatusCode for a client.
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        StatusCode::BadResourceUnavailable
    }
}
