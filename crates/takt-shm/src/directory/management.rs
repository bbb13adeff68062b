//! Global management segment of iceoryx2: a file of 16 bytes in /dev/shm for all its processes of one prefix.
//!
//! iceoryx2 0.10 makes it with mode 0666, and makes no node while its content is wrong. So it is closed to other users as soon as
//! it exists, and made anew if it was damaged before. It holds a counter of nodes, which may begin again: process and time also
//! distinguish the numbers of nodes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::ShmError;

const SUFFIX: &str = ".global_mgmt";
const OURS_ALONE: u32 = 0o600;

/// Returns the segments of that prefix in a directory, and their owners.
fn segments(directory: &Path, prefix: &str) -> Vec<(PathBuf, u32)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let segments = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(prefix) && name.ends_with(SUFFIX)
    });
    // The target of a link is not checked.
    segments
        .filter_map(|entry| Some((entry.path(), fs::symlink_metadata(entry.path()).ok()?)))
        .filter(|(_, metadata)| metadata.is_file())
        .map(|(path, metadata)| (path, metadata.uid()))
        .collect()
}

/// Closes the segment to other users.
pub(crate) fn protect(directory: &Path, prefix: &str) {
    let us = rustix::process::geteuid().as_raw();
    for (path, _) in segments(directory, prefix).iter().filter(|it| it.1 == us) {
        // Only its owner can put another file in its place: the directory is sticky.
        let _ = fs::set_permissions(path, Permissions::from_mode(OURS_ALONE));
    }
}

/// Returns true if the segment has no size, for which iceoryx2 waits without end.
pub(crate) fn is_empty(directory: &Path, prefix: &str) -> bool {
    segments(directory, prefix)
        .iter()
        .any(|(path, _)| fs::metadata(path).is_ok_and(|it| it.len() == 0))
}

/// Removes the segment, because no node could be made. Returns true if there was one.
///
/// # Errors
/// [`ShmError::ForeignFile`] if another user has made it.
pub(crate) fn remove_damaged(directory: &Path, prefix: &str) -> Result<bool, ShmError> {
    let us = rustix::process::geteuid().as_raw();
    let mut removed = false;
    for (path, user) in segments(directory, prefix) {
        if user != us {
            return Err(ShmError::ForeignFile { path, user });
        }
        removed |= fs::remove_file(path).is_ok();
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::location::SHARED_MEMORY_DIRECTORY;
    use crate::directory::runtime::Runtime;

    #[test]
    fn an_overwritten_segment_is_replaced() {
        let directory = tempfile::tempdir_in(SHARED_MEMORY_DIRECTORY).unwrap();
        let runtime = Runtime::open(Some(directory.path())).unwrap();
        let prefix = runtime.iceoryx2_config().global.prefix.to_string();
        let shared = Path::new(SHARED_MEMORY_DIRECTORY);
        let first = runtime.node("First").unwrap();
        let [(path, user)] = &segments(shared, &prefix)[..] else {
            panic!("there is one segment");
        };
        assert_eq!(*user, rustix::process::geteuid().as_raw());
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, OURS_ALONE);
        for damage in [&[0xFF_u8; 16][..], &[0; 16], b""] {
            fs::write(path, damage).unwrap();
            runtime.node("Next").unwrap();
        }
        drop(first);
    }

    #[test]
    fn a_file_of_another_user_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("takt_1_x.global_mgmt");
        fs::write(&path, "").unwrap();
        if std::os::unix::fs::chown(&path, Some(12345), None).is_err() {
            println!("skipped: only root can make a file of another user");
            return;
        }
        let error = remove_damaged(directory.path(), "takt_1_").unwrap_err();
        assert!(error.to_string().contains("12345"), "{error}");
        assert!(path.exists());
    }
}
