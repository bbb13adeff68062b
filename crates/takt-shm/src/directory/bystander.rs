//! Somebody who looks at a runtime directory and is nobody there.
//!
//! Whoever opens a [`Runtime`](crate::Runtime) and finds himself alone removes what the dead have left. One who only wants to see it, or to
//! count it while it is removed, holds the shared lock on the directory before he does, and until afterwards.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::directory::runtime::{Location, open_directory};

/// See the [module](self). While it lives, nobody sweeps the directory.
#[derive(Debug)]
pub(crate) struct Bystander(rustix::io::Result<OwnedFd>);

impl Bystander {
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Self(lock(&Location::new(path).path))
    }

    /// Whether there is no such directory. If it cannot be used for another reason, whoever opens it learns which.
    pub(crate) fn sees_nothing(&self) -> bool {
        matches!(self.0, Err(Errno::NOENT))
    }
}

fn lock(path: &Path) -> rustix::io::Result<OwnedFd> {
    let directory = open_directory(path)?;
    // Who sweeps holds the exclusive one, and is soon done.
    rustix::fs::flock(&directory, FlockOperation::LockShared)?;
    Ok(directory)
}
