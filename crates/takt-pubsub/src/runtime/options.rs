//! How a configuration is run, and why it may not start.

use std::time::Duration;

use takt_link::{LinkError, Options};
use takt_rt::affinity::AffinityError;
use takt_rt::cyclic::CyclicError;
use takt_rt::priority::{Policy, PriorityError};

use crate::discovery::Application;
use crate::error::ConfigurationError;

/// How the threads run.
#[derive(Debug, Clone, Default)]
pub struct RealTime {
    /// Their scheduling policy; `None` leaves what the starting thread has.
    pub policy: Option<Policy>,
    /// The core that they are pinned to.
    pub core: Option<usize>,
    /// How long before the start of a publishing interval a thread wakes up and spins.
    pub spin: Duration,
}

impl RealTime {
    pub(super) fn apply(&self) -> Result<(), StartError> {
        if let Some(core) = self.core {
            takt_rt::affinity::pin(core)?;
        }
        if let Some(policy) = self.policy {
            takt_rt::priority::set(policy)?;
        }
        Ok(())
    }
}

/// How a configuration is run.
#[derive(Debug, Clone, Default)]
pub struct RuntimeOptions {
    /// How links are opened, as far as the configuration does not say.
    pub link: Options,
    /// Threads of WriterGroups.
    pub publishing: RealTime,
    /// Threads of connections that receive.
    pub subscribing: RealTime,
    /// Whether UDP connections without a DiscoveryAddress use the standard's, `opc.udp://224.0.2.14:4840`: they answer probes there,
    /// and take metadata from there. Those with one use theirs in any case.
    pub default_discovery: bool,
    /// What Publishers tell of the application.
    pub application: Application,
}

/// A configuration does not start. Nothing of it runs then.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// A link cannot be opened.
    #[error("{component}: {source}")]
    Link {
        /// WriterGroup or connection.
        component: String,
        /// Why.
        source: LinkError,
    },
    /// The scheduling policy is not allowed.
    #[error(transparent)]
    Priority(#[from] PriorityError),
    /// The core is not there.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// The publishing interval is none.
    #[error(transparent)]
    Cycle(#[from] CyclicError),
    /// The system has no thread to give.
    #[error("no thread: {0}")]
    Thread(std::io::Error),
}
