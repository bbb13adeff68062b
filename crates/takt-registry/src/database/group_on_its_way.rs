//! State of a SecurityGroup that waits to be written, and that later states replace.
//!
//! Keys are renewed whenever they are due, even if the disk does not keep up. A group has at most one change that waits, so
//! its memory is bounded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::contents::SecurityGroupRecord;

/// A state of a SecurityGroup on its way to the file, with the highest token of all groups so far. All clones are the same
/// one; it is empty when it has been written.
#[derive(Clone)]
pub(crate) struct GroupOnItsWay(Arc<Mutex<Option<Record>>>);

type Record = (SecurityGroupRecord, u32);

impl GroupOnItsWay {
    pub(super) fn new(record: SecurityGroupRecord, last_token: u32) -> Self {
        Self(Arc::new(Mutex::new(Some((record, last_token)))))
    }

    fn record(&self) -> MutexGuard<'_, Option<Record>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the state by a later one of the same group, unless it has been written. Returns whether it was replaced.
    pub(crate) fn replace(&self, record: SecurityGroupRecord, last_token: u32) -> bool {
        let mut waiting = self.record();
        let is_waiting = waiting.is_some();
        if is_waiting {
            *waiting = Some((record, last_token));
        }
        is_waiting
    }

    /// Takes the state to write it.
    pub(super) fn take(&self) -> Option<Record> {
        self.record().take()
    }
}
