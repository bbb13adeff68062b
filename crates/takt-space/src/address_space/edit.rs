//! Changes of nodes and references, one step at a time and without the rules for clients.

use std::sync::{Arc, MutexGuard};

use takt_ua::{ExpandedNodeId, NodeId};

use super::counters::Counters;
use super::definition::NodeDefinition;
use super::error::AddressSpaceError;
use super::node::{Base, Binding, Inner, Node};
use super::reference_list::ReferenceList;
use super::space::AddressSpace;
use super::view::View;
use crate::namespace0::Namespace0;

/// The exclusive right to change nodes and references, until it is dropped.
///
/// Methods that make changes do not check the model's rules. The NodeManagement services check them before with
/// [`plan_add_node`](Self::plan_add_node) and the other plan methods; [`AddressSpace::apply`] repeats changes that were made
/// before.
#[derive(Debug)]
pub struct Edit<'a> {
    pub(super) space: &'a AddressSpace,
    pub(super) counters: MutexGuard<'a, Counters>,
}

/// A reference that is added together with a new node.
#[derive(Debug, Clone, PartialEq)]
pub struct NewReference {
    /// Its ReferenceType.
    pub reference_type: NodeId,
    /// True if the new node is the source.
    pub is_forward: bool,
    /// The other end.
    pub target: ExpandedNodeId,
}

impl NewReference {
    /// Creates a reference from the new node.
    pub fn forward(reference_type: impl Into<NodeId>, target: impl Into<NodeId>) -> Self {
        Self::new(reference_type, true, target)
    }

    /// Creates a reference to the new node.
    pub fn inverse(reference_type: impl Into<NodeId>, target: impl Into<NodeId>) -> Self {
        Self::new(reference_type, false, target)
    }

    fn new(reference_type: impl Into<NodeId>, is_forward: bool, target: impl Into<NodeId>) -> Self {
        Self {
            reference_type: reference_type.into(),
            is_forward,
            target: ExpandedNodeId::from(target.into()),
        }
    }
}

impl AddressSpace {
    /// Begins changes of nodes and references. Waits for other changes; readers see each step when it is made.
    ///
    /// A thread that makes many changes lets others in between if it ends its `Edit` now and then.
    pub fn edit(&self) -> Edit<'_> {
        Edit {
            space: self,
            counters: self.changes.lock(),
        }
    }
}

impl<'a> Edit<'a> {
    /// Returns a view of the address space that includes the changes of this `Edit`.
    pub fn view(&self) -> View<'a> {
        self.space.stored()
    }

    /// Returns the address space that is changed.
    pub fn space(&self) -> &'a AddressSpace {
        self.space
    }

    /// Returns a free numeric NodeId.
    pub fn free_node_id(&mut self, namespace: u16) -> NodeId {
        // Nor that of a computed node.
        let view = self.space.view();
        loop {
            // 0 is the identifier of the null NodeId.
            self.counters.last_id = self.counters.last_id.wrapping_add(1).max(1);
            let node_id = NodeId::numeric(namespace, self.counters.last_id);
            if view.node(&node_id).is_none() {
                return node_id;
            }
        }
    }

    /// Adds a node with its references. It becomes visible with the references that it lists; the other ends follow.
    ///
    /// # Errors
    /// The NodeId is null, in use, or of an unknown namespace; or the address space is full.
    pub fn add_node(
        &mut self,
        definition: NodeDefinition,
        references: &[NewReference],
    ) -> Result<(), AddressSpaceError> {
        self.add_node_with(definition, references, None, None)
    }

    /// Excludes an added node from the limit of nodes, because it is the server's own.
    pub fn exempt_from_limit(&mut self, node_id: &NodeId) {
        let nodes = self.space.nodes.pin();
        let node = nodes.get(node_id);
        let is_added = node.is_some_and(|node| matches!(node.base, Base::Added(_)));
        if is_added && self.counters.exempt.insert(node_id.clone()) {
            self.counters.nodes = self.counters.nodes.saturating_sub(1);
        }
    }

    /// Gives back the memory that makes the addition of many children to one node fast: for an application that has added
    /// its last node.
    pub fn forget_names(&mut self) {
        self.counters.names.clear();
    }

    /// Adds a node as [`add_node`](Self::add_node) does, with its binding, and with the bytes that it counts in the memory
    /// budget.
    pub(crate) fn add_node_with(
        &mut self,
        definition: NodeDefinition,
        references: &[NewReference],
        binding: Option<Binding>,
        memory: Option<usize>,
    ) -> Result<(), AddressSpaceError> {
        let node_id = definition.node_id.clone();
        if node_id.is_null() || !self.space.namespaces.contains(node_id.namespace) {
            return Err(AddressSpaceError::NodeIdRejected(node_id));
        }
        if self.space.view().node(&node_id).is_some() {
            return Err(AddressSpaceError::NodeIdExists(node_id));
        }
        if self.counters.nodes >= self.space.max_nodes {
            return Err(AddressSpaceError::TooManyNodes {
                limit: self.space.max_nodes,
            });
        }
        let mut node = Node::new(Base::Added(Box::new(definition)));
        let mut stored = Vec::with_capacity(references.len());
        let mut misplaced = Vec::new();
        for reference in references {
            let reference = self.stored(
                reference.reference_type.as_ref(),
                reference.is_forward,
                &reference.target,
            )?;
            if reference.is_misplaced() {
                misplaced.push(reference);
            } else if !stored.contains(&reference) {
                stored.push(reference);
            }
        }
        node.change_references(|references| *references = ReferenceList::from(stored.clone()));
        // The binding comes before the node is visible: no reader finds a Variable without its value.
        self.rebind(&node, binding);
        // Now, because the node is shared from the next step on.
        if let Some(bytes) = memory {
            self.count_node(&mut node, bytes);
        }
        self.space
            .nodes
            .pin()
            .insert(node_id.clone(), Arc::new(node));
        self.counters.nodes += 1;
        for reference in stored {
            self.add_other_end(&node_id, &reference);
        }
        // Only now: the node at the other end may be the new one.
        for reference in misplaced {
            self.add_where_it_belongs(&node_id, &reference);
        }
        Ok(())
    }

    /// Adds a reference, at both ends if the target is an existing node of this server.
    ///
    /// # Errors
    /// The source does not exist, or the reference exists.
    pub fn add_reference(
        &mut self,
        source: &NodeId,
        reference_type: &NodeId,
        is_forward: bool,
        target: &ExpandedNodeId,
    ) -> Result<(), AddressSpaceError> {
        let reference = self.stored(reference_type.as_ref(), is_forward, target)?;
        if reference.is_misplaced() && self.add_where_it_belongs(source, &reference) {
            return Ok(());
        }
        let node = self
            .editable(source)
            .ok_or_else(|| AddressSpaceError::SourceNodeIdInvalid(source.clone()))?;
        if self.has_both_ends(source, &node, &reference) {
            return Err(AddressSpaceError::DuplicateReference {
                reference_type: reference_type.clone(),
                target: target.node_id.clone(),
            });
        }
        self.add_other_end(source, &reference);
        node.push_new(&reference, self.counters.dangling);
        Ok(())
    }

    /// Deletes a node, and the other ends of its references if requested.
    ///
    /// # Errors
    /// There is no such node, or it belongs to the standard.
    pub fn delete_node(
        &mut self,
        node_id: &NodeId,
        delete_target_references: bool,
    ) -> Result<(), AddressSpaceError> {
        let nodes = self.space.nodes.pin();
        let Some(node) = nodes
            .get(node_id)
            .filter(|node| matches!(node.base, Base::Added(_)))
        else {
            return Err(match self.space.stored().node(node_id) {
                Some(_) => AddressSpaceError::NoDeleteRights(node_id.clone()),
                None => AddressSpaceError::NodeIdUnknown(node_id.clone()),
            });
        };
        let references = node.references();
        if delete_target_references {
            // The other ends are removed first: otherwise a reader could follow a reference to a node that does not exist.
            for reference in references.iter_from(0) {
                self.remove_other_end(node_id, reference);
            }
        } else {
            self.counters.dangling |= references.len() > 0;
        }
        if !delete_target_references {
            // Any parent may be the one in the cache, and still has the reference to this name.
            self.counters.names.clear();
        }
        self.counters.names.forget(node_id);
        // So that a remote binding does not count any more.
        self.rebind(node, None);
        self.forget_node(node);
        nodes.remove(node_id);
        if !self.counters.exempt.remove(node_id) {
            self.counters.nodes = self.counters.nodes.saturating_sub(1);
        }
        Ok(())
    }

    /// Removes some references of a node that has more than `few`, at both ends. The deletion of such a node is divided into
    /// these steps. Returns the number of removed references.
    pub fn detach(&mut self, node_id: &NodeId, few: usize) -> usize {
        let nodes = self.space.nodes.pin();
        let Some(node) = nodes
            .get(node_id)
            .filter(|node| matches!(node.base, Base::Added(_)))
        else {
            return 0;
        };
        let references = node.references();
        if references.len() <= few {
            return 0;
        }
        let both_ends = references
            .iter_from(0)
            // A reference with one end leaves nothing at its target.
            .filter(|reference| !reference.has_one_end());
        let some: Vec<_> = both_ends.take(few).cloned().collect();
        // A change would copy the list while it is borrowed.
        drop(references);
        for reference in &some {
            self.remove_other_end(node_id, reference);
            self.unlink(node_id, node, reference);
        }
        some.len()
    }

    /// Deletes a reference, and its other end if requested.
    ///
    /// # Errors
    /// There is no such reference, or it belongs to the standard.
    pub fn delete_reference(
        &mut self,
        source: &NodeId,
        reference_type: &NodeId,
        is_forward: bool,
        target: &ExpandedNodeId,
        delete_bidirectional: bool,
    ) -> Result<(), AddressSpaceError> {
        let misplaced = self
            .stored(reference_type.as_ref(), is_forward, target)?
            .is_misplaced();
        if let (true, Some(node)) = (misplaced, self.local_target(target)) {
            let source = ExpandedNodeId::from(source.clone());
            return self.delete_reference(&node, reference_type, true, &source, false);
        }
        let view = self.space.stored();
        let node = view
            .node(source)
            .ok_or_else(|| AddressSpaceError::SourceNodeIdInvalid(source.clone()))?;
        let reference = self.stored(reference_type.as_ref(), is_forward, target)?;
        let removed = match node.inner {
            Inner::Node(node) => self.unlink(source, node, &reference),
            Inner::Standard(_) | Inner::Computed(_) => false,
        };
        if !removed {
            let exists = node.references().iter().any(|known| {
                known.reference_type == *reference_type
                    && known.is_forward == is_forward
                    && known.target == reference.target.as_ref()
            });
            return Err(if exists {
                // A reference that exists and was not removed is one of the standard's table.
                AddressSpaceError::NoDeleteRights(source.clone())
            } else {
                AddressSpaceError::NoSuchReference {
                    reference_type: reference_type.clone(),
                    target: target.node_id.clone(),
                }
            });
        }
        // A reference with one end leaves nothing behind.
        if delete_bidirectional || reference.has_one_end() {
            self.remove_other_end(source, &reference);
        } else {
            self.counters.dangling = true;
        }
        Ok(())
    }

    /// Returns the node in a form that can be changed: a node of the standard's table gets an entry of its own.
    pub(super) fn editable(&self, node_id: &NodeId) -> Option<Arc<Node>> {
        let nodes = self.space.nodes.pin();
        if let Some(node) = nodes.get(node_id) {
            return Some(Arc::clone(node));
        }
        let standard = Namespace0::get(node_id.standard_id()?)?;
        let node = Arc::new(Node::new(Base::Standard(standard)));
        // No other thread inserts it in between: `Edit` has the lock of all changes.
        nodes.insert(node_id.clone(), Arc::clone(&node));
        Some(node)
    }
}
