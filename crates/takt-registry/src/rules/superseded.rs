//! Nodes in the database whose deletion was lost, and whose place another node has taken since.
//!
//! A node whose deletion is lost is missing until a restart. Meanwhile a client may have added another one with its name below the
//! same parent, for example by a repeated request. The client knows this one, so the older one is deleted at the start.

use std::collections::HashMap;

use takt_space::{AddressSpace, Change};
use takt_ua::structures::{AddNodesItem, DeleteNodesItem};
use takt_ua::{NodeId, QualifiedName};

use super::Rules;

/// The restored nodes by their places.
#[derive(Default)]
pub(super) struct Places {
    nodes: HashMap<(NodeId, NodeId, QualifiedName), NodeId>,
    superseded: Vec<NodeId>,
}

impl Places {
    /// Notes a node that is restored. Nodes come in the order in which they were added.
    pub(super) fn take(&mut self, space: &AddressSpace, item: &AddNodesItem) {
        let parent = &item.parent_node_id.node_id;
        let node = item.requested_new_node_id.node_id.clone();
        let place = (
            parent.clone(),
            item.reference_type_id.clone(),
            item.browse_name.clone(),
        );
        if let Some(before) = self.nodes.insert(place, node) {
            // A client may have deleted only the reference to it.
            let children = space.view().children(parent, &item.reference_type_id);
            if children.contains(&before) {
                self.superseded.push(before);
            }
        }
    }
}

impl Rules {
    /// Deletes the nodes whose places others have taken, with all nodes below them. Returns the changes, for the database.
    pub(super) fn delete_superseded(&self, space: &AddressSpace, places: Places) -> Vec<Change> {
        let mut deleted = Vec::new();
        for node_id in places.superseded {
            let item = DeleteNodesItem {
                node_id,
                delete_target_references: true,
            };
            // It may have been below another one.
            let Ok(changes) = space.edit().plan_delete_node(&item) else {
                continue;
            };
            tracing::warn!(node = %item.node_id, "its deletion was lost: another node has its place");
            for change in changes {
                if space.apply(&change).is_ok() {
                    self.follow(space, &change);
                    deleted.push(change);
                }
            }
        }
        deleted
    }
}
