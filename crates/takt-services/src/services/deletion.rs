//! Deletion of a node and of the children that have no other parent (OPC 10000-4, 5.8.4), in slices.
//!
//! The children are found first. A few nodes are deleted at once, all or none. Many are authorized first and then deleted one
//! by one, children first, so that the remaining nodes are connected at every moment. The references of a node with many
//! references are removed before the node, some at a time.

use std::collections::HashSet;

use takt_space::{Change, References, TypeFilter, View};
use takt_ua::structures::DeleteNodesItem;
use takt_ua::{NodeId, StatusCode, ids};

use super::manager::Manager;
use super::sliced::service::Turn;

/// Largest number of nodes, and of references of a node, that are deleted at once; more are deleted step by step.
const AT_ONCE: usize = 32;

/// Units of work for the removal of one reference at both ends, and for the check of all references of one child.
const REFERENCE: u64 = 4;

/// A node that is being deleted.
pub(super) struct Deletion {
    item: DeleteNodesItem,
    /// Nodes to be deleted, parents before their children.
    doomed: Vec<NodeId>,
    known: HashSet<NodeId>,
    /// Index of the node whose children are being searched for; `position` is the next one among its references.
    parent: usize,
    references: Option<References>,
    position: usize,
    is_large: bool,
    /// Number of nodes that the rules have authorized.
    authorized: usize,
}

impl Deletion {
    pub(super) fn new(item: DeleteNodesItem) -> Self {
        Self {
            doomed: vec![item.node_id.clone()],
            known: HashSet::from([item.node_id.clone()]),
            item,
            parent: 0,
            references: None,
            position: 0,
            is_large: false,
            authorized: 0,
        }
    }

    /// Continues until the node is deleted or the slice is over.
    pub(super) fn run(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<(), StatusCode>> {
        if !self.find(turn) {
            return None;
        }
        if !self.is_large {
            return Some(delete(manager, turn, &self.item));
        }
        while let Some(node_id) = self.doomed.get(self.authorized) {
            if turn.work.is_over() {
                return None;
            }
            turn.work.spend(1);
            if let Err(status) = manager.authorize(&Change::DeleteNode(self.item_of(node_id))) {
                return Some(Err(status));
            }
            self.authorized += 1;
        }
        // From here on, `authorized` is never less than the number of remaining nodes.
        self.delete_one_by_one(manager, turn)
    }

    fn item_of(&self, node_id: &NodeId) -> DeleteNodesItem {
        let is_child = *node_id != self.item.node_id;
        DeleteNodesItem {
            node_id: node_id.clone(),
            delete_target_references: is_child || self.item.delete_target_references,
        }
    }

    /// Finds the children that have no other parent, and their children. Returns true if the search is complete.
    fn find(&mut self, turn: &mut Turn<'_, '_>) -> bool {
        let view = turn.request.server.space.view();
        let mut aggregates = TypeFilter::with_subtypes(ids::AGGREGATES.into());
        while let Some(parent) = self.doomed.get(self.parent) {
            let references = match self.references.take() {
                Some(references) => references,
                None => match added(&view, parent) {
                    Some(references) => references,
                    None => {
                        self.parent += 1;
                        continue;
                    }
                },
            };
            self.is_large |= references.len() > AT_ONCE;
            while let Some((at, reference)) = references.at_or_after(self.position) {
                if turn.work.is_over() {
                    self.references = Some(references);
                    return false;
                }
                turn.work.spend(1);
                self.position = at + 1;
                if !reference.is_forward || !aggregates.matches(&view, reference.reference_type) {
                    continue;
                }
                let Some(child) = reference.local_target().map(|child| child.to_owned()) else {
                    continue;
                };
                turn.work.spend(REFERENCE);
                if !self.known.contains(&child) && view.is_orphan(&child, &self.known) {
                    self.known.insert(child.clone());
                    self.doomed.push(child);
                }
            }
            (self.parent, self.position) = (self.parent + 1, 0);
        }
        self.is_large |= self.doomed.len() > AT_ONCE;
        true
    }

    fn delete_one_by_one(
        &mut self,
        manager: &Manager,
        turn: &mut Turn<'_, '_>,
    ) -> Option<Result<(), StatusCode>> {
        while let Some(node_id) = self.doomed.last() {
            if turn.work.is_over() {
                return None;
            }
            let item = self.item_of(node_id);
            if item.delete_target_references {
                // The lock of the edit ends with each turn, so that other requests use the address space in between.
                let mut edit = turn.request.server.space.edit();
                let detached = edit.detach(node_id, AT_ONCE);
                turn.work.spend(REFERENCE * detached as u64);
                if detached > 0 {
                    continue;
                }
            }
            let deleted = delete(manager, turn, &item);
            self.doomed.pop();
            match deleted {
                // Another request has deleted the child meanwhile.
                Err(StatusCode::BadNodeIdUnknown) if !self.doomed.is_empty() => {}
                Ok(()) if !self.doomed.is_empty() => {}
                last_or_failed => return Some(last_or_failed),
            }
        }
        None
    }
}

fn delete(
    manager: &Manager,
    turn: &mut Turn<'_, '_>,
    item: &DeleteNodesItem,
) -> Result<(), StatusCode> {
    manager.operate(turn.request.server, turn.work, |edit| {
        Ok(((), edit.plan_delete_node(item)?))
    })
}

/// Returns the references of a node that can be deleted.
fn added(view: &View<'_>, node_id: &NodeId) -> Option<References> {
    let node = view
        .node(node_id)
        .filter(|node| node.standard().is_none())?;
    Some(node.references())
}
