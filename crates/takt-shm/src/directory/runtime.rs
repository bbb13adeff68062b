//! The runtime directory: where applications of one user, or of one [group](crate::Group), meet.
//!
//! A user's is `$TAKT_RUNTIME_DIR`, or else `/dev/shm/takt-UID`: beside the shared memory itself, so that whoever sees the one
//! sees the other (private /tmp directories, shared IPC namespaces), and emptied by a restart of the machine as that is. It
//! belongs to the user, and nobody else can write there. If another user has made it first, it is `/run/user/UID/takt`. In it are, for each application, `<ApplicationName>.sock` and
//! `<ApplicationName>.lock`, and the files of iceoryx2.
//!
//! Every process that uses a user's directory holds a shared `flock` on it. Whoever can get the exclusive one is alone: what is left
//! then belongs to processes that were killed, and is removed. The last process to leave removes its own traces in the same way.
//!
//! A group's is described in [`group_directory`]. It is made by root and never removed, nothing of iceoryx2 is in
//! it, and nobody locks it: members could keep each other waiting by that. A name that was left there is free for the next who
//! wants it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, io};

use iceoryx2::config::Config;
use iceoryx2::prelude::{
    FileName, LogLevel, Node, NodeBuilder, NodeName, Path as IoxPath, SemanticString,
    SignalHandlingMode, set_log_level,
};
use rustix::fs::{FlockOperation, Mode, OFlags, Stat};

use crate::directory::clean;
use crate::directory::group::Group;
use crate::directory::group_directory::{self, GroupDirectory};
use crate::directory::leftovers;
use crate::directory::management;
use crate::directory::name_lock;
use crate::error::ShmError;
use crate::public::Ipc;
use crate::system;

/// Where POSIX shared memory objects are visible as files.
pub(crate) const SHARED_MEMORY_DIRECTORY: &str = "/dev/shm";

/// The environment variable that names another runtime directory.
pub const RUNTIME_DIRECTORY_VARIABLE: &str = "TAKT_RUNTIME_DIR";

/// The subdirectories that iceoryx2 makes in its root path.
const ICEORYX2_DIRECTORIES: [&str; 2] = ["nodes", "services"];

/// What is wrong with the default directory if another user has made it.
const TAKEN: &str = "belongs to another user, who or root has to remove it";

/// An opened runtime directory. Dropping the last one of the last process removes what is in a user's.
#[derive(Debug)]
pub struct Runtime {
    path: PathBuf,
    config: Config,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    User {
        /// Holds the shared lock.
        directory: OwnedFd,
        /// The default directory is removed with the last process; one that the user named is left.
        is_default: bool,
    },
    Group {
        group: Group,
        /// Members cannot remove each other's files.
        is_sticky: bool,
    },
}

/// Where a user's directory is.
pub(crate) struct Location {
    pub(crate) path: PathBuf,
    /// Nobody has named another one.
    is_default: bool,
}

impl Location {
    /// `path`, or else `$TAKT_RUNTIME_DIR`, or else the default directory.
    pub(crate) fn new(path: Option<&Path>) -> Self {
        let named = path.map(Path::to_path_buf).or_else(|| {
            env::var_os(RUNTIME_DIRECTORY_VARIABLE)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        });
        let is_default = named.is_none();
        let path = named.unwrap_or_else(|| {
            let user = rustix::process::geteuid().as_raw();
            let usual = PathBuf::from(format!("{SHARED_MEMORY_DIRECTORY}/takt-{user}"));
            not_foreign(usual, PathBuf::from(format!("/run/user/{user}/takt")), user)
        });
        Self { path, is_default }
    }
}

/// The usual directory, unless another user has made it: then the one below the user's own directory, where nobody else can make
/// anything. All processes of the user see the same.
fn not_foreign(usual: PathBuf, other: PathBuf, user: u32) -> PathBuf {
    let owner = |path: &Path| fs::symlink_metadata(path).map(|metadata| metadata.uid());
    let is_foreign = owner(&usual).is_ok_and(|owner| owner != user);
    let has_other = other
        .parent()
        .is_some_and(|parent| owner(parent).is_ok_and(|owner| owner == user));
    match is_foreign && has_other {
        true => other,
        false => usual,
    }
}

impl Runtime {
    /// Opens the directory of a group if one is named, or else the user's; `path` is another directory than the usual one.
    ///
    /// # Errors
    /// As for [`open`](Self::open) and [`open_for_group`](Self::open_for_group).
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
        set_log_level(LogLevel::Fatal);
        let group = Group::find(group)?;
        let directory = GroupDirectory::open(&group, path)?;
        let is_sticky = directory.is_sticky();
        let GroupDirectory { path, stat } = directory;
        let config = iceoryx2_config(&path, &prefix_of(&stat)).map_err(|reason| {
            ShmError::GroupDirectory {
                path: path.clone(),
                group: group.name().to_owned(),
                reason,
            }
        })?;
        Ok(Arc::new(Self {
            path,
            config,
            kind: Kind::Group { group, is_sticky },
        }))
    }

    /// Those of all groups that this process belongs to and that have a directory to share in, by name. One that is not safe to use,
    /// so that nobody can be there, is left out.
    #[must_use]
    pub fn open_for_own_groups() -> Vec<Arc<Self>> {
        let names = group_directory::names();
        let opened = names.iter().map(|name| Self::open_for_group(name, None));
        opened.filter_map(Result::ok).collect()
    }

    /// Opens `path`, or else `$TAKT_RUNTIME_DIR`, or else the default directory; makes it if it is not there.
    ///
    /// # Errors
    /// [`ShmError::RuntimeDirectory`] if it cannot be made, or is not safe to use: not a directory, not ours, or
    /// writable by others.
    pub fn open(path: Option<&Path>) -> Result<Arc<Self>, ShmError> {
        // iceoryx2 reports on stderr what it returns as an error too; its errors reach our callers.
        set_log_level(LogLevel::Fatal);
        let Location { path, is_default } = Location::new(path);
        let uid = rustix::process::geteuid().as_raw();
        let refused = |reason: String| ShmError::RuntimeDirectory {
            path: path.clone(),
            reason,
        };
        // A process that leaves may remove the directory between any two of our steps: begin again then.
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
            let config = iceoryx2_config(&path, &prefix).map_err(&refused)?;
            if try_exclusive(&directory) {
                sweep(&path, &config);
            }
            rustix::fs::flock(&directory, FlockOperation::LockShared)
                .map_err(|e| refused(format!("cannot be locked: {e}")))?;
            if is_same_file(&path, &stat) {
                return Ok(Arc::new(Self {
                    path,
                    config,
                    kind: Kind::User {
                        directory,
                        is_default,
                    },
                }));
            }
        }
        Err(refused("is removed again and again".to_owned()))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The configuration with which any iceoryx2 program reaches the public services: root path and prefix. A group has none.
    #[must_use]
    pub fn iceoryx2_config(&self) -> &Config {
        &self.config
    }

    /// A node of iceoryx2.
    pub(crate) fn node(&self, name: &str) -> Result<Node<Ipc>, ShmError> {
        let operation = "create a node";
        let name = NodeName::new(name).map_err(|e| ShmError::iceoryx(operation, e))?;
        let make = || {
            NodeBuilder::new()
                .name(&name)
                .config(&self.config)
                .signal_handling_mode(SignalHandlingMode::Disabled)
                .create::<Ipc>()
                .map_err(|e| ShmError::iceoryx(operation, e))
        };
        let shared = Path::new(SHARED_MEMORY_DIRECTORY);
        let prefix = self.config.global.prefix.to_string();
        if management::is_empty(shared, &prefix) {
            leftovers::remove_unborn(&prefix);
        }
        let node = match make() {
            Err(_) if management::remove_damaged(shared, &prefix)? => make(),
            made => made,
        };
        management::protect(shared, &prefix);
        node
    }

    /// The group that shares here; `None` in a user's directory.
    #[must_use]
    pub fn group(&self) -> Option<&Group> {
        match &self.kind {
            Kind::User { .. } => None,
            Kind::Group { group, .. } => Some(group),
        }
    }

    /// Whether the process at the other end of a socket is one of those who share here: of the same user, or in the group.
    pub(crate) fn admits(&self, socket: impl AsFd) -> bool {
        match &self.kind {
            Kind::User { .. } => system::peer(socket.as_fd())
                .is_ok_and(|peer| peer.uid == rustix::process::geteuid().as_raw()),
            Kind::Group { group, .. } => group.has_peer(socket),
        }
    }

    /// Who may connect to sockets that are made here.
    pub(crate) fn socket_mode(&self) -> Mode {
        match self.kind {
            Kind::User { .. } => OURS,
            Kind::Group { .. } => OURS.union(THE_GROUPS),
        }
    }

    /// Who may take over the lock of a name here, once its holder has died.
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

/// Reading and writing, for the owner.
const OURS: Mode = Mode::RUSR.union(Mode::WUSR);
/// And for the group.
const THE_GROUPS: Mode = Mode::RGRP.union(Mode::WGRP);

fn try_exclusive(directory: &OwnedFd) -> bool {
    rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Removes everything that processes before us left behind. Only while the exclusive lock is held.
///
/// What cannot be removed is left; whoever needs the name of it will get an error that says so.
fn sweep(path: &Path, config: &Config) {
    // Programs that use iceoryx2 without this crate hold no lock, but they are listed as alive.
    let report = clean::remove_dead_nodes(config, clean::PATIENCE);
    if report.is_none_or(|report| report.alive > 0) {
        return;
    }
    let prefix = config.global.prefix.as_bytes().to_vec();
    remove_files(Path::new(SHARED_MEMORY_DIRECTORY), |name| {
        name.as_bytes().starts_with(&prefix)
    });
    remove_files(path, |name| name.as_bytes().starts_with(&prefix));
    name_lock::remove_all(path);
    for directory in ICEORYX2_DIRECTORIES {
        let _ = fs::remove_dir_all(path.join(directory));
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let Kind::User {
            directory,
            is_default,
        } = &self.kind
        else {
            return;
        };
        // If the directory has been removed and made again, what is in it belongs to others.
        let is_current =
            rustix::fs::fstat(directory).is_ok_and(|stat| is_same_file(&self.path, &stat));
        if is_current && try_exclusive(directory) {
            sweep(&self.path, &self.config);
            if *is_default {
                // Not if something in it could not be removed.
                let _ = fs::remove_dir(&self.path);
            }
        }
    }
}

/// The same directory has the same number wherever it is mounted.
fn prefix_of(stat: &Stat) -> String {
    format!("takt_{:x}_{:x}_", stat.st_dev, stat.st_ino)
}

fn make_directory(path: &Path) -> io::Result<()> {
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

pub(crate) fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

fn check_owner(stat: &Stat, uid: u32) -> Result<(), String> {
    if stat.st_uid != uid {
        return Err(format!(
            "belongs to user {}, not to us ({uid})",
            stat.st_uid
        ));
    }
    if stat.st_mode & 0o022 != 0 {
        let mode = stat.st_mode & 0o7777;
        return Err(format!("can be written by others (mode {mode:o})"));
    }
    Ok(())
}

fn is_same_file(path: &Path, stat: &Stat) -> bool {
    rustix::fs::stat(path).is_ok_and(|now| now.st_ino == stat.st_ino && now.st_dev == stat.st_dev)
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

fn iceoryx2_config(path: &Path, prefix: &str) -> Result<Config, String> {
    let root = IoxPath::new(path.as_os_str().as_bytes())
        .map_err(|e| format!("cannot be the root path of iceoryx2: {e:?}"))?;
    let mut config = Config::default();
    let global = &mut config.global;
    global.set_root_path(&root);
    global.prefix = FileName::new(prefix.as_bytes())
        .map_err(|e| format!("gives an invalid file prefix: {e:?}"))?;
    // How long to wait for a service whose creator may have been killed half way.
    global.creation_timeout = Duration::from_millis(200);
    // We clean up ourselves, and not for each of the services that are opened.
    global.node.cleanup_dead_nodes_on_creation = false;
    global.node.cleanup_dead_nodes_on_destruction = false;
    global.service.cleanup_dead_nodes_on_open = false;
    // The defaults reserve room for 128 connections that have ended.
    let defaults = &mut config.defaults;
    defaults
        .publish_subscribe
        .subscriber_expired_connection_buffer = 4;
    defaults.request_response.client_expired_connection_buffer = 4;
    defaults.request_response.server_expired_connection_buffer = 4;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_directory_that_another_user_has_made_is_left_to_him() {
        let directory = tempfile::tempdir().unwrap();
        let us = rustix::process::geteuid().as_raw();
        let usual = directory.path().join("usual");
        let other = directory.path().join("takt");
        let chosen = |usual: &Path, user| not_foreign(usual.to_path_buf(), other.clone(), user);
        assert_eq!(chosen(&usual, us), usual);
        fs::create_dir(&usual).unwrap();
        assert_eq!(chosen(&usual, us), usual);
        // There is no directory of that user's own.
        assert_eq!(chosen(&usual, us + 1), usual);
        if std::os::unix::fs::chown(&usual, Some(us + 1), None).is_err() {
            println!("skipped: only root can make a directory of another user");
            return;
        }
        assert_eq!(chosen(&usual, us), other);
    }
}
