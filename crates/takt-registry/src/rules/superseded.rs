//! Nodes in the database whose deletion was lost, and whose place another node has taken since.
//!
//! A node whose deletion is lost is missing until a restart. Meanwhile a client may have added another one with its name below the
//! same parent, for example by a repeated request. The client knows this one, so the older one is deleted at the start.

use std::collections::HashMap;

use takt_space::AddressSpace;
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, QualifiedName};

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
    /// Returns the nodes whose places others have taken.
    pub(super) fn superseded(self) -> Vec<NodeId> {
        self.superseded
    }
}
