//! Folder in which the files of a bundle are made ready, and its removal.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use takt_rt::file_lock::FileLock;

/// Beginning of the names of the folders.
const PREFIX: &str = ".takt-bundle-";

/// Number of attempts to remove a folder, in which another thread may make files meanwhile.
const REMOVALS: usize = 100;

/// Folder in which the files of a bundle are made ready, beside the archive: they may be as long as the run. Its user has a note of it,
/// so that [`remove_killed_bundles`] finds it after kill -9. Both are removed when this is dropped.
#[derive(Debug)]
pub struct BundleWorkplace {
    path: PathBuf,
    /// Link to the folder, in the directory of notes.
    note: Option<PathBuf>,
    /// The folder, whose lock ends with the process.
    _lock: FileLock,
}

impl BundleWorkplace {
    /// Creates the folder in this directory, with a note in that of `notes`, which is made if it is missing. Without a place for notes,
    /// it has none.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(beside: &Path, notes: Option<&Path>) -> io::Result<Self> {
        let beside = beside.canonicalize()?;
        let id = std::process::id();
        for number in 0..1_000 {
            let path = beside.join(format!("{PREFIX}{id}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            }
            let lock = locked(&path).and_then(|lock| {
                lock.ok_or_else(|| io::Error::other("another process is removing the folder"))
            });
            return match lock {
                Ok(lock) => Ok(Self {
                    note: notes.and_then(|notes| note(notes, &path)),
                    path,
                    _lock: lock,
                }),
                Err(error) => {
                    let _ = fs::remove_dir(&path);
                    Err(error)
                }
            };
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the removal of folder and note, for a thread that ends the process.
    pub fn removal(&self) -> impl FnOnce() + Send + 'static {
        let (path, note) = (self.path.clone(), self.note.clone());
        move || remove(&path, note.as_deref())
    }
}

impl Drop for BundleWorkplace {
    fn drop(&mut self) {
        remove(&self.path, self.note.as_deref());
    }
}

/// Removes the folders of bundles whose process was killed, of which this directory has notes, and returns their number. Folders of
/// running processes stay.
///
/// # Errors
/// A folder cannot be removed.
pub fn remove_killed_bundles(notes: &Path) -> io::Result<usize> {
    let entries = match fs::read_dir(notes) {
        // A user has no notes in a directory that it may not read, such as that of another user.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
            ) =>
        {
            return Ok(0);
        }
        entries => entries?,
    };
    let (mut removed, mut failure) = (0, None);
    for note in entries.flatten() {
        let note = note.path();
        let Ok(path) = fs::read_link(&note) else {
            continue;
        };
        let name = path.file_name().unwrap_or_default();
        if !name.to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        match locked(&path) {
            // It is in use.
            Ok(None) => {}
            Ok(Some(_lock)) => match fs::remove_dir_all(&path) {
                Ok(()) => {
                    removed += 1;
                    let _ = fs::remove_file(&note);
                }
                Err(error) => failure = Some(at(&path, &error)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let _ = fs::remove_file(&note);
            }
            Err(error) => failure = Some(at(&path, &error)),
        }
    }
    failure.map_or(Ok(removed), Err)
}

/// Returns an error that names the path.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Writes a note of a folder. Errors are ignored: only `takt clean` needs it.
fn note(notes: &Path, path: &Path) -> Option<PathBuf> {
    fs::create_dir_all(notes).ok()?;
    // Processes in other namespaces may have the same id, and bundles in other directories the same name.
    for number in 0..1_000 {
        let note = notes.join(format!("{}-{number}", std::process::id()));
        match symlink(path, &note) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.ok().map(|()| note),
        }
    }
    None
}

/// Takes the lock of a folder; `None` if another process has it. It ends with the returned lock.
fn locked(path: &Path) -> io::Result<Option<FileLock>> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let folder = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    Ok(FileLock::try_take(folder)?)
}

/// Removes a folder and its note.
fn remove(path: &Path, note: Option<&Path>) {
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            // A new file has come meanwhile.
            _ => {}
        }
    }
    if let Some(note) = note.filter(|_| !path.exists()) {
        let _ = fs::remove_file(note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the entries of a directory.
    fn entries(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries
            .map(|it| it.file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_folder_of_a_killed_process_is_removed_and_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let (place, notes) = (directory.path().join("place"), directory.path().join("a/b"));
        fs::create_dir(&place).unwrap();
        let killed = BundleWorkplace::new(&place, Some(&notes)).unwrap();
        let running = BundleWorkplace::new(&place, Some(&notes)).unwrap();
        let without_note = BundleWorkplace::new(&place, None).unwrap();
        fs::create_dir(killed.path().join("001")).unwrap();
        fs::write(killed.path().join("001/file"), "").unwrap();
        assert_eq!(remove_killed_bundles(&notes).unwrap(), 0);
        let killed_path = killed.path.clone();
        // The lock ends as with kill -9, and folder and note stay.
        let BundleWorkplace { _lock, .. } = &killed;
        rustix::fs::flock(_lock, rustix::fs::FlockOperation::Unlock).unwrap();
        symlink("/tmp", notes.join("foreign")).unwrap();
        assert_eq!(remove_killed_bundles(&notes).unwrap(), 1);
        assert!(!killed_path.exists() && running.path().exists());
        assert_eq!(entries(&notes).len(), 2);
        drop(killed);
        drop(running);
        drop(without_note);
        assert_eq!(entries(&place), Vec::<String>::new());
        assert_eq!(entries(&notes), ["foreign"]);
        assert_eq!(remove_killed_bundles(&place.join("none")).unwrap(), 0);
    }
}
