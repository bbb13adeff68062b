//! The next moment at which something has to be done, read after every request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Value for a deadline that is not set.
const NEVER: u64 = u64::MAX;

/// A moment that is set under a lock and read without one.
#[derive(Debug)]
pub(crate) struct Deadline {
    /// Nanoseconds since `epoch`, or [`NEVER`].
    nanos: AtomicU64,
    epoch: Instant,
}

impl Default for Deadline {
    fn default() -> Self {
        Self {
            nanos: AtomicU64::new(NEVER),
            epoch: Instant::now(),
        }
    }
}

impl Deadline {
    /// Returns the moment, if one is set; takes no lock.
    #[inline]
    pub(crate) fn get(&self) -> Option<Instant> {
        match self.nanos.load(Ordering::Acquire) {
            NEVER => None,
            nanos => Some(self.epoch + Duration::from_nanos(nanos)),
        }
    }

    pub(crate) fn set(&self, at: Option<Instant>) {
        let nanos = at.map_or(NEVER, |at| {
            // A moment before `epoch` is due at once.
            let since = at.saturating_duration_since(self.epoch);
            u64::try_from(since.as_nanos()).unwrap_or(NEVER)
        });
        self.nanos.store(nanos, Ordering::Release);
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.get().is_some_and(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_set_and_cleared() {
        let deadline = Deadline::default();
        let now = Instant::now();
        assert_eq!(deadline.get(), None);
        assert!(!deadline.is_due(now));
        let at = now + Duration::from_secs(1);
        deadline.set(Some(at));
        assert_eq!(deadline.get(), Some(at));
        assert!(!deadline.is_due(now) && deadline.is_due(at));
        deadline.set(None);
        assert_eq!(deadline.get(), None);
    }
}
