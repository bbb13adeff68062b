//! Who is there: the applications of a runtime directory, and what they say of themselves.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::address::ApplicationName;
use crate::attention::ServerState;
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
    /// Its process id, as the kernel says; `None` if nobody listens any more.
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
/// their names behind.
///
/// # Errors
/// [`ShmError::RuntimeDirectory`] if the directory cannot be used.
pub fn applications(runtime_directory: Option<&Path>) -> Result<Vec<Presence>, ShmError> {
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
    if let Ok(Some(socket)) = reach(runtime, &presence.name) {
        presence.process = socket::peer(&socket).ok().map(|peer| peer.process);
        presence.state = hello(socket, Instant::now() + PATIENCE)
            .ok()
            .map(|hello| hello.state);
    }
    presence
}
