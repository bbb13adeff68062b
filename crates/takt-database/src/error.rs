//! Errors of files.

use std::io;
use std::path::PathBuf;

/// Error of a database file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the {content} {} {fault}", path.display())]
pub struct DatabaseFileError {
    /// Content that the file should have ([`DatabaseKind::content`](crate::DatabaseKind::content)).
    pub content: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Reason.
    pub fault: DatabaseFault,
}

/// Reason why a database file cannot be used. Its text follows the name of the file.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseFault {
    /// Another process has opened the file.
    #[error("is used by another process")]
    InUse,
    /// The file is empty: it was truncated, or its content was lost.
    #[error(
        "is empty (0 bytes), its content is lost: restore a copy, or move the file away to begin a new one"
    )]
    Empty,
    /// The file is no database, or parts of it were changed; with the first fault that was found.
    #[error("is damaged ({0}): restore a copy, or move the file away to begin a new one")]
    Damaged(String),
    /// The file is a database of another kind, with these tables.
    #[error(
        "is a file of another kind, with the tables {0}: put the right file there, or move this one away"
    )]
    Foreign(String),
    /// The path is that of a directory, a device or a pipe.
    #[error("cannot be used: this is no file")]
    NoFile,
    /// The file was written by a version with another layout.
    #[error("has format {found}, this version of Takt reads format {known}")]
    Format {
        /// Format of the file.
        found: u64,
        /// Format of this version.
        known: u64,
    },
    /// The file cannot be read or written, for example because the disk is full.
    #[error("cannot be used: {0}")]
    Storage(Box<redb::Error>),
}

impl From<redb::Error> for DatabaseFault {
    /// Tells damage of the file from faults of the disk.
    fn from(error: redb::Error) -> Self {
        use io::ErrorKind::{InvalidData, UnexpectedEof};
        match error {
            redb::Error::DatabaseAlreadyOpen => Self::InUse,
            // redb reports bytes that are no database, and a file that ends too early, as errors of input.
            redb::Error::Io(error) if matches!(error.kind(), InvalidData | UnexpectedEof) => {
                Self::Damaged(error.to_string())
            }
            redb::Error::Corrupted(reason) => Self::Damaged(reason),
            // `initialize` makes all tables, so a missing one or one of another type is damage.
            error @ (redb::Error::RepairAborted
            | redb::Error::TableTypeMismatch { .. }
            | redb::Error::TableIsMultimap(_)
            | redb::Error::TableIsNotMultimap(_)
            | redb::Error::TypeDefinitionChanged { .. }
            | redb::Error::TableDoesNotExist(_)) => Self::Damaged(error.to_string()),
            error => Self::Storage(Box::new(error)),
        }
    }
}

impl DatabaseFileError {
    /// Returns the error of the system because of which the file cannot be read or written.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.fault {
            DatabaseFault::Storage(cause) => match &**cause {
                redb::Error::Io(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Error of a transaction: one of redb, or one of the transaction's own.
pub trait TransactionError: Sized {
    /// Makes an error of a fault of the file.
    fn from_file(error: DatabaseFileError) -> Self;

    /// Returns the error of redb.
    ///
    /// # Errors
    /// The error is one of the transaction's own.
    fn into_redb(self) -> Result<redb::Error, Self>;
}

impl TransactionError for DatabaseFileError {
    fn from_file(error: DatabaseFileError) -> Self {
        error
    }

    fn into_redb(self) -> Result<redb::Error, Self> {
        Err(self)
    }
}
