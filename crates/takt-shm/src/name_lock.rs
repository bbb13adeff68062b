//! One application per name: an `flock` on `<ApplicationName>.lock`.
//!
//! The kernel releases the lock when its holder ends, however it ends. The file may then be left; it says nothing
//! by itself: who can lock it takes the name over. In the directory of a group any member can, unless the directory is sticky:
//! then a name stays with its user.
//!
//! In the file are the process id of its holder and, after a blank, the number of the PID namespace in which it has that id: for
//! people, and for nothing that is decided.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::address::ApplicationName;
use crate::clean;
use crate::error::ShmError;
use crate::runtime::Runtime;

const LOCK_SUFFIX: &str = "lock";
const SOCKET_SUFFIX: &str = "sock";

/// Others may be cleaning up the same name; nobody does that so often.
const ATTEMPTS: u32 = 1000;

/// The right to be the application of that name. Dropping it removes the lock and the socket.
#[derive(Debug)]
pub(crate) struct NameLock {
    lock: PathBuf,
    socket: PathBuf,
    /// An application of that name was killed before, and may have left more than its name.
    had_died: bool,
    _file: OwnedFd,
}

/// Where the application of that name listens.
pub(crate) fn socket_path(runtime: &Runtime, name: &ApplicationName) -> PathBuf {
    runtime.path().join(format!("{name}.{SOCKET_SUFFIX}"))
}

fn lock_path(runtime: &Runtime, name: &ApplicationName) -> PathBuf {
    runtime.path().join(format!("{name}.{LOCK_SUFFIX}"))
}

/// Whether a file in the runtime directory is a lock or a socket of an application.
pub(crate) fn is_ours(file_name: &OsStr) -> bool {
    application_of(file_name).is_some()
}

fn application_of(file_name: &OsStr) -> Option<ApplicationName> {
    let (name, suffix) = file_name.to_str()?.rsplit_once('.')?;
    if suffix != LOCK_SUFFIX && suffix != SOCKET_SUFFIX {
        return None;
    }
    ApplicationName::new(name).ok()
}

impl NameLock {
    /// Takes the name, and removes the socket that an application before us may have left.
    ///
    /// # Errors
    /// [`ShmError::NameInUse`] while another application has it.
    pub(crate) fn acquire(runtime: &Runtime, name: &ApplicationName) -> Result<Self, ShmError> {
        let operation = "lock the application's name";
        let lock = lock_path(runtime, name);
        let socket = socket_path(runtime, name);
        let failed = |e| ShmError::io(operation, e);
        for _ in 0..ATTEMPTS {
            let (file, had_died) = match open(&lock, runtime.lock_mode()) {
                Ok(opened) => opened,
                // It was removed between the two attempts to open it.
                Err(Errno::NOENT) => continue,
                Err(Errno::ACCESS) => {
                    return Err(ShmError::AccessDenied(format!(
                        "the name {name} belongs to another user"
                    )));
                }
                Err(e) => return Err(failed(e)),
            };
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    return Err(ShmError::NameInUse {
                        name: name.clone(),
                        process: process_of(&file),
                    });
                }
                Err(e) => return Err(failed(e)),
            }
            if !is_at(&file, &lock) {
                // Its holder removed it between our two steps; the name may be free or taken anew.
                continue;
            }
            rustix::fs::ftruncate(&file, 0).map_err(failed)?;
            rustix::io::write(&file, ourselves().as_bytes()).map_err(failed)?;
            remove(&socket).map_err(|e| ShmError::io("remove a socket that was left", e))?;
            return Ok(Self {
                lock,
                socket,
                had_died,
                _file: file,
            });
        }
        Err(failed(Errno::AGAIN))
    }

    /// Removes what killed applications have left of their public services: one of this name before us, or any that has died.
    pub(crate) fn clean_up(&self, runtime: &Runtime) {
        if self.had_died || is_anybody_dead(runtime) {
            clean::remove_dead_nodes(runtime.iceoryx2_config(), clean::SHORT_PATIENCE);
        }
    }

    /// Where to listen.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for NameLock {
    fn drop(&mut self) {
        // While the lock is held: nobody else can have made these meanwhile.
        let _ = remove(&self.socket);
        let _ = remove(&self.lock);
    }
}

/// The names that running and dead applications have.
pub(crate) fn names(runtime: &Runtime) -> Vec<ApplicationName> {
    let Ok(entries) = fs::read_dir(runtime.path()) else {
        return Vec::new();
    };
    let mut names: Vec<ApplicationName> = entries
        .flatten()
        .filter_map(|entry| application_of(&entry.file_name()))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Whether an application has died and left its name behind, so that there may be more of it to remove.
///
/// Looks at a file for each application, where looking at all that iceoryx2 has of them takes a hundred times as long.
fn is_anybody_dead(runtime: &Runtime) -> bool {
    names(runtime).iter().any(|name| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Whoever lives holds an exclusive lock. Who is about to take it may see ours, and tries again.
        rustix::fs::open(lock_path(runtime, name), flags, Mode::empty()).is_ok_and(|file| {
            rustix::fs::flock(file, FlockOperation::NonBlockingLockShared).is_ok()
        })
    })
}

/// Removes the locks and sockets of applications that are not running, and says which applications that were.
pub(crate) fn remove_dead(runtime: &Runtime) -> Vec<ApplicationName> {
    let mut names = names(runtime);
    // Who can take a name is the only one to have it; dropping the lock removes the files.
    names.retain(|name| NameLock::acquire(runtime, name).is_ok());
    names
}

/// The application that has a name now.
#[derive(Debug)]
pub(crate) struct Holder {
    /// Its process id, if it is in our PID namespace.
    pub(crate) process: Option<u32>,
}

/// Who has a name; `None` if nobody has it, or if we may not know. Nothing is changed by asking.
pub(crate) fn holder(runtime: &Runtime, name: &ApplicationName) -> Option<Holder> {
    // Whatever a member of a group has put there must not keep us waiting.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(lock_path(runtime, name), flags, Mode::empty()).ok()?;
    // Whoever wants the name at this very moment tries again.
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Some(Holder {
            process: process_of(&file),
        }),
        _ => None,
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

fn is_at(file: &OwnedFd, path: &Path) -> bool {
    match (rustix::fs::fstat(file), rustix::fs::stat(path)) {
        (Ok(ours), Ok(there)) => ours.st_ino == there.st_ino && ours.st_dev == there.st_dev,
        _ => false,
    }
}

/// Opens or makes the file of a lock, which those may open whom `mode` names. Says whether it was there.
fn open(path: &Path, mode: Mode) -> Result<(OwnedFd, bool), Errno> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags | OFlags::CREATE | OFlags::EXCL, mode) {
        Ok(file) => {
            // Whatever the process's umask is.
            rustix::fs::fchmod(&file, mode)?;
            Ok((file, false))
        }
        Err(Errno::EXIST) => Ok((rustix::fs::open(path, flags, Mode::empty())?, true)),
        Err(e) => Err(e),
    }
}

/// What the holder of a lock writes into it.
fn ourselves() -> String {
    let process = rustix::process::getpid().as_raw_nonzero();
    match pid_namespace() {
        Some(namespace) => format!("{process} {namespace}"),
        None => process.to_string(),
    }
}

/// The process that has written its id into the file: who has the lock. In another PID namespace the id says nothing.
fn process_of(lock: &OwnedFd) -> Option<u32> {
    let mut text = [0; 32];
    let length = rustix::io::pread(lock, &mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    let (process, namespace) = text.split_once(' ')?;
    let is_ours = namespace.parse() == Ok(pid_namespace()?);
    is_ours.then(|| process.parse().ok())?
}

/// The number of our PID namespace (namespaces(7)).
fn pid_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid")
        .ok()
        .map(|namespace| namespace.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_id_counts_in_its_own_namespace_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let process = |text: &str| {
            fs::write(&path, text).unwrap();
            process_of(&fs::File::open(&path).unwrap().into())
        };
        let ours = std::process::id();
        assert_eq!(process(&ourselves()), Some(ours));
        let elsewhere = format!("{ours} {}", pid_namespace().unwrap() + 1);
        for said in ["", "4711", "x y", "-1 2", &elsewhere] {
            assert_eq!(process(said), None, "{said}");
        }
    }
}
