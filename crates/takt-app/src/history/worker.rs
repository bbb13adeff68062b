//! State of the thread that records.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use takt_history::{HistoryRecord, Store, VariableKey};
use takt_space::AddressSpace;
use takt_ua::{NamespaceMap, NodeId};

use super::event_times::EventTimes;
use super::excess::Excess;
use super::gaps::Gaps;
use super::inbox::{Inbox, MAX_WAITING, RECORD};
use super::namespaces::{FileNamespaces, ToFile, has_indexes, renumbered};
use super::recorded::RecordedVariables;
use super::sampled::Sampled;

/// Bytes of values that wait for a commit after a failed one: the next attempt shall fit a disk with little space.
pub(super) const MAX_ATTEMPT: usize = 1 << 20;

/// State of the thread.
pub(super) struct Worker {
    pub(super) inbox: Arc<Inbox>,
    pub(super) space: Weak<AddressSpace>,
    pub(super) store: Store,
    namespaces: Arc<FileNamespaces>,
    to_file: ToFile,
    pub(super) variables: Arc<RecordedVariables>,
    pub(super) notifiers: Arc<RecordedVariables>,
    /// Times of the records of Events.
    pub(super) times: EventTimes,
    pub(super) sampled: Vec<Sampled>,
    pub(super) by_node: HashMap<NodeId, usize>,
    pub(super) by_key: HashMap<VariableKey, usize>,
    /// Variables beyond the limit.
    pub(super) excess: Excess,
    pub(super) gaps: Gaps,
    /// Records that wait for a commit.
    pub(super) waiting: Vec<(VariableKey, HistoryRecord)>,
    pub(super) waiting_bytes: usize,
    /// True if the last commit failed.
    pub(super) failing: bool,
}

impl Worker {
    pub(super) fn new(
        space: Weak<AddressSpace>,
        (store, namespaces): (Store, Arc<FileNamespaces>),
        (variables, notifiers): (Arc<RecordedVariables>, Arc<RecordedVariables>),
        inbox: Arc<Inbox>,
    ) -> Self {
        Self {
            inbox,
            space,
            store,
            namespaces,
            to_file: ToFile::default(),
            variables,
            notifiers,
            times: EventTimes::default(),
            sampled: Vec::new(),
            by_node: HashMap::new(),
            by_key: HashMap::new(),
            excess: Excess::default(),
            gaps: Gaps::default(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            failing: false,
        }
    }

    pub(super) fn push(&mut self, key: VariableKey, record: HistoryRecord) {
        let bytes = record.value.len() + RECORD;
        let most = if self.failing {
            MAX_ATTEMPT
        } else {
            MAX_WAITING
        };
        if self.waiting_bytes + bytes > most {
            if self.by_key.contains_key(&key) {
                self.gaps.note(key, record.source_timestamp);
            }
            return self.inbox.lose(1);
        }
        self.waiting_bytes += bytes;
        self.waiting.push((key, record));
    }

    /// Returns a value with the indexes of the file.
    pub(super) fn value_of_file(&mut self, value: Vec<u8>) -> Vec<u8> {
        if !has_indexes(&value) {
            return value;
        }
        match self.map_to_file() {
            Some(map) => renumbered(&value, map).unwrap_or(value),
            None => value,
        }
    }

    /// Returns the map from the indexes of the server to those of the file; `None` if they are the same.
    pub(super) fn map_to_file(&mut self) -> Option<&NamespaceMap> {
        let space = self.space.upgrade()?;
        let map = self
            .to_file
            .update(&space, &self.namespaces, &mut self.store);
        map.unwrap_or_else(|error| {
            tracing::warn!(%error, "history: namespaces are not recorded");
            None
        })
    }
}
