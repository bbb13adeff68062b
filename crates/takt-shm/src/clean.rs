//! Cleaning up after processes that were killed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use iceoryx2::config::Config;
use iceoryx2::node::{DeadNodeView, NodeDetails};
use iceoryx2::prelude::{CallbackProgression, Node, NodeState};

use crate::abandoned;
use crate::error::ShmError;
use crate::handler::CompletionWaker;
use crate::leftovers;
use crate::name_lock;
use crate::pooled_ipc::PooledIpc;
use crate::runtime::Runtime;

/// How long to wait for somebody else to finish removing the same.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// What [`clean_dead`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CleanReport {
    /// Ended connections and servers whose shared memory was removed.
    pub nodes: usize,
    /// Services that were half made or half removed when their process was killed, and are not any more.
    pub services: usize,
    /// Applications that were not running any more and whose lock and socket were removed.
    pub applications: usize,
    /// Of the former, those that could not be removed, or are being removed by another process.
    pub failed: usize,
    /// Connections and servers that are in use.
    pub alive: usize,
}

/// Removes what killed processes left behind in the runtime directory (`None` is the usual one) and in /dev/shm, and nothing
/// else.
///
/// Every server and client does this when it starts; a server also when one of its clients dies.
///
/// # Errors
/// [`ShmError::RuntimeDirectory`] if the directory cannot be used, [`ShmError::Iceoryx`] if iceoryx2 cannot read it.
pub fn clean_dead(runtime_directory: Option<&Path>) -> Result<CleanReport, ShmError> {
    let runtime = Runtime::open(runtime_directory)?;
    let mut report = remove_dead_nodes(runtime.iceoryx2_config(), PATIENCE)
        .ok_or_else(|| ShmError::iceoryx("list what is in use", "the nodes are not accessible"))?;
    report.services = abandoned::remove_all(runtime.iceoryx2_config());
    report.applications = name_lock::remove_dead(&runtime);
    Ok(report)
}

/// How long a process that only wants to connect waits for the same: it needs nothing of what the dead left.
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
    let result = Node::<PooledIpc>::list(config, |node| {
        let id = *node.node_id();
        match node {
            NodeState::Dead(_) => {
                leftovers::remove_unfinished(&nodes.join(id.value().to_string()));
                // A node whose cleaner was killed in turn may have lost its details. iceoryx2 then takes its global
                // configuration for the node's own, looks in the wrong place, and finds it clean.
                let details = NodeDetails::__internal_new(&None, config);
                let removed = DeadNodeView::<PooledIpc>::__internal_blocking_remove_stale_resources(
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

/// Cleans up in the background when a connection has broken: it takes milliseconds, which the other clients of a server
/// should not wait for.
pub(crate) struct Cleaner {
    runtime: Weak<Runtime>,
    cleaned: CompletionWaker,
    wanted: Arc<AtomicBool>,
    running: Arc<AtomicBool>,
}

/// The socket of a killed process closes a little before or after the locks by which iceoryx2 knows that it is dead.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(2),
    Duration::from_millis(20),
    Duration::from_millis(200),
];

impl Cleaner {
    /// `cleaned` is called, from another thread, when something may have been removed.
    pub(crate) fn new(runtime: &Arc<Runtime>, cleaned: CompletionWaker) -> Self {
        Self {
            runtime: Arc::downgrade(runtime),
            cleaned,
            wanted: Arc::default(),
            running: Arc::default(),
        }
    }

    /// Begins to clean up, unless that is going on already.
    pub(crate) fn start(&self) {
        self.wanted.store(true, Ordering::SeqCst);
        if self.running.swap(true, Ordering::SeqCst) {
            return;
        }
        let runtime = Weak::clone(&self.runtime);
        let cleaned = Arc::clone(&self.cleaned);
        let (wanted, running) = (Arc::clone(&self.wanted), Arc::clone(&self.running));
        let worker = thread::Builder::new().name("takt-shm-clean".to_owned());
        let spawned = worker.spawn(move || {
            loop {
                while wanted.swap(false, Ordering::SeqCst) {
                    for pause in PAUSES {
                        thread::sleep(pause);
                        // The server may have gone meanwhile; the last process to leave cleans up anyway.
                        if let Some(runtime) = runtime.upgrade() {
                            remove_dead_nodes(runtime.iceoryx2_config(), PATIENCE);
                            cleaned();
                        }
                    }
                }
                running.store(false, Ordering::SeqCst);
                // Somebody may have set the one before we cleared the other.
                if !wanted.load(Ordering::SeqCst) || running.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
        });
        if spawned.is_err() {
            // No threads to be had: the next process to start cleans up.
            self.running.store(false, Ordering::SeqCst);
        }
    }
}
