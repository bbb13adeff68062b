//! Selection of the types of a document.

use std::collections::{HashMap, HashSet};

use takt_nodeset::{NodeSet, UaNode};
use takt_ua::NodeId;
use takt_ua::enumerations::NodeClass;

/// Maximum depth of nodes below a type; deeper ones are not retained.
const MAX_DEPTH: usize = 16;

/// Removes all nodes but types and the nodes below them, such as instance declarations.
pub(super) fn retain(nodeset: &mut NodeSet) {
    let nodes: HashMap<&NodeId, &UaNode> = nodeset
        .nodes
        .iter()
        .map(|node| (&node.node_id, node))
        .collect();
    // All nodes are classified before the first one is removed, because a parent may be removed before its child is
    // examined.
    let below_types: HashSet<NodeId> = nodeset
        .nodes
        .iter()
        .filter(|node| is_below_type(&nodes, node))
        .map(|node| node.node_id.clone())
        .collect();
    nodeset
        .nodes
        .retain(|node| below_types.contains(&node.node_id));
}

/// Returns true if the node or one of its parents is a type.
fn is_below_type(nodes: &HashMap<&NodeId, &UaNode>, node: &UaNode) -> bool {
    let mut current = Some(node);
    // Ends for parents in a circle, too.
    for _ in 0..MAX_DEPTH {
        let Some(node) = current else { return false };
        if matches!(
            node.class(),
            NodeClass::ObjectType
                | NodeClass::VariableType
                | NodeClass::ReferenceType
                | NodeClass::DataType
        ) {
            return true;
        }
        current = node
            .parent
            .as_ref()
            .and_then(|parent| nodes.get(parent).copied());
    }
    false
}
