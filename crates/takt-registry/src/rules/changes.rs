//! Changes of nodes as data.

use takt_space::Change;
use takt_ua::NodeId;
use takt_ua::structures::DeleteNodesItem;

/// Returns the deletion of a node.
pub(super) fn delete_node(node: &NodeId) -> Change {
    Change::DeleteNode(DeleteNodesItem {
        node_id: node.clone(),
        delete_target_references: true,
    })
}

/// Returns the node of a change in readable form.
pub(super) fn node_of(change: &Change) -> String {
    let node = match change {
        Change::AddNode(item) => &item.requested_new_node_id.node_id,
        Change::AddReference(item) => &item.source_node_id,
        Change::DeleteReference(item) => &item.source_node_id,
        Change::DeleteNode(item) => &item.node_id,
        Change::SetAttribute(change) => &change.node_id,
        Change::AddNamespace { uri, .. } => return uri.clone(),
    };
    node.to_string()
}
