//! Removal of everything in a user's runtime directory, by a process that is alone there.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use iceoryx2::config::Config;
use iceoryx2::prelude::SemanticString;
use rustix::fs::FlockOperation;

use crate::directory::dead_nodes;
use crate::directory::location::SHARED_MEMORY_DIRECTORY;
use crate::directory::name_files;

/// Subdirectories that iceoryx2 makes in its root path.
const ICEORYX2_DIRECTORIES: [&str; 2] = ["nodes", "services"];

/// Takes the exclusive lock on a directory, if no other process uses it.
pub(crate) fn try_exclusive(directory: &OwnedFd) -> bool {
    rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Removes everything that earlier processes left behind. It may be called only while the exclusive lock is held.
///
/// Files that cannot be removed stay; a process that needs their names gets an error for them.
pub(crate) fn sweep(path: &Path, config: &Config) {
    // Programs that use iceoryx2 without this crate hold no lock, but they are listed as alive.
    let report = dead_nodes::remove(config, dead_nodes::PATIENCE);
    if report.is_none_or(|report| report.alive > 0) {
        return;
    }
    let prefix = config.global.prefix.as_bytes().to_vec();
    remove_files(Path::new(SHARED_MEMORY_DIRECTORY), |name| {
        name.as_bytes().starts_with(&prefix)
    });
    remove_files(path, |name| name.as_bytes().starts_with(&prefix));
    name_files::remove_all(path);
    for directory in ICEORYX2_DIRECTORIES {
        let _ = fs::remove_dir_all(path.join(directory));
    }
}

fn remove_files(directory: &Path, is_garbage: impl Fn(&OsStr) -> bool) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        if is_garbage(&entry.file_name()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
