//! Files with a password or a token.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// Texts of pipes, which are empty after the first reading: several connections of a command may need one secret.
static PIPES: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// Reads a file, which may be a pipe.
///
/// # Errors
/// The file cannot be read, has more than 64 KiB, or is not UTF-8.
pub fn read(path: &Path) -> io::Result<String> {
    // The lock is held while a pipe is read: another thread would find the pipe empty.
    let mut pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = pipes.get(path) {
        return Ok(text.clone());
    }
    let file = File::open(path)?;
    let is_pipe = file.metadata()?.file_type().is_fifo();
    let mut text = String::new();
    // One byte more than allowed tells a long file from one that fits. Its length is not asked for, because a pipe has none.
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if !u64::try_from(read).is_ok_and(|read| read <= MAX_FILE) {
        return Err(io::Error::other("it has more than 64 KiB"));
    }
    if is_pipe {
        pipes.insert(path.to_owned(), text.clone());
    }
    Ok(text)
}

/// Reads the first line of a file.
///
/// # Errors
/// As [`read`].
pub fn first_line(path: &Path) -> io::Result<String> {
    let text = read(path)?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Logs a warning if other users may read a file with a secret. A pipe has no readers but this process.
pub fn warn_of_readers(path: &Path) {
    let Ok(metadata) = std::fs::metadata(path) else {
        return;
    };
    if metadata.is_file() && metadata.mode() & 0o077 != 0 {
        tracing::warn!(
            "other users may read {}, which is secret: `chmod go= FILE` changes this",
            path.display()
        );
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn endless_files_are_refused() {
        let endless = first_line(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(endless.contains("more than 64 KiB"), "{endless}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        std::fs::write(&path, "secret\nrest\n").unwrap();
        assert_eq!(first_line(&path).unwrap(), "secret");
        // A regular file may change.
        std::fs::write(&path, "other").unwrap();
        assert_eq!(read(&path).unwrap(), "other");
    }

    #[test]
    fn the_secret_of_a_pipe_is_there_for_each_connection() {
        use std::io::Write;

        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"secret\n").unwrap();
        drop(writer);
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        for _ in 0..2 {
            assert_eq!(first_line(Path::new(&path)).unwrap(), "secret");
        }
    }
}
