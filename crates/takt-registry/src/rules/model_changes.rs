//! Changes of nodes, reported as GeneralModelChangeEvents (OPC 10000-5, 6.4.32).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use takt_services::EventSink;
use takt_space::{Change, Event};
use takt_ua::structures::ModelChangeStructureDataType;
use takt_ua::{ExtensionObject, NodeId, ids};

/// Verbs of changes (OPC 10000-5, 12.16).
const NODE_ADDED: u8 = 1;
const NODE_DELETED: u8 = 2;
const REFERENCE_ADDED: u8 = 4;
const REFERENCE_DELETED: u8 = 8;

/// Maximum number of changes in one Event.
const CHANGES_PER_EVENT: usize = 500;

/// Maximum number of changes that wait. Further ones are reported as one change of the Objects folder.
const MAX_WAITING: usize = 20_000;

/// Severity of the Events.
const SEVERITY: u16 = 10;

/// Changes that are not reported yet.
#[derive(Debug, Default)]
pub(crate) struct ModelChanges {
    /// True while clients monitor Events: otherwise nothing is kept.
    is_wanted: AtomicBool,
    waiting: Mutex<Vec<ModelChangeStructureDataType>>,
}

impl ModelChanges {
    /// Starts or stops to keep changes.
    pub(crate) fn set_wanted(&self, is_wanted: bool) {
        self.is_wanted.store(is_wanted, Ordering::Relaxed);
    }

    /// Keeps a change of a client. `type_of` returns the type of a node, null for one without a type.
    pub(crate) fn keep(&self, change: &Change, type_of: impl Fn(&NodeId) -> NodeId) {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return;
        }
        let (affected, affected_type, verb) = match change {
            Change::AddNode(item) => {
                let node = &item.requested_new_node_id.node_id;
                (node, item.type_definition.node_id.clone(), NODE_ADDED)
            }
            Change::DeleteNode(item) => (&item.node_id, NodeId::NULL, NODE_DELETED),
            Change::AddReference(item) => {
                let node = &item.source_node_id;
                (node, type_of(node), REFERENCE_ADDED)
            }
            Change::DeleteReference(item) => {
                let node = &item.source_node_id;
                (node, type_of(node), REFERENCE_DELETED)
            }
            // The verbs are for nodes, references and the DataType of Variables.
            Change::AddNamespace { .. } | Change::SetAttribute(_) => return,
        };
        self.add(affected, affected_type, verb);
    }

    /// Keeps the deletion of a node by the registry itself.
    pub(crate) fn keep_deleted(&self, node: &NodeId) {
        if self.is_wanted.load(Ordering::Relaxed) {
            self.add(node, NodeId::NULL, NODE_DELETED);
        }
    }

    fn add(&self, affected: &NodeId, affected_type: NodeId, verb: u8) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.len() {
            ..MAX_WAITING => {
                if let Some(last) = waiting.last_mut().filter(|last| last.affected == *affected) {
                    // One node, several changes: the verbs are bits.
                    last.verb |= verb;
                } else {
                    waiting.push(ModelChangeStructureDataType {
                        affected: affected.clone(),
                        affected_type,
                        verb,
                    });
                }
            }
            // One more change stands for all that are left out, and is of the folder above everything.
            MAX_WAITING => waiting.push(ModelChangeStructureDataType {
                affected: NodeId::from(ids::OBJECTS_FOLDER),
                affected_type: NodeId::from(ids::FOLDER_TYPE),
                verb: REFERENCE_ADDED | REFERENCE_DELETED,
            }),
            _ => {}
        }
    }

    /// Reports the changes so far.
    pub(crate) fn report(&self, sink: &EventSink) {
        let changes = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *waiting)
        };
        for changes in changes.chunks(CHANGES_PER_EVENT) {
            let count = changes.len();
            let changes: Vec<ExtensionObject> = changes
                .iter()
                .map(ExtensionObject::from_structure)
                .collect();
            let event = Event::new(ids::GENERAL_MODEL_CHANGE_EVENT_TYPE, ids::SERVER)
                .source_name("Server")
                .severity(SEVERITY)
                .message(format!("{count} nodes changed").as_str())
                .field("Changes", changes);
            sink.report(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::structures::AddNodesItem;

    use super::*;

    fn added(number: u32) -> Change {
        Change::AddNode(Box::new(AddNodesItem {
            requested_new_node_id: NodeId::numeric(1, number).into(),
            ..AddNodesItem::default()
        }))
    }

    #[test]
    fn only_wanted_changes_are_kept_and_their_number_is_bounded() {
        let changes = ModelChanges::default();
        changes.keep(&added(1), |_| NodeId::NULL);
        assert!(changes.waiting.lock().unwrap().is_empty());
        changes.set_wanted(true);
        for number in 0..30_000 {
            changes.keep(&added(number), |_| NodeId::NULL);
        }
        let waiting = changes.waiting.lock().unwrap();
        assert_eq!(waiting.len(), MAX_WAITING + 1);
        assert_eq!(waiting[0].verb, NODE_ADDED);
        let last = waiting.last().unwrap();
        assert_eq!(last.affected, NodeId::from(ids::OBJECTS_FOLDER));
    }

    #[test]
    fn changes_of_one_node_are_one() {
        let changes = ModelChanges::default();
        changes.set_wanted(true);
        let node = NodeId::numeric(1, 7);
        changes.add(&node, NodeId::NULL, NODE_ADDED);
        changes.add(&node, NodeId::NULL, REFERENCE_ADDED);
        let waiting = changes.waiting.lock().unwrap();
        assert_eq!(waiting.len(), 1);
        assert_eq!(waiting[0].verb, 5);
    }
}
