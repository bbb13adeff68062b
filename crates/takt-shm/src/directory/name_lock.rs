//! Lock that ensures one application per name: an `flock` on `<ApplicationName>.lock`.
//!
//! The kernel releases the lock when its holder ends, in whatever way. The file may then remain; it means nothing by itself: a
//! process that can lock it takes the name over. In the directory of a group any member can, unless the directory is sticky: then
//! a name stays with its user.
//!
//! The file contains the process id of its holder and, after a blank, the number of the PID namespace of that id. They are
//! information for people; no decision depends on them.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use takt_rt::file_lock::FileLock;

use crate::address::ApplicationName;
use crate::directory::name_files::{
    LOCK_SUFFIX, SOCKET_SUFFIX, is_text_of_lock, names_in, remove, remove_socket,
};
use crate::directory::public_files::SHORT_PATIENCE;
use crate::directory::runtime::Runtime;
use crate::error::ShmError;

/// Number of attempts. Other processes may be removing the same name, but not so often.
const ATTEMPTS: u32 = 1000;

/// Right to be the application of that name. Dropping it removes the lock and the socket.
#[derive(Debug)]
pub(crate) struct NameLock {
    lock: PathBuf,
    socket: PathBuf,
    /// True if an application of that name was killed before, and may have left more than its name.
    had_died: bool,
    _file: FileLock<OwnedFd>,
}

/// Returns the path at which the application of that name listens.
pub(crate) fn socket_path(runtime: &Runtime, name: &ApplicationName) -> PathBuf {
    runtime.path().join(format!("{name}.{SOCKET_SUFFIX}"))
}

fn lock_path(runtime: &Runtime, name: &ApplicationName) -> PathBuf {
    runtime.path().join(format!("{name}.{LOCK_SUFFIX}"))
}

impl NameLock {
    /// Takes the name, and removes the socket that an earlier application may have left.
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
                // The file was removed between the two attempts to open it.
                Err(Errno::NOENT) => continue,
                Err(Errno::ACCESS) => {
                    return Err(ShmError::AccessDenied(format!(
                        "the name {name} belongs to another user"
                    )));
                }
                Err(e) => return Err(failed(e)),
            };
            // Its holder, if there is one.
            let process = process_of(&file);
            let Some(file) = FileLock::try_take(file).map_err(failed)? else {
                return Err(ShmError::NameInUse {
                    name: name.clone(),
                    process,
                });
            };
            if !is_at(&file, &lock) {
                // Its holder removed it between the two steps; the name may be free or taken again.
                continue;
            }
            // A file of another program that has this name is not overwritten.
            if !is_text_of_lock(&file) {
                return Err(failed(Errno::EXIST));
            }
            rustix::fs::ftruncate(&file, 0).map_err(failed)?;
            rustix::io::write(&file, ourselves().as_bytes()).map_err(failed)?;
            let name = Self {
                lock,
                socket,
                had_died,
                _file: file,
            };
            remove_socket(&name.socket)
                .map_err(|e| ShmError::io("remove a socket that was left", e))?;
            return Ok(name);
        }
        Err(failed(Errno::AGAIN))
    }

    /// Removes the leftovers of killed applications' public services: of an earlier one with this name, or of any that has died.
    pub(crate) fn clean_up(&self, runtime: &Runtime) {
        if self.had_died || is_anybody_dead(runtime) {
            runtime.public_files().remove_dead(SHORT_PATIENCE);
        }
    }

    /// Returns the path at which to listen.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for NameLock {
    fn drop(&mut self) {
        // The lock is held: no other process can have made these meanwhile.
        let _ = remove_socket(&self.socket);
        let _ = remove(&self.lock);
    }
}

/// Returns the names of running and dead applications.
pub(crate) fn names(runtime: &Runtime) -> Vec<ApplicationName> {
    names_in(runtime.path())
}

/// Returns true if an application has died and left its name behind, so that there may be more leftovers.
///
/// It reads one file for each application; reading all files of iceoryx2 would take a hundred times as long.
fn is_anybody_dead(runtime: &Runtime) -> bool {
    names(runtime).iter().any(|name| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A living application holds an exclusive lock. A process that is about to take it may see this shared lock, and tries
        // again.
        rustix::fs::open(lock_path(runtime, name), flags, Mode::empty()).is_ok_and(|file| {
            rustix::fs::flock(file, FlockOperation::NonBlockingLockShared).is_ok()
        })
    })
}

/// Removes the locks and sockets of applications that are not running, and returns these applications.
pub(crate) fn remove_dead(runtime: &Runtime) -> Vec<ApplicationName> {
    let mut names = names(runtime);
    // A process that can take a name is the only one to have it; dropping the lock removes the files.
    names.retain(|name| NameLock::acquire(runtime, name).is_ok());
    names
}

/// Application that has a name now.
#[derive(Debug)]
pub(crate) struct Holder {
    /// Process id of the application, if it is in this PID namespace.
    pub(crate) process: Option<u32>,
    /// Unix user that made the lock.
    pub(crate) user: u32,
}

/// Returns the holder of a name; `None` if there is none, or if this process may not know it. It changes nothing.
pub(crate) fn holder(runtime: &Runtime, name: &ApplicationName) -> Option<Holder> {
    // A file of a member of a group must not block this process.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(lock_path(runtime, name), flags, Mode::empty()).ok()?;
    // A process that takes the name at this moment tries again.
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Some(Holder {
            process: process_of(&file),
            user: rustix::fs::fstat(&file).ok()?.st_uid,
        }),
        _ => None,
    }
}

fn is_at(file: impl AsFd, path: &Path) -> bool {
    match (rustix::fs::fstat(file), rustix::fs::stat(path)) {
        (Ok(ours), Ok(there)) => ours.st_ino == there.st_ino && ours.st_dev == there.st_dev,
        _ => false,
    }
}

/// Opens or makes the file of a lock, which may be opened according to `mode`. Returns true if it existed.
fn open(path: &Path, mode: Mode) -> Result<(OwnedFd, bool), Errno> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags | OFlags::CREATE | OFlags::EXCL, mode) {
        Ok(file) => {
            // The umask of the process has no effect on this mode.
            rustix::fs::fchmod(&file, mode)?;
            Ok((file, false))
        }
        Err(Errno::EXIST) => Ok((rustix::fs::open(path, flags, Mode::empty())?, true)),
        Err(e) => Err(e),
    }
}

/// Returns the content of a lock of this process.
fn ourselves() -> String {
    let process = rustix::process::getpid().as_raw_nonzero();
    match pid_namespace() {
        Some(namespace) => format!("{process} {namespace}"),
        None => process.to_string(),
    }
}

/// Returns the process id in the file: that of the holder of the lock. An id of another PID namespace has no meaning here.
fn process_of(lock: impl AsFd) -> Option<u32> {
    let mut text = [0; 32];
    let length = rustix::io::pread(lock, &mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    let (process, namespace) = text.split_once(' ')?;
    let is_ours = namespace.parse() == Ok(pid_namespace()?);
    is_ours.then(|| process.parse().ok())?
}

/// Returns the number of this process's PID namespace (namespaces(7)).
fn pid_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid")
        .ok()
        .map(|namespace| namespace.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_left() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = |name: &str| directory.path().join(name);
        let foreign = ["Cargo.lock", "yarn.lock", "other.sock", "Dead.txt"];
        for name in foreign {
            fs::write(path(name), "precious").unwrap();
        }
        let listener = std::os::unix::net::UnixListener::bind(path("agent.sock")).unwrap();
        let left = std::os::unix::net::UnixListener::bind(path("Dead.sock")).unwrap();
        drop(left);
        fs::write(path("Dead.lock"), "4711 4026531836").unwrap();
        let report = crate::clean_dead(Some(directory.path())).unwrap();
        assert_eq!(report.applications, ["Dead".parse().unwrap()]);
        for name in foreign {
            assert_eq!(fs::read(path(name)).unwrap(), b"precious", "{name}");
        }
        assert!(path("agent.sock").exists() && !path("Dead.sock").exists());
        drop(listener);
        // Their names are not taken either.
        let runtime = Runtime::open(Some(directory.path())).unwrap();
        for name in ["Cargo", "other"] {
            NameLock::acquire(&runtime, &name.parse().unwrap()).unwrap_err();
            assert!(!path("other.lock").exists());
        }
        assert_eq!(fs::read(path("Cargo.lock")).unwrap(), b"precious");
    }

    #[test]
    fn a_process_id_counts_in_its_own_namespace_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let process = |text: &str| {
            fs::write(&path, text).unwrap();
            process_of(fs::File::open(&path).unwrap())
        };
        let ours = std::process::id();
        assert_eq!(process(&ourselves()), Some(ours));
        let elsewhere = format!("{ours} {}", pid_namespace().unwrap() + 1);
        for said in ["", "4711", "x y", "-1 2", &elsewhere] {
            assert_eq!(process(said), None, "{said}");
        }
    }
}
