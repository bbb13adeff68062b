//! Cleaning up after processes that were killed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use iceoryx2::config::Config;
use iceoryx2::node::{DeadNodeView, NodeDetails};
use iceoryx2::prelude::{CallbackProgression, Node, NodeState};

use crate::address::ApplicationName;
use crate::directory::bystander::Bystander;
use crate::directory::leftovers;
use crate::directory::name_lock;
use crate::directory::runtime::Runtime;
use crate::error::ShmError;
use crate::public::Ipc;
use crate::public::abandoned;

/// How long to wait for somebody else to finish removing the same.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// What [`clean_dead`] found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanReport {
    /// Ended connections and servers whose shared memory was removed.
    pub nodes: usize,
    /// Services that were half made or half removed when their process was killed, and are not any more.
    pub services: usize,
    /// Applications that were not running any more and whose lock and socket were removed.
    pub applications: Vec<ApplicationName>,
    /// Ended connections and servers that could not be removed, or are being removed by another process.
    pub failed: usize,
    /// Connections and servers that are in use.
    pub alive: usize,
}

/// Removes what killed processes left behind in the runtime directory (`None` is the usual one) and in /dev/shm, and nothing
/// else.
///
/// Every server does this when it starts, if an application has died and left its name. Channels leave nothing behind; it is the public services, with their files, that can.
///
/// # Errors
/// [`ShmError::RuntimeDirectory`] if the directory cannot be used, [`ShmError::Iceoryx`] if iceoryx2 cannot read it.
pub fn clean_dead(runtime_directory: Option<&Path>) -> Result<CleanReport, ShmError> {
    // Otherwise opening the directory would remove things before they are counted.
    let bystander = Bystander::new(runtime_directory);
    let runtime = Runtime::open(runtime_directory)?;
    let report = runtime.clean_dead()?;
    // Who is alone now leaves nothing at all.
    drop(bystander);
    drop(runtime);
    Ok(report)
}

impl Runtime {
    /// As [`clean_dead`]. Of a group it removes the names that nobody has any more, as far as this user may.
    ///
    /// # Errors
    /// [`ShmError::Iceoryx`] if iceoryx2 cannot read the directory.
    pub fn clean_dead(&self) -> Result<CleanReport, ShmError> {
        let mut report = CleanReport::default();
        if self.group().is_none() {
            let config = self.iceoryx2_config();
            report = remove_dead_nodes(config, PATIENCE).ok_or_else(|| {
                ShmError::iceoryx("list what is in use", "the nodes are not accessible")
            })?;
            report.services = abandoned::remove_all(config);
        }
        report.applications = name_lock::remove_dead(self);
        Ok(report)
    }
}

/// How long a process that begins waits for the same: it needs nothing of what the dead left.
pub(crate) const SHORT_PATIENCE: Duration = Duration::from_millis(50);

/// Removes what is left of dead nodes. Waits for others that are removing the same, but not longer than `patience` in all.
/// `None` if iceoryx2 cannot say which nodes there are.
pub(crate) fn remove_dead_nodes(config: &Config, patience: Duration) -> Option<CleanReport> {
    let prefix = config.global.prefix.to_string();
    leftovers::remove_unborn(&prefix);
    let deadline = Instant::now() + patience;
    let mut report = CleanReport::default();
    let mut listed = Vec::new();
    let nodes = PathBuf::from(config.global.node_dir().to_string());
    let result = Node::<Ipc>::list(config, |node| {
        let id = *node.node_id();
        match node {
            NodeState::Dead(_) => {
                leftovers::remove_unfinished(&nodes.join(id.value().to_string()));
                // A node whose cleaner was killed in turn may have lost its details. iceoryx2 then takes its global
                // configuration for the node's own, looks in the wrong place, and finds it clean.
                let details = NodeDetails::__internal_new(&None, config);
                let removed = DeadNodeView::<Ipc>::__internal_blocking_remove_stale_resources(
                    id,
                    details,
                    deadline.saturating_duration_since(Instant::now()),
                );
                match removed {
                    Ok(()) => report.nodes += 1,
                    Err(_) => {
                        report.failed += 1;
                        listed.push(id.value());
                    }
                }
            }
            NodeState::Alive(_) | NodeState::Inaccessible(_) => {
                report.alive += 1;
                listed.push(id.value());
            }
            // Half made or half removed.
            NodeState::Undefined(_) => {}
        }
        CallbackProgression::Continue
    });
    result.ok()?;
    leftovers::remove_undefined(&nodes, &prefix, |id| listed.contains(&id));
    Some(report)
}
