//! Somebody who looks at a runtime directory and is nobody there.
//!
//! Whoever opens a [`Runtime`](crate::Runtime) and finds himself alone removes what the dead have left. One who only wants to see it, or to
//! count it while it is removed, holds the shared lock on the directory before he does, and until afterwards.

use std::env;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::runtime::{RUNTIME_DIRECTORY_VARIABLE, SHARED_MEMORY_DIRECTORY};

/// See the [module](self). While it lives, nobody sweeps the directory.
#[derive(Debug)]
pub(crate) struct Bystander(rustix::io::Result<OwnedFd>);

impl Bystander {
    pub(crate) fn new(path: Option<&Path>) -> Self {
        Self(lock(&location(path)))
    }

    /// Whether there is no such directory. If it cannot be used for another reason, whoever opens it learns which.
    pub(crate) fn sees_nothing(&self) -> bool {
        matches!(self.0, Err(Errno::NOENT))
    }
}

fn lock(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::open(path, flags, Mode::empty())?;
    // Who sweeps holds the exclusive one, and is soon done.
    rustix::fs::flock(&directory, FlockOperation::LockShared)?;
    Ok(directory)
}

/// Where [`Runtime::open`](crate::Runtime::open) looks.
fn location(path: Option<&Path>) -> PathBuf {
    let named = path.map(Path::to_path_buf).or_else(|| {
        env::var_os(RUNTIME_DIRECTORY_VARIABLE)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    });
    named.unwrap_or_else(|| {
        let user = rustix::process::geteuid().as_raw();
        PathBuf::from(format!("{SHARED_MEMORY_DIRECTORY}/takt-{user}"))
    })
}
