//! Nodes of iceoryx2 whose processes were killed.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use iceoryx2::config::Config;
use iceoryx2::node::{DeadNodeView, NodeDetails};
use iceoryx2::prelude::{CallbackProgression, Node, NodeState};

use crate::directory::clean_report::CleanReport;
use crate::directory::ipc::Ipc;
use crate::directory::leftovers;

/// Removes the leftovers of dead nodes. It waits for other processes that remove the same, but not longer than `patience` in all.
/// `None` if iceoryx2 cannot list the nodes.
pub(crate) fn remove(config: &Config, patience: Duration) -> Option<CleanReport> {
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
                // A node whose cleaner was killed in turn may have lost its details. iceoryx2 then takes its global configuration
                // for the node's own, looks in the wrong place, and finds it clean.
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
            // The node is half made or half removed.
            NodeState::Undefined(_) => {}
        }
        CallbackProgression::Continue
    });
    result.ok()?;
    leftovers::remove_undefined(&nodes, &prefix, |id| listed.contains(&id));
    Some(report)
}
