//! The recorded Variables, and the numbers of their records.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

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

/// The recorded Variables by their NodeIds.
#[derive(Debug, Default)]
pub(super) struct RecordedVariables(RwLock<HashMap<NodeId, Recorded>>);

impl RecordedVariables {
    pub(super) fn get(&self, node: &NodeId) -> Option<Recorded> {
        let variables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        variables.get(node).copied()
    }

    pub(super) fn set(&self, node: NodeId, recorded: Recorded) {
        let mut variables = self.0.write().unwrap_or_else(PoisonError::into_inner);
        variables.insert(node, recorded);
    }
}
