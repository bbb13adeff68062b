//! Files that commands write.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file completely, or not at all: a full disk leaves no part of it. With `replace`, the file may replace another one.
///
/// # Errors
/// The file cannot be written; without `replace` [`io::ErrorKind::AlreadyExists`].
pub fn write(path: &Path, bytes: &[u8], replace: bool) -> io::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    // The last step renames the file, which has to be in the same file system.
    let mut file = tempfile::Builder::new()
        // As for any new file, without the permissions that the user takes away.
        .permissions(PermissionsExt::from_mode(0o666))
        .tempfile_in(parent.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    let persisted = match replace {
        true => file.persist(path),
        false => file.persist_noclobber(path),
    };
    persisted.map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_written_completely_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        write(&path, b"first", false).unwrap();
        let refused = write(&path, b"second", false).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write(&path, b"third", true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        // The content is complete before the file has its name: no other file is left in the folder.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
