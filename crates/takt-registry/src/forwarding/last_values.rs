//! Last values of a Provider, for the time when it is gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use takt_space::{RemoteOperations, RemoteRead, RemoteResults};
use takt_ua::{DataValue, NodeId, StatusCode};

/// Largest number of values that are kept.
const MAX_VALUES: usize = 10_000;

/// Learns of all values that clients read at a server. It is called by the thread of the gateway, and must not wait.
pub(crate) trait ReadObserver: Send + Sync {
    /// Takes the results of a Read, in the order of its items.
    fn observe(&self, items: &[RemoteRead], values: &[DataValue]);
}

/// The last good values that were read.
#[derive(Default)]
pub(super) struct LastValues {
    values: Mutex<HashMap<NodeId, DataValue>>,
    observer: OnceLock<Arc<dyn ReadObserver>>,
}

impl LastValues {
    fn lock(&self) -> MutexGuard<'_, HashMap<NodeId, DataValue>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the observer of all values. Only the first call has an effect.
    pub(super) fn observe(&self, observer: Arc<dyn ReadObserver>) {
        let _ = self.observer.set(observer);
    }

    /// Keeps the good ones of these values.
    pub(super) fn keep(&self, items: &[RemoteRead], values: &[DataValue]) {
        if let Some(observer) = self.observer.get() {
            observer.observe(items, values);
        }
        let mut kept = self.lock();
        for (item, value) in items.iter().zip(values) {
            let is_whole = item.index_range.is_empty();
            let is_good = value.status.is_none_or(StatusCode::is_good);
            let has_room = kept.len() < MAX_VALUES || kept.contains_key(&item.node_id);
            if is_whole && is_good && has_room {
                kept.insert(item.node_id.clone(), value.clone());
            }
        }
    }

    /// Returns the results of operations that failed with `status`: kept values are marked as not live.
    pub(super) fn instead(
        &self,
        operations: &RemoteOperations,
        status: StatusCode,
    ) -> RemoteResults {
        let RemoteOperations::Read(items) = operations else {
            return operations.failed(status);
        };
        let kept = self.lock();
        let value = |item: &RemoteRead| match kept.get(&item.node_id) {
            Some(last) if item.index_range.is_empty() => DataValue {
                status: Some(StatusCode::UncertainLastUsableValue),
                ..last.clone()
            },
            _ => DataValue::status(status),
        };
        RemoteResults::Read(items.iter().map(value).collect())
    }
}
