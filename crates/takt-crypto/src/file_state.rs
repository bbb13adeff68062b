//! Detection of changes of files.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// State of a file or folder: another one after each change of its content, owner or mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    changed: SystemTime,
    inode: u64,
    length: u64,
}

impl FileState {
    /// Time in which a local file may change twice with the same time stamp: more than a tick of the kernel.
    pub const SAME_TIME: Duration = Duration::from_millis(100);

    /// Returns the state; `None` if the file cannot be examined.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let file = fs::metadata(path).ok()?;
        // Before 1970 for a clock that was never set.
        let seconds = u64::try_from(file.ctime()).unwrap_or_default();
        let nanoseconds = u32::try_from(file.ctime_nsec()).unwrap_or_default();
        Some(Self {
            changed: SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds),
            inode: file.ino(),
            length: file.len(),
        })
    }

    /// Returns the time of the last change, which no program can set.
    #[must_use]
    pub fn changed(&self) -> SystemTime {
        self.changed
    }

    /// Returns true if the last change is longer ago than `resolution`: a file that is changed now gets another state then.
    #[must_use]
    pub fn has_passed(&self, resolution: Duration) -> bool {
        // After the clock was set back, the change may be in the future: it has not passed then.
        self.changed.elapsed().is_ok_and(|age| age > resolution)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_change_of_the_mode_is_another_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!(FileState::of(&path), None);
        fs::write(&path, b"1").unwrap();
        let before = FileState::of(&path).unwrap();
        std::thread::sleep(2 * FileState::SAME_TIME);
        assert!(before.has_passed(FileState::SAME_TIME));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_ne!(FileState::of(&path).unwrap(), before);
    }
}
