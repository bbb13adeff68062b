//! The file: opening it, transactions, and faults.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use redb::backends::FileBackend;
use redb::{Builder, Database, ReadTransaction, ReadableDatabase, ReadableTable, WriteTransaction};

use super::tables::{BLOCKS, FORMAT, FORMAT_TABLE, SIZES, VARIABLES};
use crate::block::BlockError;
use crate::error::HistoryError;

/// Memory in bytes for pages of the file. The system caches the file as well.
const CACHE: usize = 8 << 20;

/// Mode of the file: only this user has access.
const MODE: u32 = 0o600;

/// Fault in a transaction.
#[derive(Debug)]
pub(super) enum Failure {
    Storage(Box<redb::Error>),
    Block(BlockError),
    Format(u32),
}

impl<E: Into<redb::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Storage(Box::new(error.into()))
    }
}

/// The open file, used by the writer and by readers.
#[derive(Debug)]
pub(super) struct Shared {
    path: PathBuf,
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
    /// Opens the file, or creates it.
    pub(super) fn open(path: &Path) -> Result<Self, HistoryError> {
        let shared = Self {
            path: path.to_owned(),
            open: Mutex::default(),
        };
        // Readers find all tables.
        shared.write(|transaction| {
            let mut format = transaction.open_table(FORMAT_TABLE)?;
            let found = format.get(())?.map(|found| found.value());
            match found {
                None => {
                    format.insert((), FORMAT)?;
                }
                Some(FORMAT) => {}
                Some(found) => return Err(Failure::Format(found)),
            }
            transaction.open_table(BLOCKS)?;
            transaction.open_table(VARIABLES)?;
            transaction.open_table(SIZES)?;
            Ok(())
        })?;
        Ok(shared)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the database, which is opened if it is not.
    fn database(&self) -> Result<Arc<Database>, HistoryError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = &open.database {
            return Ok(Arc::clone(database));
        }
        if open.has_ended {
            return Err(HistoryError::Ended);
        }
        let database = self.guarded(|| {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                // The file may have records.
                .truncate(false)
                .mode(MODE)
                .open(&self.path)
                .map_err(redb::Error::Io)?;
            let backend = FileBackend::new(file)?;
            let mut builder = Builder::new();
            builder.set_cache_size(CACHE);
            Ok(builder.create_with_backend(backend)?)
        })?;
        Ok(Arc::clone(open.database.insert(Arc::new(database))))
    }

    /// Closes the file for all readers and for ever.
    pub(super) fn end(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.has_ended = true;
        drop(open);
        self.close();
    }

    /// Closes the file after a fault.
    fn close(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = open.database.take();
        // Closing may find the same damage.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(closed)));
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

    /// Runs `work`, which uses the database. redb may panic if a page is damaged in a way that its checksums do not show; that
    /// becomes an error here.
    pub(super) fn guarded<R>(
        &self,
        work: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<R, HistoryError> {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(failure)) => Err(self.explain(failure)),
            Err(_) => Err(self.damaged("a page is not valid".to_owned())),
        }
    }

    fn damaged(&self, reason: String) -> HistoryError {
        HistoryError::Damaged {
            path: self.path.clone(),
            reason,
        }
    }

    fn explain(&self, failure: Failure) -> HistoryError {
        use io::ErrorKind::{InvalidData, UnexpectedEof};
        let path = self.path.clone();
        match failure {
            Failure::Block(error) => self.damaged(error.to_string()),
            Failure::Format(found) => HistoryError::Format {
                path,
                found,
                known: FORMAT,
            },
            Failure::Storage(error) => match *error {
                redb::Error::DatabaseAlreadyOpen => HistoryError::InUse { path },
                redb::Error::Io(error) if matches!(error.kind(), InvalidData | UnexpectedEof) => {
                    self.damaged(error.to_string())
                }
                redb::Error::Corrupted(reason) => self.damaged(reason),
                error @ (redb::Error::RepairAborted
                | redb::Error::TableTypeMismatch { .. }
                | redb::Error::TypeDefinitionChanged { .. }
                | redb::Error::TableDoesNotExist(_)) => self.damaged(error.to_string()),
                error => HistoryError::Storage {
                    path,
                    cause: Box::new(error),
                },
            },
        }
    }
}
