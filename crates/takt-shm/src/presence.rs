//! Who is there: the applications of a runtime directory, and what they say of themselves.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::address::ApplicationName;
use crate::attention::ServerState;
use crate::bystander::Bystander;
use crate::client::{hello, reach};
use crate::error::ShmError;
use crate::name_lock;
use crate::runtime::Runtime;
use crate::socket;

/// How long an application may take to say hello; one that is stopped in a debugger says nothing.
const PATIENCE: Duration = Duration::from_millis(300);

/// An application that has, or had, a name in the runtime directory.
#[derive(Debug)]
pub struct Presence {
    /// Its ApplicationName.
    pub name: ApplicationName,
    /// Its process id, as the kernel says; `None` if nobody listens any more: then all that is left of it is its name.
    pub process: Option<u32>,
    state: Option<ServerState>,
}

/// What an application has counted so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Requests answered through channels since it began.
    pub requests: u64,
    /// Channels that are open.
    pub connections: u64,
}

impl Presence {
    /// What it has counted by now, read from memory that it shares: it is not asked. `None` if it did not answer when it was
    /// [listed](applications).
    #[must_use]
    pub fn counts(&self) -> Option<Counts> {
        self.state.as_ref().map(|state| {
            let (requests, connections) = state.counts();
            Counts {
                requests,
                connections,
            }
        })
    }
}

/// The applications of a runtime directory (`None` is the usual one), by name; those too that were killed and have left
/// their names behind. Nothing is changed by looking.
///
/// # Errors
/// [`ShmError::RuntimeDirectory`] if the directory cannot be used.
pub fn applications(runtime_directory: Option<&Path>) -> Result<Vec<Presence>, ShmError> {
    let bystander = Bystander::new(runtime_directory);
    if bystander.sees_nothing() {
        return Ok(Vec::new());
    }
    Ok(Runtime::open(runtime_directory)?.applications())
}

impl Runtime {
    /// As [`applications`].
    #[must_use]
    pub fn applications(&self) -> Vec<Presence> {
        name_lock::names(self)
            .into_iter()
            .map(|name| presence(self, name))
            .collect()
    }
}

fn presence(runtime: &Runtime, name: ApplicationName) -> Presence {
    let mut presence = Presence {
        name,
        process: None,
        state: None,
    };
    match reach(runtime, &presence.name) {
        Ok(Some(socket)) => {
            presence.process = socket::peer(&socket).ok().map(|peer| peer.process);
            presence.state = hello(socket, Instant::now() + PATIENCE)
                .ok()
                .map(|hello| hello.state);
        }
        Ok(None) => {}
        // So many wait already that the kernel takes no more. Its holder has written its id into the lock.
        Err(_) => {
            let path = name_lock::socket_path(runtime, &presence.name);
            let lock = fs::read_to_string(path.with_extension("lock"));
            presence.process = lock.ok().and_then(|id| id.trim().parse().ok());
        }
    }
    presence
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use rustix::fs::Mode;

    use super::*;

    fn socket_of(directory: &Path, name: &str) -> OwnedFd {
        fs::write(directory.join(format!("{name}.lock")), "4711").unwrap();
        socket::listen(&directory.join(format!("{name}.sock")), Mode::RWXU).unwrap()
    }

    #[test]
    fn the_dead_and_the_silent_are_told_apart_and_looking_changes_nothing() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = directory.path();
        drop(socket_of(path, "Dead"));
        let listener = socket_of(path, "Silent");
        let list = || {
            let there = applications(Some(path)).unwrap();
            assert!(there.iter().all(|presence| presence.counts().is_none()));
            let named = |presence: Presence| (presence.name.to_string(), presence.process);
            there.into_iter().map(named).collect::<Vec<_>>()
        };
        let ours = std::process::id();
        let mut expected = vec![("Dead".to_owned(), None), ("Silent".to_owned(), Some(ours))];
        assert_eq!(list(), expected);
        // Until no more connections fit, and then what the lock says.
        let waiting: Vec<OwnedFd> =
            std::iter::from_fn(|| socket::connect(&path.join("Silent.sock")).ok().flatten())
                .collect();
        assert!(!waiting.is_empty());
        expected[1].1 = Some(4711);
        assert_eq!(list(), expected);
        drop(listener);
    }

    #[test]
    fn where_nobody_ever_was_there_is_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none");
        assert!(applications(Some(&path)).unwrap().is_empty());
        assert!(!path.exists());
        fs::write(&path, "").unwrap();
        assert!(applications(Some(&path)).is_err());
    }
}
