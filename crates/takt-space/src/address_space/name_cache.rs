//! The BrowseNames of a node's children, so that the addition of a thousand of them does not compare each with all.

use std::collections::HashMap;

use takt_ua::{NodeId, NodeIdRef, QualifiedName, QualifiedNameRef};

use super::reference::ReferenceView;
use super::references::References;

/// Number of references from which the cache is used; fewer are searched each time.
const WORTH_CACHING: usize = 32;

/// The BrowseNames of the children of one node along one type of reference: the last node that had many.
#[derive(Debug, Default)]
pub(super) struct NameCache {
    node_id: NodeId,
    reference_type: NodeId,
    /// Number of the node's references that are in the cache. New ones are only appended.
    seen: usize,
    /// Number of children for each name.
    names: HashMap<QualifiedName, usize>,
}

impl NameCache {
    /// Returns true if a node with these references has a child with this name along forward references of exactly this type.
    /// `name_of` returns the BrowseName of a node, if it exists.
    pub(super) fn contains<'c>(
        &mut self,
        node_id: &NodeId,
        references: &'c References,
        reference_type: &'c NodeId,
        name: QualifiedNameRef<'_>,
        name_of: impl Fn(NodeIdRef<'_>) -> Option<QualifiedNameRef<'c>>,
    ) -> bool {
        let names = |from| children(references, reference_type, from).filter_map(&name_of);
        if references.len() < WORTH_CACHING {
            return names(0).any(|known| known == name);
        }
        if self.node_id != *node_id || self.reference_type != *reference_type {
            *self = Self {
                node_id: node_id.clone(),
                reference_type: reference_type.clone(),
                ..Self::default()
            };
        }
        for name in names(self.seen) {
            *self.names.entry(name.to_owned()).or_default() += 1;
        }
        self.seen = references.end();
        self.names.contains_key(&name.to_owned())
    }

    /// Returns true if the cache holds the children of this node.
    pub(super) fn is_of(&self, node_id: &NodeId) -> bool {
        self.node_id == *node_id
    }

    /// Updates the cache for a removed reference of its node; the positions of the others have not changed. `name_of` returns the
    /// BrowseName of a node, if it exists.
    pub(super) fn removed(
        &mut self,
        reference: ReferenceView<'_>,
        position: usize,
        name_of: impl Fn(NodeIdRef<'_>) -> Option<QualifiedName>,
    ) {
        let counted = position < self.seen
            && reference.is_forward
            && reference.reference_type == self.reference_type;
        if !counted {
            return;
        }
        let Some(name) = reference.local_target().and_then(name_of) else {
            // The name of a node that is gone is unknown, so the count would stay wrong.
            return self.clear();
        };
        if let Some(count) = self.names.get_mut(&name) {
            // It is at least 1: a name with the count 0 is removed.
            *count -= 1;
            if *count == 0 {
                self.names.remove(&name);
            }
        }
    }

    /// Clears the cache if it holds this node, which is deleted or whose references have new positions.
    pub(super) fn forget(&mut self, node_id: &NodeId) {
        if self.is_of(node_id) {
            self.clear();
        }
    }

    /// Clears the cache, so that all names are looked up again.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Returns the children, from a position among the references on.
fn children<'c>(
    references: &'c References,
    reference_type: &'c NodeId,
    from: usize,
) -> impl Iterator<Item = NodeIdRef<'c>> {
    references
        .iter_from(from)
        .filter(|reference| reference.is_forward && reference.reference_type == *reference_type)
        .filter_map(|reference| reference.local_target())
}
