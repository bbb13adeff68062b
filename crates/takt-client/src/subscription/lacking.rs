//! State of a recovery: which values the receiver may lack, and when something is to be done about it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Pause before refused items are monitored again.
const RETRY: Duration = Duration::from_secs(1);

/// Values that the receiver may lack.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// True if all values have to be sent again.
    pub(super) is_due: bool,
    /// True if the server has no ResendData.
    pub(super) lacks_method: bool,
    /// Handles of items without a notification since the values were requested.
    pub(super) awaited: BTreeSet<u32>,
    /// Time at which the awaited values are read.
    pub(super) read_at: Option<Instant>,
    /// Handles of items that the server refused to monitor again.
    pub(super) refused: Vec<u32>,
    /// Time of the next attempt to monitor them.
    pub(super) retry_at: Option<Instant>,
}

impl Recovery {
    /// Requests all values.
    pub(super) fn request(&mut self) {
        self.is_due = true;
    }

    /// Notes a notification of an item.
    pub(super) fn notified(&mut self, handle: u32) {
        // It is empty nearly always, and this runs for each change.
        if !self.awaited.is_empty() {
            self.awaited.remove(&handle);
        }
    }

    /// Returns the time until something is to be done, at most `timeout`.
    pub(super) fn wait(&self, timeout: Duration) -> Duration {
        let next = self.read_at.into_iter().chain(self.retry_at).min();
        next.map_or(timeout, |next| {
            timeout.min(next.saturating_duration_since(Instant::now()))
        })
    }

    /// Returns the items that are to be monitored again now.
    pub(super) fn take_refused(&mut self, now: Instant) -> Vec<u32> {
        if self.refused.is_empty() {
            self.retry_at = None;
            return Vec::new();
        }
        match self.retry_at {
            Some(at) if at <= now => {
                self.retry_at = None;
                std::mem::take(&mut self.refused)
            }
            Some(_) => Vec::new(),
            None => {
                self.retry_at = Some(now + RETRY);
                Vec::new()
            }
        }
    }
}
