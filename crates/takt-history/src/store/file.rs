//! The file: opening it, transactions, and faults.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::backends::FileBackend;
use redb::{
    Builder, Database, MultimapTableHandle, ReadTransaction, ReadableDatabase, ReadableTable,
    TableHandle, WriteTransaction,
};

use super::tables::{AGE, BLOCKS, FORMAT, FORMAT_TABLE, SIZES, VARIABLES};
use crate::block::BlockError;
use crate::error::HistoryError;

/// Memory in bytes for pages of the file. The system caches the file as well.
const CACHE: usize = 8 << 20;

/// Mode of the file: only this user has access.
const MODE: u32 = 0o600;

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE);
    builder
}

/// Fault in a transaction.
#[derive(Debug)]
pub(super) enum Failure {
    Storage(Box<redb::Error>),
    Block(BlockError),
    Format(u32),
    /// Tables of another database.
    Foreign(Vec<String>),
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
    /// Opens the file and checks every page of it, or creates it. An empty file is no new one: its content was lost.
    pub(super) fn open(path: &Path) -> Result<Self, HistoryError> {
        let shared = Self {
            path: path.to_owned(),
            open: Mutex::default(),
        };
        let path = path.to_owned();
        let database = match std::fs::metadata(&path) {
            Ok(file) if !file.is_file() => return Err(HistoryError::NoFile { path }),
            Ok(file) if file.len() == 0 => return Err(HistoryError::Empty { path }),
            Ok(_) => shared.open_existing(true)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => shared.make()?,
            Err(error) => return Err(shared.explain(redb::Error::Io(error).into())),
        };
        shared.opened().database = Some(Arc::new(database));
        shared.initialize()?;
        Ok(shared)
    }

    /// Makes the tables that are missing, so that readers find all of them.
    fn initialize(&self) -> Result<(), HistoryError> {
        self.write(|transaction| {
            let tables = transaction.list_tables()?;
            let mut names: Vec<_> = tables.map(|table| table.name().to_owned()).collect();
            let multimaps = transaction.list_multimap_tables()?;
            names.extend(multimaps.map(|table| table.name().to_owned()));
            if !names.is_empty() && names.iter().all(|name| name != FORMAT_TABLE.name()) {
                return Err(Failure::Foreign(names));
            }
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
            transaction.open_table(AGE)?;
            Ok(())
        })
    }

    fn opened(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_existing(&self, is_checked: bool) -> Result<Database, HistoryError> {
        self.guarded(|| {
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).open(&self.path);
            let file = file.map_err(redb::Error::Io)?;
            let only_owner = file.set_permissions(Permissions::from_mode(MODE));
            only_owner.map_err(redb::Error::Io)?;
            let mut builder = builder();
            builder.set_check_integrity_on_open(is_checked);
            Ok(builder.create_with_backend(FileBackend::new(file)?)?)
        })
    }

    /// Creates the file under a temporary name, so that a process that is killed meanwhile leaves no empty file.
    fn make(&self) -> Result<Database, HistoryError> {
        let directory = self
            .path
            .parent()
            .filter(|path| !path.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        self.guarded(|| {
            let mut temporary = tempfile::Builder::new();
            temporary
                .prefix(".new-")
                .permissions(Permissions::from_mode(MODE));
            let file = temporary.tempfile_in(directory);
            let file = file.map_err(redb::Error::Io)?;
            let handle = file.as_file().try_clone().map_err(redb::Error::Io)?;
            let database = builder().create_with_backend(FileBackend::new(handle)?)?;
            file.persist_noclobber(&self.path)
                .map_err(|error| match error.error.kind() {
                    // Another process has created it meanwhile.
                    io::ErrorKind::AlreadyExists => redb::Error::DatabaseAlreadyOpen,
                    _ => redb::Error::Io(error.error),
                })?;
            // The entry of the directory is durable as well.
            let synced = File::open(directory).and_then(|directory| directory.sync_all());
            synced.map_err(redb::Error::Io)?;
            Ok(database)
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the database, which is opened again after a fault.
    fn database(&self) -> Result<Arc<Database>, HistoryError> {
        let mut open = self.opened();
        if let Some(database) = &open.database {
            return Ok(Arc::clone(database));
        }
        if open.has_ended {
            return Err(HistoryError::Ended);
        }
        // The pages were checked at the start.
        let database = self.open_existing(false)?;
        Ok(Arc::clone(open.database.insert(Arc::new(database))))
    }

    /// Closes the file for all readers and for ever.
    pub(super) fn end(&self) {
        self.opened().has_ended = true;
        self.close();
    }

    /// Closes the file after a fault.
    fn close(&self) {
        let mut open = self.opened();
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
            Failure::Foreign(tables) => HistoryError::Foreign {
                path,
                tables: tables.join(", "),
            },
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
