//! Folder for runs whose files are not kept: it ends with the process that made it, however the process ends.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use takt_tsn::search_path;

use crate::error::LabError;

/// Beginning of the names of these folders.
const PREFIX: &str = ".takt-runs-";

/// Removes the folder `$1` at the end of its input, which comes with the end of the process that holds the other side. A machine that
/// was killed at the same time may still write for a moment, so it tries again. Signals for the process's terminal or group do not end it.
const GUARD: &str = "trap '' HUP INT TERM; while read -r _; do :; done; tries=0; \
                     while [ -e \"$1\" ] && [ $tries -lt 200 ]; do \
                     rm -rf -- \"$1\" 2>/dev/null; tries=$((tries+1)); [ -e \"$1\" ] && sleep 0.05; done; :";

/// Folder for runs whose files are not kept. It is removed when this value is dropped, and also if the process is killed.
///
/// After a power cut or the end of all processes of a host the folder stays; [`remove_left`](Self::remove_left) removes it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    guard: Child,
}

impl RunFolder {
    /// Makes a folder in a directory.
    ///
    /// # Errors
    /// [`LabError::Io`], [`LabError::NoProgram`].
    pub fn new(directory: &Path) -> Result<Self, LabError> {
        let failed = |path: &Path, error| LabError::Io {
            path: path.to_owned(),
            error,
        };
        // The guard works in another folder.
        let directory = directory
            .canonicalize()
            .map_err(|error| failed(directory, error))?;
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = time.map_or(0, |time| time.as_nanos());
        let name = format!("{PREFIX}{}-{nanos:x}", std::process::id());
        let path = directory.join(name);
        // It comes before the folder: at no time is there a folder without it.
        let guard = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(&path)
            .env("PATH", search_path())
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let guard = guard.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => LabError::NoProgram("sh"),
            _ => failed(Path::new("sh"), error),
        })?;
        let folder = Self { path, guard };
        fs::create_dir(&folder.path).map_err(|error| failed(&folder.path, error))?;
        Ok(folder)
    }

    /// Returns the path, which is absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folders of other processes in a directory. Nobody may use them any more.
    ///
    /// # Errors
    /// [`LabError::Io`].
    pub fn remove_left(directory: &Path) -> Result<(), LabError> {
        let failed = |path: &Path, error| LabError::Io {
            path: path.to_owned(),
            error,
        };
        for entry in fs::read_dir(directory).map_err(|error| failed(directory, error))? {
            let entry = entry.map_err(|error| failed(directory, error))?;
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                match fs::remove_dir_all(entry.path()) {
                    // Its guard may be at work.
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(failed(&entry.path(), error));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // The guard removes whatever this leaves.
        let _ = fs::remove_dir_all(&self.path);
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_folder_ends_with_its_value() {
        let directory = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(directory.path()).unwrap();
        fs::write(folder.path().join("file"), "x").unwrap();
        let guard = folder.guard.id();
        drop(folder);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(!takt_rt::process::exists(guard));
    }

    /// The end of the process that holds the input is the end of the input.
    #[test]
    fn a_folder_ends_with_the_input_of_its_guard() {
        let directory = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::new(directory.path()).unwrap();
        fs::create_dir(folder.path().join("001")).unwrap();
        fs::write(folder.path().join("001/file"), "x").unwrap();
        drop(folder.guard.stdin.take());
        let begin = Instant::now();
        while folder.path().exists() {
            assert!(begin.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(folder.guard.wait().unwrap().success());
    }

    #[test]
    fn folders_that_are_left_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let left = directory.path().join(format!("{PREFIX}1-2"));
        fs::create_dir_all(left.join("001")).unwrap();
        fs::write(directory.path().join("rows.jsonl"), "").unwrap();
        RunFolder::remove_left(directory.path()).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
