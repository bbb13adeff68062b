//! Errors of the database.

use std::sync::Arc;

use takt_app::StateDirectoryError;
use takt_database::{DatabaseFileError, TransactionError};

/// Version of the layout of the tables; another number in the file is refused.
pub(super) const FORMAT: u64 = 1;

/// Error of a database that could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The folder of the database is not safe to use, or cannot be created.
    #[error(transparent)]
    Directory(StateDirectoryError),
    /// The file cannot be used.
    #[error(transparent)]
    File(DatabaseFileError),
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
    /// The storage failed in a transaction.
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

impl TransactionError for DatabaseError {
    fn from_file(error: DatabaseFileError) -> Self {
        Self::File(error)
    }

    fn into_redb(self) -> Result<redb::Error, Self> {
        match self {
            Self::Storage(error) => Ok(*error),
            error => Err(error),
        }
    }
}
