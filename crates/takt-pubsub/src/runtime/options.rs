//! Options of a running configuration, and errors of starting it.

use std::time::Duration;

use takt_link::{KernelQueue, LinkError, LinkOptions};
use takt_rt::affinity::AffinityError;
use takt_rt::cyclic::CyclicError;
use takt_rt::late::WatchStart;
use takt_rt::priority::{Policy, PriorityError};

use super::problem::ProblemSender;
use crate::check::ConfigurationMistake;
use crate::discovery::AnnouncedApplication;
use crate::error::ConfigurationError;
use crate::monitor::WatchedFlows;

/// Scheduling of threads.
#[derive(Debug, Clone, Default)]
pub struct RealTime {
    /// Scheduling policy of the threads; `None` keeps that of the starting thread.
    pub policy: Option<Policy>,
    /// Core to which the threads are pinned.
    pub core: Option<usize>,
    /// Time before the start of a publishing interval at which a thread wakes up and spins.
    pub spin: Duration,
}

impl RealTime {
    /// Returns these settings with a real-time priority that is higher by `rank`: of two WriterGroups that have to send at the
    /// same time, the one with the higher Priority does so first (OPC 10000-14, 6.2.6.4).
    pub(super) fn raised(&self, rank: u8) -> Self {
        let policy = match self.policy {
            Some(Policy::Fifo(priority)) => {
                // Linux has no higher priority.
                Some(Policy::Fifo(priority.saturating_add(rank).min(99)))
            }
            policy => policy,
        };
        Self {
            policy,
            ..self.clone()
        }
    }

    /// Applies the settings to the calling thread, with the shortest timer slack: that of a thread without a priority would look as
    /// a late timer otherwise. A sandbox that forbids it is a problem, and no reason not to run.
    pub(super) fn apply(&self, problems: &ProblemSender) -> Result<(), StartError> {
        if let Err(error) = takt_rt::timer_slack::minimize() {
            problems.tell(error);
        }
        if let Some(core) = self.core {
            takt_rt::affinity::pin(core)?;
        }
        if let Some(policy) = self.policy {
            takt_rt::priority::set(policy)?;
        }
        Ok(())
    }
}

/// Options of a running configuration.
#[derive(Debug, Clone, Default)]
pub struct RuntimeOptions {
    /// Options of links that the configuration does not have.
    pub link: LinkOptions,
    /// Scheduling of the threads of WriterGroups.
    pub publishing: RealTime,
    /// Room in the kernel for the messages of WriterGroups whose threads have a [policy](RealTime::policy), or whose messages have
    /// launch times, and of all WriterGroups if it is a number of cycles, which are publishing intervals here. Room in the options of
    /// the link takes precedence. Messages that do not replace those of the interval before, such as changes and events, have the
    /// room of the system.
    pub kernel_queue: KernelQueue,
    /// Watches of the publishing intervals of the threads of WriterGroups, which tell why some began late.
    pub publishing_watch: Option<WatchStart>,
    /// Scheduling of the threads of connections that receive.
    pub subscribing: RealTime,
    /// True if UDP connections without a DiscoveryAddress use that of the standard, `opc.udp://224.0.2.14:4840`: they answer
    /// probes there, and receive metadata there. Connections with a DiscoveryAddress use theirs in any case.
    pub default_discovery: bool,
    /// Flows that are watched, by the names of WriterGroups and DataSetReaders. Longer messages are refused. It belongs to
    /// one running configuration: two would count into the same numbers.
    pub watched: WatchedFlows,
    /// Description of the application, which Publishers announce.
    pub application: AnnouncedApplication,
}

/// Reason why a configuration does not start. No part of it runs then.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration has a mistake.
    #[error(transparent)]
    Mistake(Box<ConfigurationMistake>),
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// A link cannot be opened.
    #[error("{component}: {source}")]
    Link {
        /// Name of the WriterGroup or connection.
        component: String,
        /// Error of the link.
        source: LinkError,
    },
    /// The scheduling policy is not allowed.
    #[error(transparent)]
    Priority(#[from] PriorityError),
    /// The core does not exist.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// The publishing interval is invalid.
    #[error(transparent)]
    Cycle(#[from] CyclicError),
    /// The system cannot start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

#[cfg(test)]
mod tests {
    use super::super::problem::Problems;
    use super::*;

    /// The default slack of 50 µs would be named as a late timer.
    #[cfg(not(miri))]
    #[test]
    fn threads_without_a_priority_have_the_shortest_timer_slack() {
        let thread = std::thread::spawn(|| {
            let problems = Problems::new();
            // 50 µs, unless somebody has changed it for all.
            println!("{} ns before", takt_rt::timer_slack::get().unwrap());
            RealTime::default()
                .apply(&problems.sender("Connection/Group"))
                .unwrap();
            assert!(problems.take().is_empty());
            assert!(takt_rt::timer_slack::get().unwrap() <= 1);
        });
        thread.join().unwrap();
    }

    #[test]
    fn the_priority_of_a_group_raises_that_of_its_thread() {
        let with = |policy| RealTime {
            policy,
            ..RealTime::default()
        };
        let fifo = with(Some(Policy::Fifo(80)));
        assert_eq!(fifo.raised(0).policy, Some(Policy::Fifo(80)));
        assert_eq!(fifo.raised(2).policy, Some(Policy::Fifo(82)));
        assert_eq!(fifo.raised(200).policy, Some(Policy::Fifo(99)));
        assert_eq!(with(None).raised(2).policy, None);
    }
}
