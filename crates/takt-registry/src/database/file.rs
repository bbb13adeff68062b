//! The database's file: making it, opening it, and what a damaged one becomes.

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

use super::{DatabaseError, tables};

/// The file is for this user alone: keys are in it.
const MODE: u32 = 0o600;

/// Opens the file and checks every page of it, or makes a new one where there is none.
///
/// An empty file is no new database: it is what a full disk, a broken copy or a truncation leaves.
pub(super) fn open_or_make(path: &Path) -> Result<redb::Database, DatabaseError> {
    match std::fs::metadata(path) {
        Ok(file) if file.len() == 0 => Err(DatabaseError::Empty {
            path: path.to_owned(),
        }),
        Ok(_) => guarded(path, || {
            let redb = open(path, Builder::new().set_check_integrity_on_open(true))?;
            initialize(&redb, path)?;
            Ok(redb)
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path),
        Err(error) => Err(redb::Error::Io(error).into()),
    }
}

/// Opens the file that was open before, as it was when it was last settled. Nothing is made, and pages that were good
/// when the registry started are not read again.
pub(super) fn open_again(path: &Path) -> Result<redb::Database, DatabaseError> {
    guarded(path, || open(path, &Builder::new()))
}

fn open(path: &Path, builder: &Builder) -> Result<redb::Database, DatabaseError> {
    std::fs::set_permissions(path, Permissions::from_mode(MODE)).map_err(redb::Error::Io)?;
    builder.open(path).map_err(|error| opening(path, error))
}

/// Makes the file under another name and gives it its own when it is complete: who is killed meanwhile leaves no
/// empty file.
fn make(path: &Path) -> Result<redb::Database, DatabaseError> {
    let directory = path.parent().filter(|path| !path.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let failed = |error| DatabaseError::from(redb::Error::Io(error));
    // For this user alone from the beginning.
    let file = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(directory)
        .map_err(failed)?;
    let redb = guarded(path, || {
        let handle = file.as_file().try_clone().map_err(failed)?;
        let made = FileBackend::new(handle);
        let made = made.and_then(|backend| Builder::new().create_with_backend(backend));
        let redb = made.map_err(|error| opening(path, error))?;
        initialize(&redb, path)?;
        Ok(redb)
    })?;
    file.persist_noclobber(path).map_err(|error| {
        // Somebody else has made it meanwhile.
        match error.error.kind() {
            io::ErrorKind::AlreadyExists => DatabaseError::InUse {
                path: path.to_owned(),
            },
            _ => failed(error.error),
        }
    })?;
    // The name is on the disk as well.
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(failed)?;
    Ok(redb)
}

fn initialize(redb: &redb::Database, path: &Path) -> Result<(), DatabaseError> {
    let transaction = redb.begin_write()?;
    let found = tables::make(&transaction)?;
    if found != tables::FORMAT {
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
/// redb verifies checksums when it is asked to, and promises an error then; where it follows a page that passed, or
/// that was damaged after the check, it may panic. Such a panic says the same as the error: the file is damaged. So
/// it is caught here, at the one place that all use of redb goes through, and the panic's usual message is left out.
/// Whoever gets the error closes the database, so that nothing that was left half done is used again.
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

/// Returns whether an error says that the file is not what was written.
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
        .unwrap_or("a page that makes no sense")
        .to_owned()
}
