//! Directory that a command is writing. It is removed unless it becomes complete: half a directory would look like a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of attempts to remove the directory.
const REMOVALS: usize = 100;

/// Directory that is being written. When this is dropped before [`finish`](Self::finish), what was written is removed, and the
/// directories that were made for it: one that was there, and empty, stays.
#[derive(Debug)]
pub struct UnfinishedDirectory(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
enum Progress {
    /// Nothing was written.
    Untouched,
    /// Files are being written.
    Begun {
        /// Directories that were made, the innermost one first.
        made: Vec<PathBuf>,
    },
    Finished,
    Removed,
}

impl UnfinishedDirectory {
    /// Names the directory, and makes nothing.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self(Arc::new(Shared {
            directory: directory.to_owned(),
            progress: Mutex::new(Progress::Untouched),
        }))
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.directory
    }

    /// Makes the directory, if it is not there: from now on, all that is in it belongs to the command.
    ///
    /// # Errors
    /// It cannot be made, or was [removed](Self::removal).
    pub fn begin(&self) -> io::Result<()> {
        let mut progress = self.0.progress();
        if let Progress::Removed = *progress {
            return Err(interrupted());
        }
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing = self.0.directory.ancestors().take_while(missing);
        *progress = Progress::Begun {
            made: missing.map(Path::to_owned).collect(),
        };
        fs::create_dir_all(&self.0.directory)
    }

    /// Takes a short step, such as the creation of a file. No step begins after the [removal](Self::removal).
    ///
    /// # Errors
    /// The directory was removed, or that of the step.
    pub fn step<T>(&self, step: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let progress = self.0.progress();
        match *progress {
            Progress::Removed => Err(interrupted()),
            _ => step(),
        }
    }

    /// Copies a file, with its permissions. The directory can be removed meanwhile.
    ///
    /// # Errors
    /// A file cannot be read or written, or the directory was removed.
    pub fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut input = fs::File::open(from)?;
        let permissions = input.metadata()?.permissions();
        let mut output = self.step(|| fs::File::create(to))?;
        io::copy(&mut input, &mut output)?;
        output.set_permissions(permissions)
    }

    /// Takes the last step: with it, the directory is complete, and stays.
    ///
    /// # Errors
    /// Those of the step; that of `failed` if the directory was removed.
    pub fn finish<E>(
        &self,
        step: impl FnOnce() -> Result<(), E>,
        failed: impl FnOnce(io::Error) -> E,
    ) -> Result<(), E> {
        let mut progress = self.0.progress();
        if let Progress::Removed = *progress {
            return Err(failed(interrupted()));
        }
        step()?;
        *progress = Progress::Finished;
        Ok(())
    }

    /// Returns the removal, for a thread that ends the process. It returns true if the directory is complete, and stays.
    pub fn removal(&self) -> impl FnOnce() -> bool + Send + 'static {
        let shared = Arc::clone(&self.0);
        move || shared.remove()
    }
}

impl Drop for UnfinishedDirectory {
    fn drop(&mut self) {
        self.0.remove();
    }
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes an unfinished directory; returns true if it is complete.
    fn remove(&self) -> bool {
        let mut progress = self.progress();
        let made = match std::mem::replace(&mut *progress, Progress::Removed) {
            Progress::Begun { made } => made,
            Progress::Finished => {
                *progress = Progress::Finished;
                return true;
            }
            Progress::Untouched | Progress::Removed => return false,
        };
        for _ in 0..REMOVALS {
            if self.removed(&made).is_ok() {
                break;
            }
        }
        for path in made {
            // Others may have put something beside it.
            let _ = fs::remove_dir(path);
        }
        false
    }

    fn removed(&self, made: &[PathBuf]) -> io::Result<()> {
        if !made.is_empty() {
            return match fs::remove_dir_all(&self.directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            };
        }
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
        Ok(())
    }
}

fn interrupted() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "interrupted")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(unfinished: &UnfinishedDirectory) {
        unfinished.begin().unwrap();
        let inner = unfinished.path().join("001");
        unfinished.step(|| fs::create_dir(&inner)).unwrap();
        let from = unfinished.path().join("from");
        unfinished.step(|| fs::write(&from, "text")).unwrap();
        unfinished.copy(&from, &inner.join("to")).unwrap();
        assert_eq!(fs::read(inner.join("to")).unwrap(), b"text");
    }

    #[test]
    fn an_unfinished_directory_is_removed_with_those_that_were_made_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let unfinished = UnfinishedDirectory::new(&folder.path().join("a/b"));
        write(&unfinished);
        drop(unfinished);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // An empty one that was there stays.
        let unfinished = UnfinishedDirectory::new(folder.path());
        write(&unfinished);
        let removal = unfinished.removal();
        assert!(!removal());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let late = unfinished.step(|| fs::write(folder.path().join("late"), ""));
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert!(unfinished.begin().is_err());
        assert!(unfinished.finish(|| Ok(()), |error| error).is_err());
    }

    #[test]
    fn finished_directories_and_those_not_begun_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("of the user"), "").unwrap();
        drop(UnfinishedDirectory::new(folder.path()));
        let path = folder.path().join("run");
        let unfinished = UnfinishedDirectory::new(&path);
        write(&unfinished);
        let fails = || Err(io::Error::other("full"));
        assert!(unfinished.finish(fails, |error| error).is_err());
        unfinished.finish(|| Ok(()), |error| error).unwrap();
        let removal = unfinished.removal();
        assert!(removal());
        drop(unfinished);
        assert!(path.join("001/to").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
