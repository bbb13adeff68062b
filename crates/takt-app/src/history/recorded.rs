//! The recorded Variables, and the numbers of their records.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use takt_history::VariableKey;
use takt_ua::NodeId;

/// Numbers of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryCounts {
    /// Records that are durable.
    pub recorded: u64,
    /// Records that are lost: the disk was full or failed, too many values came at once, or a value was too large.
    pub lost: u64,
}

/// A recorded Variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded {
    pub(super) key: VariableKey,
    pub(super) stepped: bool,
}

/// The recorded Variables by their NodeIds; `None`: its recording has not begun.
#[derive(Debug, Default)]
pub(super) struct RecordedVariables(RwLock<HashMap<NodeId, Option<Recorded>>>);

impl RecordedVariables {
    fn write(&self) -> RwLockWriteGuard<'_, HashMap<NodeId, Option<Recorded>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<NodeId, Option<Recorded>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, node: &NodeId) -> Option<Recorded> {
        self.read().get(node).copied().flatten()
    }

    /// Returns true for a Variable that is recorded, or will be.
    pub(super) fn is_wanted(&self, node: &NodeId) -> bool {
        self.read().contains_key(node)
    }

    /// Notes a Variable whose recording begins soon.
    pub(super) fn want(&self, node: NodeId) {
        self.write().entry(node).or_insert(None);
    }

    /// Notes that a Variable is not recorded.
    pub(super) fn refuse(&self, node: &NodeId) {
        self.write().remove(node);
    }

    pub(super) fn set(&self, node: NodeId, recorded: Recorded) {
        self.write().insert(node, Some(recorded));
    }
}
