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
    /// The file is empty: it was truncated, or its content was lost.
    #[error(
        "the history in {path} is empty (0 bytes): its records are lost; move the file away to begin a new history"
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The path is that of a directory, a device or a pipe.
    #[error("the history in {path} cannot be used: this is no file")]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is a database of another kind.
    #[error(
        "{path} is no history: it has the tables {tables}; put the file of the history there, or move this one away"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Names of its tables.
        tables: String,
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
    /// Returns the error of the system because of which the file cannot be read or written.
    #[must_use]
    pub fn io_error(&self) -> Option<&std::io::Error> {
        match self {
            Self::Storage { cause, .. } => match &**cause {
                redb::Error::Io(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the StatusCode for a client.
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        StatusCode::BadResourceUnavailable
    }
}
