//! Errors of the database.

use std::path::PathBuf;
use std::sync::Arc;

use takt_app::StateDirectoryError;

/// Version of the layout of the tables; another number in the file is refused.
pub(super) const FORMAT: u64 = 1;

/// Error of a database that could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The folder of the database is not safe to use, or cannot be created.
    #[error(transparent)]
    Directory(StateDirectoryError),
    /// Another registry has opened the database.
    #[error("the database {} is in use by another registry", path.display())]
    InUse {
        /// Path of the database.
        path: PathBuf,
    },
    /// The file is empty: it was truncated, or its contents were lost.
    #[error("the database {} is empty (0 bytes): all registrations are lost", path.display())]
    Empty {
        /// Path of the database.
        path: PathBuf,
    },
    /// The file is not a database, or parts of it were changed.
    #[error("the database {} is damaged: {reason}", path.display())]
    Damaged {
        /// Path of the database.
        path: PathBuf,
        /// Description of the error.
        reason: String,
    },
    /// The file is a database of another kind, for example a history.
    #[error("{} is no database of a registry: it has the tables {tables}", path.display())]
    Foreign {
        /// Path of the database.
        path: PathBuf,
        /// Names of its tables.
        tables: String,
    },
    /// The path is that of a directory, a device or a pipe.
    #[error("the database {} cannot be used: this is no file", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// The file was written by a version with another layout.
    #[error("the database {} has format {found}, this version reads format {FORMAT}", path.display())]
    Format {
        /// Path of the database.
        path: PathBuf,
        /// The format in the file.
        found: u64,
    },
    /// A record cannot be decoded, or contradicts the others.
    #[error(
        "the database is damaged: the record of {record} in the table `{table}` cannot be read: {reason}"
    )]
    Record {
        /// The table.
        table: &'static str,
        /// Subject of the record: a NodeId, or a name.
        record: String,
        /// Description of the error.
        reason: String,
    },
    /// The storage failed: a full disk, for example.
    #[error("the database failed: {0}")]
    Storage(Box<redb::Error>),
    /// A commit failed for which several changes waited.
    #[error(transparent)]
    Commit(Arc<DatabaseError>),
    /// An earlier failure lost changes that this one depends on, or the registry is ending.
    #[error("the change was not stored, because an earlier one could not be stored")]
    Lost,
    /// The thread of the database could not be started.
    #[error("the thread of the database cannot be started: {0}")]
    Thread(std::io::Error),
}

impl<E: Into<redb::Error>> From<E> for DatabaseError {
    fn from(error: E) -> Self {
        Self::Storage(Box::new(error.into()))
    }
}
