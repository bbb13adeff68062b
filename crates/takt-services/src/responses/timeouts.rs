//! TimeoutHint of requests that wait for another server (OPC 10000-4, 7.33): each is answered with `BadTimeout` when its time
//! is over, in any state of waiting.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use takt_ua::StatusCode;

use super::deadline::Deadline;
use super::fault::Fault;
use super::pending::Pending;

/// The deferred requests with a TimeoutHint, by the time at which they are answered with `BadTimeout`.
#[derive(Default)]
pub(crate) struct Timeouts {
    waiting: Mutex<Waiting>,
    /// The earliest time; set while the requests are locked.
    first: Deadline,
}

#[derive(Default)]
struct Waiting {
    requests: BTreeMap<Key, Arc<Pending>>,
    last_number: u64,
}

/// Key of a request for [`Timeouts::remove`]: its time, and a unique number.
pub(crate) type Key = (Instant, u64);

impl Timeouts {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request.
    pub(crate) fn add(&self, at: Instant, pending: Arc<Pending>) -> Key {
        let mut waiting = self.waiting();
        waiting.last_number += 1;
        let key = (at, waiting.last_number);
        waiting.requests.insert(key, pending);
        self.set_first(&waiting);
        key
    }

    /// Removes a request that has been answered.
    pub(crate) fn remove(&self, key: Key) {
        let mut waiting = self.waiting();
        waiting.requests.remove(&key);
        self.set_first(&waiting);
    }

    fn set_first(&self, waiting: &Waiting) {
        let first = waiting.requests.first_key_value();
        self.first.set(first.map(|((at, _), _)| *at));
    }

    /// Returns the time at which [`expire`](Self::expire) is due. Takes no lock.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.first.get()
    }

    /// Answers the requests whose time is over.
    pub(crate) fn expire(&self, now: Instant) {
        if !self.first.is_due(now) {
            return;
        }
        let mut waiting = self.waiting();
        while let Some(entry) = waiting.requests.first_entry()
            && entry.key().0 <= now
        {
            entry.remove().answer_fault(Fault(StatusCode::BadTimeout));
        }
        self.set_first(&waiting);
    }
}
