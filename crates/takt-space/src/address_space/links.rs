//! The two ends of references. Both nodes of a reference list it, so that it can be followed in both directions. References of
//! some types are listed only by the source ([`TypeIndex::is_one_way`](super::reference::TypeIndex::is_one_way)).

use std::sync::Arc;

use takt_ua::{ExpandedNodeId, NodeId, NodeIdRef};

use super::AddressSpaceError;
use super::edit::Edit;
use super::node::{Inner, Node};
use super::reference::{Reference, Target, TypeIndex};

impl Edit<'_> {
    pub(super) fn stored(
        &self,
        reference_type: NodeIdRef<'_>,
        is_forward: bool,
        target: &ExpandedNodeId,
    ) -> Result<Reference, AddressSpaceError> {
        let index =
            self.space.types.index(reference_type).ok_or_else(|| {
                AddressSpaceError::ReferenceTypeIdInvalid(reference_type.to_owned())
            })?;
        Ok(Reference {
            reference_type: index,
            is_forward,
            target: self.stored_target(target),
        })
    }

    pub(super) fn stored_target(&self, target: &ExpandedNodeId) -> Target {
        if target.server_index != 0 {
            return Target::Remote(Box::new(target.clone()));
        }
        if target.namespace_uri.is_null() {
            return Target::Local(target.node_id.clone());
        }
        match self
            .space
            .namespaces
            .index_of(target.namespace_uri.as_str())
        {
            Some(namespace) => Target::Local(NodeId {
                namespace,
                identifier: target.node_id.identifier.clone(),
            }),
            None => Target::Remote(Box::new(target.clone())),
        }
    }

    /// Returns the target as a node of this server, which may not exist.
    pub(super) fn local_target(&self, target: &ExpandedNodeId) -> Option<NodeId> {
        match self.stored_target(target) {
            Target::Local(target) => Some(target),
            Target::Remote(_) => None,
        }
    }

    /// Adds a reference that only its other end lists. Returns `false` if that node does not exist, or has the reference.
    pub(super) fn add_where_it_belongs(&mut self, node_id: &NodeId, reference: &Reference) -> bool {
        let Target::Local(target) = &reference.target else {
            return false;
        };
        let Some(node) = self.editable(target) else {
            return false;
        };
        let reference = other_end(node_id, reference);
        if node.has(&reference, &self.space.types.snapshot()) {
            return false;
        }
        // It is not there: that was checked.
        node.push_new(&reference, false);
        true
    }

    pub(super) fn add_other_end(&mut self, source: &NodeId, reference: &Reference) {
        let Target::Local(target) = &reference.target else {
            return;
        };
        if reference.has_one_end() {
            return;
        }
        match self.editable(target) {
            Some(node) => node.push_new(&other_end(source, reference), self.counters.dangling),
            None => self.counters.dangling = true,
        }
    }

    pub(super) fn remove_other_end(&mut self, source: &NodeId, reference: &Reference) {
        let Target::Local(target) = &reference.target else {
            return;
        };
        if reference.has_one_end() {
            return;
        }
        let space = self.space;
        // A node that is not in memory has only the references of the standard.
        if let Some(node) = space.nodes.pin().get(target) {
            self.unlink(target, node, &other_end(source, reference));
        }
    }

    /// Removes a reference from the list of one node. Returns true if it was there.
    pub(super) fn unlink(&mut self, node_id: &NodeId, node: &Node, reference: &Reference) -> bool {
        let (removed, is_long) = node
            .change_references(|references| (references.remove(reference), references.is_long()));
        let Some(position) = removed else {
            return false;
        };
        let names = &mut self.counters.names;
        // Only in a long list do the positions of the others stay the same.
        if is_long && names.is_of(node_id) {
            let types = self.space.types.snapshot();
            let position = node.standard_references() + position;
            let view = self.space.stored();
            let name_of = |child: NodeIdRef<'_>| Some(view.node(child)?.browse_name().to_owned());
            names.removed(reference.view(&types), position, name_of);
        } else {
            names.forget(node_id);
        }
        true
    }

    /// Returns true if this reference exists.
    pub(crate) fn has_reference(
        &self,
        source: &NodeId,
        reference_type: &NodeId,
        is_forward: bool,
        target: &NodeId,
    ) -> bool {
        let view = self.space.stored();
        let index = self.space.types.find(reference_type.as_ref());
        let types = self.space.types.snapshot();
        let has = |node: &NodeId, is_forward: bool, other: &NodeId| {
            let Some(node) = view.node(node) else {
                return false;
            };
            match (node.inner, index) {
                (Inner::Node(node), Some(reference_type)) => {
                    let target = Target::Local(other.clone());
                    let reference = Reference {
                        reference_type,
                        is_forward,
                        target,
                    };
                    node.has(&reference, &types)
                }
                _ => node
                    .references()
                    .targets(reference_type, is_forward)
                    .any(|known| known == *other),
            }
        };
        let count = |node: &NodeId| view.node(node).map_or(0, |node| node.references().len());
        if index.is_some_and(TypeIndex::is_one_way) {
            return if is_forward {
                has(source, true, target)
            } else {
                has(target, true, source)
            };
        }
        // Both nodes list it, unless an end may be missing: then the source is searched.
        if !self.counters.dangling && count(target) < count(source) && view.node(target).is_some() {
            return has(target, !is_forward, source);
        }
        has(source, is_forward, target)
    }

    /// Returns true if the reference exists at all its ends. If both nodes must list it, the one with fewer references is
    /// searched.
    pub(super) fn has_both_ends(
        &self,
        source: &NodeId,
        node: &Arc<Node>,
        reference: &Reference,
    ) -> bool {
        let types = self.space.types.snapshot();
        let here = || node.has(reference, &types);
        let Target::Local(target) = &reference.target else {
            return here();
        };
        if reference.has_one_end() {
            return here();
        }
        let Some(target) = self.editable(target) else {
            return here();
        };
        let other_end = other_end(source, reference);
        let there = || target.has(&other_end, &types);
        if self.counters.dangling {
            return here() && there();
        }
        if target.references().len() < node.references().len() {
            there()
        } else {
            here()
        }
    }
}

fn other_end(source: &NodeId, reference: &Reference) -> Reference {
    Reference {
        reference_type: reference.reference_type,
        is_forward: !reference.is_forward,
        target: Target::Local(source.clone()),
    }
}
