//! The open file: transactions, and opening it again after a fault.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, TableHandle, WriteTransaction,
};
use takt_database::{
    DatabaseFault, DatabaseFile, DatabaseFileError, DatabaseKind, TransactionError,
};

use super::tables::{AGE, BLOCKS, FORMAT, FORMAT_TABLE, NAMESPACES, SIZES, VARIABLES};
use crate::block::BlockError;
use crate::error::HistoryError;

/// Memory in bytes for pages of the file.
const CACHE: usize = 8 << 20;

/// Fault in a transaction.
#[derive(Debug)]
pub(super) enum Failure {
    Redb(Box<redb::Error>),
    Block(BlockError),
    File(DatabaseFileError),
}

impl<E: Into<redb::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Redb(Box::new(error.into()))
    }
}

impl TransactionError for Failure {
    fn from_file(error: DatabaseFileError) -> Self {
        Self::File(error)
    }

    fn into_redb(self) -> Result<redb::Error, Self> {
        match self {
            Self::Redb(error) => Ok(*error),
            error => Err(error),
        }
    }
}

/// Names the file of a history.
pub(super) fn file(path: &Path) -> DatabaseFile {
    let kind = DatabaseKind {
        content: "history",
        table: FORMAT_TABLE.name(),
        cache: CACHE,
    };
    DatabaseFile::new(kind, path)
}

/// The open file, used by the writer and by readers.
#[derive(Debug)]
pub(super) struct Shared {
    file: DatabaseFile,
    open: Mutex<Open>,
}

/// State of the file.
#[derive(Debug, Default)]
struct Open {
    /// `None` after a fault: the next use opens the file again in its last durable state.
    database: Option<Arc<Database>>,
    /// True after the end: the file is not opened again.
    has_ended: bool,
}

impl Shared {
    /// Opens the file and checks every page of it, or creates it.
    pub(super) fn open(path: &Path) -> Result<Self, HistoryError> {
        let shared = Self {
            file: file(path),
            open: Mutex::default(),
        };
        let database = shared
            .file
            .open(|transaction| shared.initialize(transaction));
        let database = database.map_err(|failure| shared.explain(failure))?;
        shared.opened().database = Some(Arc::new(database));
        Ok(shared)
    }

    /// Makes the tables that are missing, so that readers find all of them.
    fn initialize(&self, transaction: &WriteTransaction) -> Result<(), Failure> {
        let mut format = transaction.open_table(FORMAT_TABLE)?;
        let found = format.get(())?.map(|found| found.value());
        match found {
            None => {
                format.insert((), FORMAT)?;
            }
            Some(FORMAT) => {}
            Some(found) => {
                let fault = DatabaseFault::Format {
                    found: found.into(),
                    known: FORMAT.into(),
                };
                return Err(Failure::File(self.file.error(fault)));
            }
        }
        transaction.open_table(BLOCKS)?;
        transaction.open_table(VARIABLES)?;
        transaction.open_table(SIZES)?;
        transaction.open_table(AGE)?;
        transaction.open_table(NAMESPACES)?;
        Ok(())
    }

    fn opened(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the database, which is opened again after a fault.
    fn database(&self) -> Result<Arc<Database>, HistoryError> {
        // The lock is held while the file is opened, so that two threads do not open it at once.
        let mut open = self.opened();
        if let Some(database) = &open.database {
            return Ok(Arc::clone(database));
        }
        if open.has_ended {
            return Err(HistoryError::Ended);
        }
        let database = self.file.open_again();
        let database = database.map_err(|failure| self.explain(failure))?;
        Ok(Arc::clone(open.database.insert(Arc::new(database))))
    }

    /// Closes the file for all readers and for ever.
    pub(super) fn end(&self) {
        // Before the file is closed: a reader could open it again in between.
        self.opened().has_ended = true;
        self.close();
    }

    /// Closes the file after a fault, or at the end.
    fn close(&self) {
        let closed = self.opened().database.take();
        // The fault before is the one to report.
        let _ = self.file.close(closed);
    }

    /// Runs a transaction, and waits until the disk has its changes.
    pub(super) fn write<R>(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<R, Failure>,
    ) -> Result<R, HistoryError> {
        let database = self.database()?;
        let result = self.guarded(|| {
            let transaction = database.begin_write()?;
            let result = change(&transaction)?;
            transaction.commit()?;
            Ok(result)
        });
        // So that `close` has the last reference, unless a reader is at work.
        drop(database);
        // redb refuses further transactions after an error of the disk: the file is opened again.
        if result.is_err() {
            self.close();
        }
        result
    }

    /// Reads the last durable state.
    pub(super) fn read<R>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<R, Failure>,
    ) -> Result<R, HistoryError> {
        let database = self.database()?;
        self.guarded(|| {
            let transaction = database.begin_read()?;
            read(&transaction)
        })
    }

    /// Runs `work`, which uses the database. Damage that it meets becomes an error.
    pub(super) fn guarded<R>(
        &self,
        work: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<R, HistoryError> {
        let result = self.file.guarded(work);
        result.map_err(|failure| self.explain(failure))
    }

    fn explain(&self, failure: Failure) -> HistoryError {
        let error = match failure {
            Failure::File(error) => error,
            Failure::Block(error) => self.file.error(DatabaseFault::Damaged(error.to_string())),
            Failure::Redb(error) => self.file.error((*error).into()),
        };
        HistoryError::File(error)
    }
}
