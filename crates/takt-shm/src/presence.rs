//! Applications of a runtime directory, and their counts.
//!
//! The socket, or else the lock of the name, shows that an application lives, and not the process id: an application in another
//! container is a process that cannot be seen from here.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::address::ApplicationName;
use crate::channel::attention::ServerState;
use crate::channel::socket;
use crate::client::{hello, reach};
use crate::directory::bystander::Bystander;
use crate::directory::name_lock;
use crate::directory::runtime::Runtime;
use crate::error::ShmError;

/// Time that an application may take to send Hello: it has to get its turn, on a machine that may be busy. One that is stopped in
/// a debugger does not answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Application that has, or had, a name in the runtime directory.
#[derive(Debug)]
pub struct Presence {
    /// ApplicationName of the application.
    pub name: ApplicationName,
    /// True if it lives; a dead application has left only its name.
    pub is_alive: bool,
    /// Process id, from the kernel. `None` if it does not live, or is in a PID namespace that cannot be seen from this one, as in
    /// another container.
    pub process: Option<u32>,
    state: Option<ServerState>,
}

/// Counts of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Number of requests answered through channels since its start.
    pub requests: u64,
    /// Number of open channels.
    pub connections: u64,
}

impl Presence {
    /// Returns the current counts, read from shared memory without a request. `None` if the application did not answer when it
    /// was [listed](applications).
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

/// Returns the applications of a user's runtime directory (`None` is the usual one), by name, including killed ones that have
/// left their names behind. It changes nothing.
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
    /// Returns the applications, as the function [`applications`] does; also those of a group, if this is a group's directory.
    #[must_use]
    pub fn applications(&self) -> Vec<Presence> {
        name_lock::names(self)
            .into_iter()
            .map(|name| presence(self, name))
            .collect()
    }
}

impl Runtime {
    /// Returns the Unix user that runs the application of that name, from the kernel; `None` if none runs. It does not wait for
    /// the application.
    #[must_use]
    pub fn user_of(&self, name: &ApplicationName) -> Option<u32> {
        match reach(self, name) {
            Ok(Some(socket)) => socket::peer(&socket).ok().map(|peer| peer.user),
            // The application does not listen yet, or so many connections wait already that the kernel takes no more.
            Ok(None) | Err(_) => name_lock::holder(self, name).map(|holder| holder.user),
        }
    }
}

fn presence(runtime: &Runtime, name: ApplicationName) -> Presence {
    let (is_alive, process, state) = match reach(runtime, &name) {
        Ok(Some(socket)) => {
            let peer = socket::peer(&socket).ok();
            let hello = hello(socket, runtime, Instant::now() + PATIENCE).ok();
            let process = peer
                .map(|peer| peer.process)
                .filter(|process| *process != 0);
            (true, process, hello.map(|hello| hello.state))
        }
        // It does not listen yet, or so many wait already that the kernel takes no more, or this process may not connect.
        refused => {
            let holder = name_lock::holder(runtime, &name);
            let is_alive = holder.is_some() || matches!(refused, Err(ShmError::Busy(_)));
            (is_alive, holder.and_then(|holder| holder.process), None)
        }
    };
    Presence {
        name,
        is_alive,
        process,
        state,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::OwnedFd;

    use rustix::fs::Mode;

    use super::*;
    use crate::directory::name_lock::NameLock;

    type Seen = (String, bool, Option<u32>);

    fn seen(path: &Path) -> Vec<Seen> {
        let there = applications(Some(path)).unwrap();
        assert!(there.iter().all(|presence| presence.counts().is_none()));
        let seen = |presence: Presence| {
            let name = presence.name.to_string();
            (name, presence.is_alive, presence.process)
        };
        there.into_iter().map(seen).collect()
    }

    #[test]
    fn dead_silent_and_starting_applications_are_distinct() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = directory.path();
        let ours = std::process::id();
        // The process that opens the directory first removes leftovers there.
        let runtime = Runtime::open(Some(path)).unwrap();
        // The leftovers are those of a killed application.
        fs::write(path.join("Dead.lock"), ours.to_string()).unwrap();
        drop(socket::listen(&path.join("Dead.sock"), Mode::RWXU).unwrap());
        let lock = |name: &str| NameLock::acquire(&runtime, &name.parse().unwrap()).unwrap();
        let silent = lock("Silent");
        let listener = socket::listen(silent.socket(), Mode::RWXU).unwrap();
        // It has its name, and will listen.
        let _beginning = lock("Beginning");
        let there = |name: &str, is_alive, process| (name.to_owned(), is_alive, process);
        let expected = [
            there("Beginning", true, Some(ours)),
            there("Dead", false, None),
            there("Silent", true, Some(ours)),
        ];
        // Listing changes nothing.
        assert_eq!(seen(path), expected);
        assert_eq!(seen(path), expected);
        // Connections are made until no more fit; then the lock decides.
        let waiting: Vec<OwnedFd> =
            std::iter::from_fn(|| socket::connect(silent.socket()).ok().flatten()).collect();
        assert!(!waiting.is_empty());
        assert_eq!(seen(path), expected);
        drop(listener);
    }

    #[test]
    fn an_application_in_another_pid_namespace_is_alive() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = directory.path();
        let runtime = Runtime::open(Some(path)).unwrap();
        let _elsewhere = NameLock::acquire(&runtime, &"Elsewhere".parse().unwrap()).unwrap();
        let lock = path.join("Elsewhere.lock");
        fs::write(&lock, format!("{} 1", std::process::id())).unwrap();
        assert_eq!(seen(path), [("Elsewhere".to_owned(), true, None)]);
    }

    #[test]
    fn an_unused_directory_has_no_applications() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none");
        assert!(applications(Some(&path)).unwrap().is_empty());
        assert!(!path.exists());
        fs::write(&path, "").unwrap();
        assert!(applications(Some(&path)).is_err());
    }
}
