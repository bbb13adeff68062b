//! Removal of everything in a user's runtime directory, by a process that is alone there.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::directory::name_files;
use crate::directory::public_files::{PATIENCE, PublicFiles};

/// Takes the exclusive lock on a directory, if no other process uses it.
pub(crate) fn try_exclusive(directory: &OwnedFd) -> bool {
    rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Removes everything that earlier processes left behind. It may be called only while the exclusive lock is held.
///
/// Files that cannot be removed stay; a process that needs their names gets an error for them.
pub(crate) fn sweep(path: &Path, public_files: &PublicFiles) {
    // Programs that use iceoryx2 without this crate hold no lock, but they are listed as alive.
    let report = public_files.remove_dead(PATIENCE);
    if report.is_none_or(|report| report.alive > 0) {
        return;
    }
    public_files.remove_all(path);
    name_files::remove_all(path);
}
