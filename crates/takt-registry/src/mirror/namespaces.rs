//! Namespaces of mirrored servers in the database: their NamespaceIndexes stay the same when the registry starts again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use takt_space::{AddressSpace, Change};

use crate::database::DatabaseError;
use crate::rules::Rules;

/// Namespaces that the mirrors have registered, for all mirrors.
pub(super) struct KeptNamespaces {
    rules: Arc<Rules>,
    /// Indexes that are on the disk. Locked while others are added.
    kept: Mutex<HashSet<u16>>,
}

impl KeptNamespaces {
    pub(super) fn new(rules: &Arc<Rules>) -> Self {
        Self {
            rules: Arc::clone(rules),
            kept: Mutex::default(),
        }
    }

    /// Keeps namespaces before clients see nodes in them. A database that fails does not end the mirror: its nodes may have other
    /// NamespaceIndexes after a restart.
    pub(super) fn keep(&self, space: &AddressSpace, indexes: &[u16]) {
        if let Err(error) = self.record(space, indexes) {
            tracing::warn!(%error, "namespaces of mirrors are not stored");
        }
    }

    fn record(&self, space: &AddressSpace, indexes: &[u16]) -> Result<(), DatabaseError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let namespaces = space.namespaces();
        let new: Vec<Change> = indexes
            .iter()
            .filter(|index| !kept.contains(index))
            .filter_map(|index| {
                let uri = namespaces.uri(*index)?.as_ref().to_owned();
                Some(Change::AddNamespace { index: *index, uri })
            })
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        self.rules.record_own(new)?;
        self.rules.database.settle_now()?;
        kept.extend(indexes);
        Ok(())
    }
}
