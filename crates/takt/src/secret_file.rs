//! Files with a password or a token.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// Reads a file, which may be a pipe.
///
/// # Errors
/// The file cannot be read, has more than 64 KiB, or is not UTF-8.
pub fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    // One byte more than allowed tells a long file from one that fits. Its length is not asked for, because a pipe has none.
    let read = File::open(path)?
        .take(MAX_FILE + 1)
        .read_to_string(&mut text)?;
    match u64::try_from(read).is_ok_and(|read| read <= MAX_FILE) {
        true => Ok(text),
        false => Err(io::Error::other("it has more than 64 KiB")),
    }
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
    }
}
