//! Errors of the store.

use std::path::PathBuf;

use takt_ua::StatusCode;

/// Reasons why history cannot be recorded or read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The file cannot be read or written.
    #[error("the history in {path} cannot be used: {cause}")]
    Storage {
        /// The file.
        path: PathBuf,
        /// Reason of the system or of the database.
        cause: Box<redb::Error>,
    },
    /// The store was closed.
    #[error("the history is closed")]
    Ended,
    /// Another process uses the file.
    #[error("the history in {path} is used by another process")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The contents of the file are not valid.
    #[error(
        "the history in {path} is damaged: {reason}; move the file away to begin a new history"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// First fault.
        reason: String,
    },
    /// The file was written by a newer version.
    #[error("the history in {path} has format {found}, this version of Takt reads format {known}")]
    Format {
        /// The file.
        path: PathBuf,
        /// Format of the file.
        found: u32,
        /// Format of this version.
        known: u32,
    },
}

impl HistoryError {
    /// Returns the StatusCode for a client.
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        StatusCode::BadResourceUnavailable
    }
}
