//! The file: opening it, creating it, and detecting damage.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use redb::backends::FileBackend;
use redb::{
    Builder, Database, DatabaseError, MultimapTableHandle, ReadableDatabase, TableHandle,
    WriteTransaction,
};

use crate::error::{DatabaseFault, DatabaseFileError, TransactionError};

/// Mode of the file: only this user has access, because it may contain keys.
const MODE: u32 = 0o600;

/// Kind of a database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseKind {
    /// Name of the content in errors, for example `history`.
    pub content: &'static str,
    /// Table that each file of this kind has; a file with tables, but without this one, is of another kind.
    pub table: &'static str,
    /// Memory in bytes for pages of the file (redb takes up to 1 GiB by default). The system caches the file as well, so that a
    /// larger cache saves little time.
    pub cache: usize,
}

/// Opens an existing file with a builder: that of the disk, or of a test.
pub type DatabaseOpener =
    Arc<dyn Fn(&Path, &Builder) -> Result<Database, DatabaseError> + Send + Sync>;

/// A database file.
#[derive(Clone)]
pub struct DatabaseFile {
    kind: DatabaseKind,
    path: PathBuf,
    opener: DatabaseOpener,
}

impl fmt::Debug for DatabaseFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DatabaseFile").field(&self.path).finish()
    }
}

impl DatabaseFile {
    /// Names a file on the disk.
    #[must_use]
    pub fn new(kind: DatabaseKind, path: &Path) -> Self {
        let opener: DatabaseOpener = Arc::new(|path, builder| builder.open(path));
        Self {
            kind,
            path: path.to_owned(),
            opener,
        }
    }

    /// Replaces the way in which an existing file is opened.
    #[must_use]
    pub fn with_opener(self, opener: DatabaseOpener) -> Self {
        Self { opener, ..self }
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes an error of this file.
    #[must_use]
    pub fn error(&self, fault: DatabaseFault) -> DatabaseFileError {
        DatabaseFileError {
            content: self.kind.content,
            path: self.path.clone(),
            fault,
        }
    }

    /// Looks at an existing file without changing it, and without reading all of it. Returns its length in bytes, 0 if there is no
    /// file. The kind of a file that a crash has left is seen when it is [opened](Self::open).
    ///
    /// # Errors
    /// The file is empty, none, or of another kind, another process uses it, or it cannot be read. Damage of most pages is not seen.
    pub fn glance(&self) -> Result<u64, DatabaseFileError> {
        let Some(length) = self.length()? else {
            return Ok(0);
        };
        self.guarded(|| match builder(self.kind).open_read_only(&self.path) {
            Ok(database) => self.expect_kind(&database),
            // redb would have to repair the file after a crash, and refuses to do that without writing.
            Err(DatabaseError::RepairAborted) => Ok(()),
            Err(error) => Err(self.redb(error)),
        })?;
        Ok(length)
    }

    /// Returns the length of the file in bytes; `None` if there is none.
    fn length(&self) -> Result<Option<u64>, DatabaseFileError> {
        let fault = match std::fs::metadata(&self.path) {
            Ok(file) if !file.is_file() => DatabaseFault::NoFile,
            Ok(file) if file.len() == 0 => DatabaseFault::Empty,
            Ok(file) => return Ok(Some(file.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => redb::Error::Io(error).into(),
        };
        Err(self.error(fault))
    }

    fn redb<E: TransactionError>(&self, error: impl Into<redb::Error>) -> E {
        E::from_file(self.error(error.into().into()))
    }

    /// Opens the file and verifies the checksums of all its pages, or creates it. `initialize` makes missing tables and checks the
    /// format, in a transaction that is committed.
    ///
    /// # Errors
    /// The file is damaged, of another kind, or cannot be read or written. An empty file is no new one: it is the result of a full
    /// disk, an incomplete copy or a truncation.
    pub fn open<E: TransactionError>(
        &self,
        initialize: impl FnOnce(&WriteTransaction) -> Result<(), E>,
    ) -> Result<Database, E> {
        match self.length().map_err(E::from_file)? {
            Some(_) => self.guarded(|| {
                let database =
                    self.existing(builder(self.kind).set_check_integrity_on_open(true))?;
                self.initialize(&database, initialize)?;
                Ok(database)
            }),
            None => self.make(initialize),
        }
    }

    /// Opens the file again in its last committed state. No file is created, and pages are not verified again.
    ///
    /// # Errors
    /// The file cannot be read or written, or has been damaged meanwhile.
    pub fn open_again<E: TransactionError>(&self) -> Result<Database, E> {
        self.guarded(|| self.existing(&builder(self.kind)))
    }

    fn existing<E: TransactionError>(&self, builder: &Builder) -> Result<Database, E> {
        // A copy of the file, put there by hand, may be readable by others.
        std::fs::set_permissions(&self.path, Permissions::from_mode(MODE))
            .map_err(|error| self.redb(redb::Error::Io(error)))?;
        (self.opener)(&self.path, builder).map_err(|error| self.redb(error))
    }

    /// Creates the file under a temporary name and renames it when it is complete, so that a process that is killed meanwhile leaves
    /// no empty file.
    fn make<E: TransactionError>(
        &self,
        initialize: impl FnOnce(&WriteTransaction) -> Result<(), E>,
    ) -> Result<Database, E> {
        let failed = |error| self.redb(redb::Error::Io(error));
        // The parent of a bare file name is empty, and an empty path is no directory.
        let parent = self.path.parent();
        let directory = parent.filter(|path| !path.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        // In the same directory, because a file cannot be renamed to another file system.
        let file = tempfile::Builder::new()
            .prefix(".new-")
            .permissions(Permissions::from_mode(MODE))
            .tempfile_in(directory)
            .map_err(failed)?;
        let database = self.guarded(|| {
            // The database takes a handle of its own: `file` is needed for the new name, or removes the temporary one
            // on an error.
            let handle = file.as_file().try_clone().map_err(failed)?;
            let made = FileBackend::new(handle);
            let made = made.and_then(|backend| builder(self.kind).create_with_backend(backend));
            let database = made.map_err(|error| self.redb(error))?;
            self.initialize(&database, initialize)?;
            Ok(database)
        })?;
        file.persist_noclobber(&self.path)
            .map_err(|error| match error.error.kind() {
                // Another process has created the file meanwhile.
                io::ErrorKind::AlreadyExists => E::from_file(self.error(DatabaseFault::InUse)),
                _ => failed(error.error),
            })?;
        // The entry of the directory is durable as well.
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(failed)?;
        Ok(database)
    }

    /// Refuses tables of another kind, and makes those that are missing.
    fn initialize<E: TransactionError>(
        &self,
        database: &Database,
        initialize: impl FnOnce(&WriteTransaction) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect_kind(database)?;
        let transaction = database.begin_write();
        let transaction = transaction.map_err(|error| self.redb(error))?;
        initialize(&transaction)?;
        transaction.commit().map_err(|error| self.redb(error))
    }

    /// Refuses tables of another kind.
    fn expect_kind<E: TransactionError>(&self, database: &impl ReadableDatabase) -> Result<(), E> {
        let names = names(database).map_err(|error| self.redb(error))?;
        // A file without tables has no content of another kind.
        if names.is_empty() || names.iter().any(|name| name == self.kind.table) {
            return Ok(());
        }
        let foreign = DatabaseFault::Foreign(names.join(", "));
        Err(E::from_file(self.error(foreign)))
    }

    /// Runs `work`, which uses the database. Damage that redb finds becomes [`DatabaseFault::Damaged`].
    ///
    /// redb verifies checksums on request and reports damage as an error. If a page is damaged after the check, or passes it, redb
    /// may panic. Such a panic means the same: the file is damaged. It is caught here, and its usual message is suppressed. The
    /// caller closes the database on this error, so that incomplete state is never used.
    ///
    /// # Errors
    /// `work` failed or panicked.
    pub fn guarded<R, E: TransactionError>(
        &self,
        work: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        match silently(work) {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(match error.into_redb() {
                Ok(error) => self.redb(error),
                Err(error) => error,
            }),
            Err(reason) => Err(E::from_file(self.error(DatabaseFault::Damaged(reason)))),
        }
    }

    /// Drops an open database, and what belongs to it. Closing a damaged file may find the same damage.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn close(&self, open: impl Sized) -> Result<(), DatabaseFileError> {
        silently(|| drop(open)).map_err(|reason| self.error(DatabaseFault::Damaged(reason)))
    }
}

fn builder(kind: DatabaseKind) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(kind.cache);
    builder
}

/// Returns the names of all tables.
fn names(database: &impl ReadableDatabase) -> Result<Vec<String>, redb::Error> {
    let transaction = database.begin_read()?;
    let tables = transaction.list_tables()?;
    let mut names: Vec<_> = tables.map(|table| table.name().to_owned()).collect();
    let multimaps = transaction.list_multimap_tables()?;
    names.extend(multimaps.map(|table| table.name().to_owned()));
    Ok(names)
}

thread_local! {
    /// True if a panic of this thread is caught and reported as an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, and returns the message of its panic instead of printing it.
fn silently<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    static HOOK: Once = Once::new();
    // The hook is that of the whole process: it is set once, and then asks the thread that panics.
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                usual(panic);
            }
        }));
    });
    let was_guarded = IS_GUARDED.replace(true);
    // The caller closes the database after a panic, so nothing incomplete is used again.
    let result = catch_unwind(AssertUnwindSafe(work));
    // Not simply false: guarded work may call guarded work.
    IS_GUARDED.set(was_guarded);
    result.map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("an invalid page")
        .to_owned()
}
