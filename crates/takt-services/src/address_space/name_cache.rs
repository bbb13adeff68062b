//! The BrowseNames of a node's children, so that adding a thousand of them does not compare each with all.

use std::collections::HashSet;

use takt_ua::{NodeId, QualifiedName, QualifiedNameRef};

use super::View;
use super::references::References;

/// Fewer references are looked through each time.
const WORTH_CACHING: usize = 32;

/// The BrowseNames of the nodes that one node references in one way: the last one that had many.
#[derive(Debug, Default)]
pub(super) struct NameCache {
    node_id: NodeId,
    reference_type: NodeId,
    /// How many of the node's references have been looked at. Others are only appended, as long as nothing is removed.
    seen: usize,
    removals: u64,
    names: HashSet<QualifiedName>,
}

impl NameCache {
    /// Whether a node has a child with this name along forward references of exactly this type. `removals` changes
    /// whenever a reference or node is removed.
    pub(super) fn contains(
        &mut self,
        view: &View<'_>,
        removals: u64,
        node_id: &NodeId,
        reference_type: &NodeId,
        name: QualifiedNameRef<'_>,
    ) -> bool {
        let Some(node) = view.node(node_id) else {
            return false;
        };
        let references = node.references();
        if references.len() < WORTH_CACHING {
            return children(view, &references, reference_type, 0).any(|child| child == name);
        }
        let valid = self.removals == removals
            && self.node_id == *node_id
            && self.reference_type == *reference_type;
        if !valid {
            *self = Self {
                node_id: node_id.clone(),
                reference_type: reference_type.clone(),
                removals,
                ..Self::default()
            };
        }
        self.names.extend(
            children(view, &references, reference_type, self.seen).map(|name| name.to_owned()),
        );
        self.seen = references.len();
        self.names.contains(&name.to_owned())
    }
}

/// The names of children, from a position among the references on.
fn children<'c>(
    view: &'c View<'_>,
    references: &'c References,
    reference_type: &'c NodeId,
    from: usize,
) -> impl Iterator<Item = QualifiedNameRef<'c>> {
    (from..references.len())
        .filter_map(|position| references.get(position))
        .filter(|reference| reference.is_forward && reference.reference_type == *reference_type)
        .filter_map(|reference| Some(view.node(reference.local_target()?)?.browse_name()))
}
