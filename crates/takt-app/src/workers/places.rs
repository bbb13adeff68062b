//! Places of requests that run on workers or wait for one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A bounded number of places.
pub(super) struct Places {
    used: AtomicUsize,
    max: usize,
}

/// One place, until it is dropped.
pub(super) struct Place(Arc<Places>);

impl Places {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            used: AtomicUsize::new(0),
            max,
        })
    }

    /// Takes a place; `None` if all are taken.
    pub(super) fn take(self: &Arc<Self>) -> Option<Place> {
        let more = |used: usize| (used < self.max).then_some(used + 1);
        self.used
            // The number protects no other data.
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()
            .map(|_| Place(Arc::clone(self)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.used.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_place_is_free_again() {
        let places = Places::new(2);
        let first = places.take().unwrap();
        let _second = places.take().unwrap();
        assert!(places.take().is_none());
        drop(first);
        assert!(places.take().is_some());
    }
}
