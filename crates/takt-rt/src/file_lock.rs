//! Locks of files and folders (`flock`), which the kernel ends with their process, also after kill -9.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Exclusive lock of an open file or folder. Dropping it ends the lock.
///
/// Closing the file would not be enough. A child that another thread has just forked has a copy of the descriptor until it executes its
/// program, and the kernel keeps the lock for as long as there is a copy. So the lock is ended first.
#[derive(Debug)]
pub struct FileLock<F: AsFd = File>(F);

impl<F: AsFd> FileLock<F> {
    /// Takes the lock; `None` if another open file has it.
    ///
    /// # Errors
    /// Those of flock(2): a file system without such locks, for example.
    pub fn try_take(file: F) -> Result<Option<Self>, Errno> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self(file))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits for the lock.
    ///
    /// # Errors
    /// Those of [`try_take`](Self::try_take).
    pub fn take(file: F) -> Result<Self, Errno> {
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(Self(file))
    }
}

impl<F: AsFd> AsFd for FileLock<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<F: AsFd> Drop for FileLock<F> {
    fn drop(&mut self) {
        // Closing the file follows, which ends the lock too unless there is a copy.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_lock_ends_although_there_is_a_copy_of_its_descriptor() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::open(folder.path()).unwrap();
        let first = FileLock::try_take(open()).unwrap().unwrap();
        assert!(FileLock::try_take(open()).unwrap().is_none());
        // As in a child between fork and exec.
        let copy = first.0.try_clone().unwrap();
        drop(first);
        let second = FileLock::try_take(open()).unwrap().unwrap();
        drop(copy);
        assert!(FileLock::try_take(open()).unwrap().is_none());
        drop(second);
        drop(FileLock::take(open()).unwrap());
    }
}
