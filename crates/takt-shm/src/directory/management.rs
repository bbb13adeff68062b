//! Global management segment of iceoryx2: a file of 16 bytes in /dev/shm for all its processes of one prefix.
//!
//! iceoryx2 0.10 makes it with mode 0666, and makes no node while its content is wrong. So it is closed to other users as soon as
//! it exists, and made anew if it was damaged before. It holds a counter of nodes, which may begin again: process and time also
//! distinguish the numbers of nodes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::ShmError;

const SUFFIX: &str = ".global_mgmt";
const OURS_ALONE: u32 = 0o600;
/// Beginning of the prefixes of all runtime directories.
const ALL: &str = "takt_";
/// Age from which on a segment may be one of a directory that is gone. One that is younger may be that of a process that starts.
const ABANDONED: Duration = Duration::from_secs(60);

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

/// Removes old segments of this user that have another prefix than `own`, and returns their number. A process that was killed leaves one if
/// its runtime directory is removed then, as tests do. The directory of a segment cannot be found by its number; but one that is still in
/// use may be removed, too: nodes have it open only while they are made, and the next one makes it anew.
pub(crate) fn remove_abandoned(directory: &Path, own: &str) -> usize {
    let us = rustix::process::geteuid().as_raw();
    let is_old = |path: &Path| {
        let modified = fs::symlink_metadata(path).and_then(|it| it.modified());
        // A time in the future counts as new.
        let age = modified.ok().and_then(|time| time.elapsed().ok());
        age.is_some_and(|age| age > ABANDONED)
    };
    let is_own = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with(own)
    };
    let all = segments(directory, ALL).into_iter();
    let abandoned = all.filter(|(path, user)| *user == us && is_old(path) && !is_own(path));
    abandoned
        .filter(|(path, _)| fs::remove_file(path).is_ok())
        .count()
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

    /// File systems use the numbers of directories again.
    #[test]
    fn a_file_that_another_user_left_for_an_earlier_directory_is_no_hindrance() {
        let directory = tempfile::tempdir_in(SHARED_MEMORY_DIRECTORY).unwrap();
        let number = fs::metadata(directory.path()).unwrap();
        let number = format!("takt_{:x}_{:x}_", number.dev(), number.ino());
        let runtime = Runtime::open(Some(directory.path())).unwrap();
        let prefix = runtime.iceoryx2_config().global.prefix.to_string();
        drop(runtime.node("First").unwrap());
        let shared = Path::new(SHARED_MEMORY_DIRECTORY);
        let (path, _) = segments(shared, &prefix).remove(0);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let rest = name.strip_prefix(&prefix).unwrap();
        let foreign = ["", "12345_"].map(|user| shared.join(format!("{number}{user}{rest}")));
        fs::remove_file(&path).unwrap();
        for path in &foreign {
            fs::write(path, [0xFF; 16]).unwrap();
            // Only root can: for others, the file is their own, which is replaced.
            let _ = std::os::unix::fs::chown(path, Some(12345), None);
        }
        let made = runtime.node("Next").map(drop);
        for path in &foreign {
            fs::remove_file(path).unwrap();
        }
        made.unwrap();
    }

    #[test]
    fn old_segments_of_other_directories_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let old = std::time::SystemTime::now() - 2 * ABANDONED;
        let names = [
            "takt_1b_2_0_x.global_mgmt",
            "takt_1b_3_0_x.global_mgmt",
            "takt_1b_2_0_x.dynamic",
            "iox2_x.global_mgmt",
        ];
        for name in names {
            let file = fs::File::create(path(name)).unwrap();
            file.set_modified(old).unwrap();
        }
        fs::write(path("takt_1b_4_0_x.global_mgmt"), "").unwrap();
        std::os::unix::fs::symlink("/dev/null", path("takt_1b_5_0_x.global_mgmt")).unwrap();
        assert_eq!(remove_abandoned(directory.path(), "takt_1b_2_0_"), 1);
        assert!(!path("takt_1b_3_0_x.global_mgmt").exists());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 5);
        assert_eq!(remove_abandoned(&path("none"), "takt_"), 0);
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
