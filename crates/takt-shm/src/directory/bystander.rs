//! Observer of a runtime directory that takes no part in it.
//!
//! A process that opens a [`Runtime`](crate::Runtime) and is alone removes the leftovers of dead processes. An observer that only
//! lists them, or counts them while they are removed, holds the shared lock on the directory before it opens it, and until
//! afterwards.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::directory::location::{Location, open_directory};

/// Lock of an observer; see the [module](self). While it lives, no process sweeps the directory.
#[derive(Debug)]
pub(crate) struct Bystander(rustix::io::Result<OwnedFd>);

impl Bystander {
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Self(lock(&Location::new(path).path))
    }

    /// Returns true if there is no such directory. If it cannot be used for another reason, opening it returns the error.
    pub(crate) fn sees_nothing(&self) -> bool {
        matches!(self.0, Err(Errno::NOENT))
    }
}

fn lock(path: &Path) -> rustix::io::Result<OwnedFd> {
    let directory = open_directory(path)?;
    // A process that sweeps holds the exclusive lock, and soon releases it.
    rustix::fs::flock(&directory, FlockOperation::LockShared)?;
    Ok(directory)
}
