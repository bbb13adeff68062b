//! The open file of the database, and its only write transaction.

use redb::WriteTransaction;
use takt_database::{DatabaseFault, DatabaseFile};

use super::contents::Contents;
use super::error::{DatabaseError, FORMAT};
use super::tables;

/// Writes a change.
pub(super) type Write = Box<dyn FnOnce(&WriteTransaction) -> Result<(), DatabaseError> + Send>;

/// The file of the database.
pub(super) struct Store {
    file: DatabaseFile,
    /// The open file; `None` after a failure: the next use opens the file again in its last committed state.
    open: Option<Open>,
}

/// The open file.
struct Open {
    /// Written changes that are not committed. The field precedes the file, because it has to be dropped first.
    unsettled: Option<WriteTransaction>,
    redb: redb::Database,
}

impl Open {
    fn transaction(&mut self) -> Result<&WriteTransaction, DatabaseError> {
        let transaction = match self.unsettled.take() {
            Some(transaction) => transaction,
            None => self.redb.begin_write()?,
        };
        Ok(self.unsettled.insert(transaction))
    }
}

impl Store {
    /// Opens the file and checks all of it, or creates an empty one if there is no file.
    pub(super) fn open(file: DatabaseFile) -> Result<Self, DatabaseError> {
        let redb = file.open(|transaction| {
            let found = tables::make(transaction)?;
            match found == FORMAT {
                true => Ok(()),
                false => Err(DatabaseError::File(file.error(DatabaseFault::Format {
                    found,
                    known: FORMAT,
                }))),
            }
        })?;
        Ok(Self {
            file,
            open: Some(Open {
                unsettled: None,
                redb,
            }),
        })
    }

    /// Runs `use_it` with the open file. After a failure the file is closed, and changes that are not committed are lost.
    fn with<R>(
        &mut self,
        use_it: impl FnOnce(&mut Open) -> Result<R, DatabaseError>,
    ) -> Result<R, DatabaseError> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => Open {
                unsettled: None,
                redb: self.file.open_again::<DatabaseError>()?,
            },
        };
        match self.file.guarded(|| use_it(&mut open)) {
            Ok(result) => {
                self.open = Some(open);
                Ok(result)
            }
            Err(error) => {
                // The error of the use is passed on: it is the cause.
                if let Err(error) = self.file.close(open) {
                    tracing::error!(%error, "the database could not be closed");
                }
                Err(error)
            }
        }
    }

    /// Writes a change into the transaction, which begins with it if necessary.
    pub(super) fn write(&mut self, write: Write) -> Result<(), DatabaseError> {
        self.with(|open| write(open.transaction()?))
    }

    /// Waits until all written changes are on the disk.
    pub(super) fn commit(&mut self) -> Result<(), DatabaseError> {
        self.with(|open| match open.unsettled.take() {
            Some(transaction) => Ok(transaction.commit()?),
            None => Ok(()),
        })
    }

    /// Reads everything that is committed.
    pub(super) fn load(&mut self) -> Result<Contents, DatabaseError> {
        self.with(|open| tables::load(&open.redb))
    }
}
