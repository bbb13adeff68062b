//! File of the database: creating it, opening it, and detecting damage.

use std::any::Any;
use std::cell::Cell;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

use redb::Builder;
use redb::backends::FileBackend;

use super::error::{DatabaseError, FORMAT};
use super::tables;

/// Mode of the file: only this user has access, because it contains keys.
const MODE: u32 = 0o600;

/// Memory in bytes for pages of the file (redb takes up to 1 GiB by default). The system caches the file as well, so that a
/// larger cache saves little time.
const CACHE: usize = 4 << 20;

/// Opens an existing file: [`from_disk`], or a test's disk.
pub(super) type Opener =
    Box<dyn Fn(&Path, &Builder) -> Result<redb::Database, redb::DatabaseError> + Send>;

/// Opens an existing file on the disk.
pub(super) fn from_disk(
    path: &Path,
    builder: &Builder,
) -> Result<redb::Database, redb::DatabaseError> {
    builder.open(path)
}

/// Opens the file and checks every page of it, or creates a new one if there is none.
///
/// An empty file is not accepted as a new database: it is the result of a full disk, an incomplete copy or a
/// truncation.
pub(super) fn open_or_make(path: &Path, opener: &Opener) -> Result<redb::Database, DatabaseError> {
    match std::fs::metadata(path) {
        Ok(file) if !file.is_file() => Err(DatabaseError::NoFile {
            path: path.to_owned(),
        }),
        Ok(file) if file.len() == 0 => Err(DatabaseError::Empty {
            path: path.to_owned(),
        }),
        Ok(_) => guarded(path, || {
            let redb = open(path, opener, builder().set_check_integrity_on_open(true))?;
            initialize(&redb, path)?;
            Ok(redb)
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path),
        Err(error) => Err(redb::Error::Io(error).into()),
    }
}

/// Opens the previously open file again, in its last settled state. No file is created, and the pages that were
/// checked when the registry started are not checked again.
pub(super) fn open_again(path: &Path, opener: &Opener) -> Result<redb::Database, DatabaseError> {
    guarded(path, || open(path, opener, &builder()))
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE);
    builder
}

fn open(path: &Path, opener: &Opener, builder: &Builder) -> Result<redb::Database, DatabaseError> {
    std::fs::set_permissions(path, Permissions::from_mode(MODE)).map_err(redb::Error::Io)?;
    opener(path, builder).map_err(|error| opening(path, error))
}

/// Creates the file under a temporary name and renames it when it is complete, so that a registry that is killed
/// meanwhile leaves no empty file.
fn make(path: &Path) -> Result<redb::Database, DatabaseError> {
    let directory = path.parent().filter(|path| !path.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let failed = |error| DatabaseError::from(redb::Error::Io(error));
    // Only this user has access from the beginning.
    let file = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(directory)
        .map_err(failed)?;
    let redb = guarded(path, || {
        let handle = file.as_file().try_clone().map_err(failed)?;
        let made = FileBackend::new(handle);
        let made = made.and_then(|backend| builder().create_with_backend(backend));
        let redb = made.map_err(|error| opening(path, error))?;
        initialize(&redb, path)?;
        Ok(redb)
    })?;
    file.persist_noclobber(path).map_err(|error| {
        // Another process has created the file meanwhile.
        match error.error.kind() {
            io::ErrorKind::AlreadyExists => DatabaseError::InUse {
                path: path.to_owned(),
            },
            _ => failed(error.error),
        }
    })?;
    // The directory entry is written to the disk as well.
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(failed)?;
    Ok(redb)
}

fn initialize(redb: &redb::Database, path: &Path) -> Result<(), DatabaseError> {
    let transaction = redb.begin_write()?;
    if let Some(tables) = tables::foreign(&transaction)? {
        return Err(DatabaseError::Foreign {
            path: path.to_owned(),
            tables,
        });
    }
    let found = tables::make(&transaction)?;
    if found != FORMAT {
        return Err(DatabaseError::Format {
            path: path.to_owned(),
            found,
        });
    }
    Ok(transaction.commit()?)
}

fn opening(path: &Path, error: redb::DatabaseError) -> DatabaseError {
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen => DatabaseError::InUse {
            path: path.to_owned(),
        },
        error => error.into(),
    }
}

thread_local! {
    /// True if a panic of this thread is caught and reported as an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which uses the database. Damage that redb finds becomes [`DatabaseError::Damaged`].
///
/// redb verifies checksums on request and reports damage as an error. If a page is damaged after the check, or passes
/// it, redb may panic. Such a panic means the same: the file is damaged. It is caught here, at the only place through
/// which redb is used, and its usual message is suppressed. The caller closes the database on this error, so that
/// incomplete state is never used.
pub(super) fn guarded<R>(
    path: &Path,
    work: impl FnOnce() -> Result<R, DatabaseError>,
) -> Result<R, DatabaseError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                usual(panic);
            }
        }));
    });
    let damaged = |reason: String| DatabaseError::Damaged {
        path: path.to_owned(),
        reason,
    };
    let was_guarded = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    match result {
        Ok(Err(DatabaseError::Storage(error))) if is_damage(&error) => {
            Err(damaged(error.to_string()))
        }
        Ok(result) => result,
        Err(panic) => Err(damaged(message(&*panic))),
    }
}

/// Returns whether an error means that the file was damaged.
fn is_damage(error: &redb::Error) -> bool {
    use io::ErrorKind::{InvalidData, UnexpectedEof};
    match error {
        redb::Error::Io(error) => matches!(error.kind(), InvalidData | UnexpectedEof),
        redb::Error::Corrupted(_)
        | redb::Error::RepairAborted
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TableIsNotMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. }
        | redb::Error::TableDoesNotExist(_) => true,
        _ => false,
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("an invalid page")
        .to_owned()
}
