//! Memory of nodes, references and namespaces that clients have added.
//!
//! The application's own nodes are not counted, because the application controls their number. A node that a [`Change`] adds
//! counts until it is deleted, regardless of the origin of the change.

use takt_rt::memory_budget::{BudgetExhausted, Charge};
use takt_ua::NodeId;
use takt_ua::binary::Encode;

use super::attribute_change::VALUE;
use super::counted::{Counted, REFERENCE};
use super::edit::Edit;
use super::node::Node;
use crate::change::Change;
use crate::stored::memory_of_written;

/// Approximate bytes of a node without its strings and its value: its places in maps, and references with their other ends.
const NODE: usize = 400;

/// Returns the bytes of memory that a change takes.
pub(crate) fn of_change(change: &Change) -> usize {
    match change {
        // Namespaces are never removed.
        Change::AddNamespace { uri, .. } => 64 + uri.len(),
        // Approximately the size of its encoded form.
        Change::AddNode(item) => NODE + item.encode_to_vec().len(),
        Change::AddReference(_) => REFERENCE,
        Change::DeleteNode(_) | Change::DeleteReference(_) => 0,
        Change::SetAttribute(change) => match (change.attribute_id, change.value.encode_to_vec()) {
            (VALUE, encoded) => memory_of_written(encoded.len()),
            (_, encoded) => encoded.len(),
        },
    }
}

impl Edit<'_> {
    /// Reserves the memory of these changes until the result is dropped.
    ///
    /// # Errors
    /// There is not enough memory in the budget.
    pub fn reserve_memory(&self, changes: &[Change]) -> Result<Charge, BudgetExhausted> {
        let bytes = changes.iter().map(of_change).sum();
        self.space.memory.charge(bytes)
    }

    /// Counts bytes of something that exists already.
    pub(super) fn count(&mut self, bytes: usize) {
        let memory = &self.space.memory;
        let charge = self
            .counters
            .memory
            .get_or_insert_with(|| memory.empty_charge());
        charge.force(charge.bytes() + bytes);
    }

    fn give_back(&mut self, bytes: usize) {
        if let Some(charge) = &mut self.counters.memory {
            charge.force(charge.bytes().saturating_sub(bytes));
        }
    }

    /// Counts a node that takes other memory than before.
    pub(super) fn recount(&mut self, before: usize, now: usize) {
        match now.checked_sub(before) {
            Some(more) => self.count(more),
            None => self.give_back(before - now),
        }
    }

    /// Counts a node that a change adds.
    pub(super) fn count_node(&mut self, node: &mut Node, bytes: usize) {
        node.counted = Some(Counted::new(bytes));
        self.count(bytes);
    }

    /// Gives back the memory of a deleted node.
    pub(super) fn forget_node(&mut self, node: &Node) {
        if let Some(counted) = &node.counted {
            self.give_back(counted.total());
        }
    }

    /// Counts a reference that a change has added: it counts with the one of its nodes that was added by a change.
    pub(super) fn count_reference(&mut self, source: &NodeId, target: &NodeId) {
        self.with_counted(source, target, |counted| {
            counted.add_reference();
            true
        });
        self.count(REFERENCE);
    }

    /// Gives back the memory of a reference that a change has deleted. References that were added with their node count with
    /// the node.
    pub(super) fn forget_reference(&mut self, source: &NodeId, target: &NodeId) {
        let given_back = self.with_counted(source, target, Counted::remove_reference);
        if given_back {
            self.give_back(REFERENCE);
        }
    }

    fn with_counted(
        &self,
        source: &NodeId,
        target: &NodeId,
        change: impl FnOnce(&Counted) -> bool,
    ) -> bool {
        let nodes = self.space.nodes.pin();
        let counted = |node_id| nodes.get(node_id).and_then(|node| node.counted.as_deref());
        counted(source)
            .or_else(|| counted(target))
            .is_some_and(change)
    }
}
