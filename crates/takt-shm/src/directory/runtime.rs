//! Runtime directory: the place where applications of one user, or of one [group](crate::Group), meet.
//!
//! That of a user is `$TAKT_RUNTIME_DIR`, or else `/dev/shm/takt-UID`: beside the shared memory itself, so that a process that
//! sees the one sees the other (private /tmp directories, shared IPC namespaces), and emptied by a restart of the machine like
//! it. It belongs to the user, and no other user can write there. If another user has made it first, the directory is
//! `/run/user/UID/takt`. It contains, for each application, `<ApplicationName>.sock` and `<ApplicationName>.lock`, and the files
//! of iceoryx2.
//!
//! Every process that uses a user's directory holds a shared `flock` on it. A process that can get the exclusive one is alone:
//! then the remaining files belong to processes that were killed, and are removed. The last process to leave removes its own
//! files in the same way.
//!
//! That of a group is described in [`group_directory`]. Root makes it, it is never removed, it contains nothing of iceoryx2, and
//! no process locks it: members could block each other that way. A name that was left there is free for the next application that
//! takes it.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "iceoryx2")]
use iceoryx2::config::Config;
use rustix::fs::{FlockOperation, Mode};

use crate::directory::group::Group;
use crate::directory::group_directory::{self, GroupDirectory};
use crate::directory::location::{
    Location, check_owner, is_same_file, make_directory, open_directory,
};
use crate::directory::public_files::{PublicFiles, prefix_of};
use crate::directory::sweep::{sweep, try_exclusive};
use crate::error::ShmError;
use crate::system;

/// Error of the default directory if another user has made it.
const TAKEN: &str = "belongs to another user: only that user or root can remove it";

/// Opened runtime directory. Dropping the last one of the last process removes the content of a user's directory.
#[derive(Debug)]
pub struct Runtime {
    path: PathBuf,
    public_files: PublicFiles,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    User {
        /// Directory with the shared lock.
        directory: OwnedFd,
        /// True if this is the default directory, which is removed with the last process; a directory named by the user stays.
        is_default: bool,
    },
    Group {
        group: Group,
        /// True if members cannot remove each other's files.
        is_sticky: bool,
    },
}

impl Runtime {
    /// Opens the directory of a group if one is named, or else the user's; `path` is another directory than the usual one.
    ///
    /// # Errors
    /// The errors are those of [`open`](Self::open) and [`open_for_group`](Self::open_for_group).
    pub fn find(group: Option<&str>, path: Option<&Path>) -> Result<Arc<Self>, ShmError> {
        match group {
            Some(group) => Self::open_for_group(group, path),
            None => Self::open(path),
        }
    }

    /// Opens the directory in which a group shares, given by its name or number: `path`, or else `$TAKT_GROUP_ROOT/GROUP`, or
    /// else `/run/takt/GROUP`.
    ///
    /// # Errors
    /// [`ShmError::NoSuchGroup`], [`ShmError::AccessDenied`] if this process does not belong to the group,
    /// [`ShmError::GroupDirectory`] if the directory is missing or not safe to use: not root's, not the group's, or open to others.
    pub fn open_for_group(group: &str, path: Option<&Path>) -> Result<Arc<Self>, ShmError> {
        keep_quiet();
        let group = Group::find(group)?;
        let directory = GroupDirectory::open(&group, path)?;
        let is_sticky = directory.is_sticky();
        let GroupDirectory { path, stat } = directory;
        let public_files = PublicFiles::new(&path, &prefix_of(&stat)).map_err(|reason| {
            ShmError::GroupDirectory {
                path: path.clone(),
                group: group.name().to_owned(),
                reason,
            }
        })?;
        Ok(Arc::new(Self {
            path,
            public_files,
            kind: Kind::Group { group, is_sticky },
        }))
    }

    /// Opens the directories of all groups that this process belongs to and that have one, by name. An unsafe directory, in which
    /// no application can be, is left out.
    #[must_use]
    pub fn open_for_own_groups() -> Vec<Arc<Self>> {
        let names = group_directory::names();
        let opened = names.iter().map(|name| Self::open_for_group(name, None));
        opened.filter_map(Result::ok).collect()
    }

    /// Opens `path`, or else `$TAKT_RUNTIME_DIR`, or else the default directory; makes it if it is not there.
    ///
    /// # Errors
    /// [`ShmError::RuntimeDirectory`] if it cannot be made, or is not safe to use: not a directory, not the user's, or
    /// writable by others.
    pub fn open(path: Option<&Path>) -> Result<Arc<Self>, ShmError> {
        keep_quiet();
        let Location { path, is_default } = Location::new(path);
        let uid = rustix::process::geteuid().as_raw();
        let refused = |reason: String| ShmError::RuntimeDirectory {
            path: path.clone(),
            reason,
        };
        // A process that leaves may remove the directory between any two of these steps: begin again then.
        for _ in 0..100 {
            make_directory(&path).map_err(|e| refused(format!("cannot be made: {e}")))?;
            let directory = match open_directory(&path) {
                Ok(directory) => directory,
                Err(rustix::io::Errno::NOENT) => continue,
                Err(rustix::io::Errno::ACCESS) if is_default => {
                    return Err(refused(TAKEN.to_owned()));
                }
                Err(rustix::io::Errno::ACCESS) => {
                    return Err(ShmError::AccessDenied(format!(
                        "the runtime directory {} belongs to another user",
                        path.display()
                    )));
                }
                Err(e) => return Err(refused(format!("cannot be opened: {e}"))),
            };
            let stat = rustix::fs::fstat(&directory).map_err(|e| refused(e.to_string()))?;
            check_owner(&stat, uid).map_err(&refused)?;
            let prefix = if is_default {
                format!("takt_{uid}_")
            } else {
                prefix_of(&stat)
            };
            let public_files = PublicFiles::new(&path, &prefix).map_err(&refused)?;
            if try_exclusive(&directory) {
                sweep(&path, &public_files);
            }
            rustix::fs::flock(&directory, FlockOperation::LockShared)
                .map_err(|e| refused(format!("cannot be locked: {e}")))?;
            // Another process may have removed the directory before it was locked.
            if is_same_file(&path, &stat) {
                return Ok(Arc::new(Self {
                    path,
                    public_files,
                    kind: Kind::User {
                        directory,
                        is_default,
                    },
                }));
            }
        }
        Err(refused(
            "was removed by other processes several times".to_owned(),
        ))
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the configuration with which any iceoryx2 program reaches the public services: root path and prefix. A group has
    /// none.
    #[cfg(feature = "iceoryx2")]
    #[must_use]
    pub fn iceoryx2_config(&self) -> &Config {
        &self.public_files.config
    }

    pub(crate) fn public_files(&self) -> &PublicFiles {
        &self.public_files
    }

    /// Returns the group that shares here; `None` in a user's directory.
    #[must_use]
    pub fn group(&self) -> Option<&Group> {
        match &self.kind {
            Kind::User { .. } => None,
            Kind::Group { group, .. } => Some(group),
        }
    }

    /// Returns true if the process at the other end of a socket is one of those that share here: of the same user, or in the
    /// group.
    pub(crate) fn admits(&self, socket: impl AsFd) -> bool {
        match &self.kind {
            Kind::User { .. } => system::peer(socket.as_fd())
                .is_ok_and(|peer| peer.uid == rustix::process::geteuid().as_raw()),
            Kind::Group { group, .. } => group.has_peer(socket),
        }
    }

    /// Returns the mode of sockets that are made here, which determines the processes that may connect.
    pub(crate) fn socket_mode(&self) -> Mode {
        match self.kind {
            Kind::User { .. } => OURS,
            Kind::Group { .. } => OURS.union(THE_GROUPS),
        }
    }

    /// Returns the mode of locks that are made here, which determines the processes that may take over a name after the death of
    /// its holder.
    pub(crate) fn lock_mode(&self) -> Mode {
        match self.kind {
            Kind::Group {
                is_sticky: false, ..
            } => OURS.union(THE_GROUPS),
            // Another user could not remove the socket, and would only keep the name from its user.
            _ => OURS,
        }
    }
}

/// Keeps iceoryx2 from reporting on stderr the errors that it returns: they reach the callers.
fn keep_quiet() {
    #[cfg(feature = "iceoryx2")]
    iceoryx2::prelude::set_log_level(iceoryx2::prelude::LogLevel::Fatal);
}

/// Permission to read and write for the owner.
const OURS: Mode = Mode::RUSR.union(Mode::WUSR);
/// Permission to read and write for the group.
const THE_GROUPS: Mode = Mode::RGRP.union(Mode::WGRP);

impl Drop for Runtime {
    fn drop(&mut self) {
        let Kind::User {
            directory,
            is_default,
        } = &self.kind
        else {
            return;
        };
        // If the directory has been removed and made again, its content belongs to others.
        let is_current =
            rustix::fs::fstat(directory).is_ok_and(|stat| is_same_file(&self.path, &stat));
        if is_current && try_exclusive(directory) {
            sweep(&self.path, &self.public_files);
            if *is_default {
                // The directory stays if a file in it could not be removed.
                let _ = fs::remove_dir(&self.path);
            }
        }
    }
}
