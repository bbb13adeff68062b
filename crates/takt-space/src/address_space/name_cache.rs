//! The BrowseNames of a node's children, so that adding a thousand of them does not compare each with all.

use std::collections::HashMap;

use takt_ua::{NodeId, QualifiedName, QualifiedNameRef};

use super::View;
use super::reference::ReferenceView;
use super::references::References;

/// Fewer references are looked through each time.
const WORTH_CACHING: usize = 32;

/// The BrowseNames of the nodes that one node references in one way: the last one that had many.
#[derive(Debug, Default)]
pub(super) struct NameCache {
    node_id: NodeId,
    reference_type: NodeId,
    /// How far the node's references have been looked at. Others are only appended.
    seen: usize,
    /// How many children have each name.
    names: HashMap<QualifiedName, usize>,
}

impl NameCache {
    /// Whether a node has a child with this name along forward references of exactly this type.
    pub(super) fn contains(
        &mut self,
        view: &View<'_>,
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
        if self.node_id != *node_id || self.reference_type != *reference_type {
            *self = Self {
                node_id: node_id.clone(),
                reference_type: reference_type.clone(),
                ..Self::default()
            };
        }
        for name in children(view, &references, reference_type, self.seen) {
            *self.names.entry(name.to_owned()).or_default() += 1;
        }
        self.seen = references.end();
        self.names.contains_key(&name.to_owned())
    }

    /// Whether it holds the children of this node.
    pub(super) fn is_of(&self, node_id: &NodeId) -> bool {
        self.node_id == *node_id
    }

    /// A reference of its node has been removed; the positions of the others are the same as before.
    pub(super) fn removed(
        &mut self,
        view: &View<'_>,
        reference: ReferenceView<'_>,
        position: usize,
    ) {
        let counted = position < self.seen
            && reference.is_forward
            && reference.reference_type == self.reference_type;
        if !counted {
            return;
        }
        let child = reference.local_target().and_then(|child| view.node(child));
        let Some(child) = child else {
            return self.clear();
        };
        let name = child.browse_name().to_owned();
        if let Some(count) = self.names.get_mut(&name) {
            *count -= 1;
            if *count == 0 {
                self.names.remove(&name);
            }
        }
    }

    /// A node is deleted, or positions of its references have changed.
    pub(super) fn forget(&mut self, node_id: &NodeId) {
        if self.is_of(node_id) {
            self.clear();
        }
    }

    /// Looks everything up again.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The names of children, from a position among the references on.
fn children<'c>(
    view: &'c View<'_>,
    references: &'c References,
    reference_type: &'c NodeId,
    from: usize,
) -> impl Iterator<Item = QualifiedNameRef<'c>> {
    references
        .iter_from(from)
        .filter(|reference| reference.is_forward && reference.reference_type == *reference_type)
        .filter_map(|reference| Some(view.node(reference.local_target()?)?.browse_name()))
}
