//! Memory of one node in the budget.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Approximate bytes of a reference with its other end.
pub(super) const REFERENCE: usize = 96;

/// Memory that a node counts in the budget.
#[derive(Debug)]
pub(crate) struct Counted {
    bytes: usize,
    /// Number of references that were added to the node later.
    references: AtomicUsize,
}

impl Counted {
    pub(super) fn new(bytes: usize) -> Box<Self> {
        Box::new(Self {
            bytes,
            references: AtomicUsize::new(0),
        })
    }

    /// Returns the same memory after a value of `shrunk` bytes was replaced by one of `grown` bytes.
    pub(super) fn resized(&self, grown: usize, shrunk: usize) -> Box<Self> {
        Box::new(Self {
            bytes: self.bytes.saturating_sub(shrunk) + grown,
            references: AtomicUsize::new(self.references.load(Ordering::Relaxed)),
        })
    }

    /// Returns the bytes of the node with its references.
    pub(super) fn total(&self) -> usize {
        self.bytes + self.references.load(Ordering::Relaxed) * REFERENCE
    }

    /// Counts a reference that was added later.
    pub(super) fn add_reference(&self) {
        self.references.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a deleted reference. Returns true if it was added later; others count with the node.
    pub(super) fn remove_reference(&self) -> bool {
        let less = |count: usize| count.checked_sub(1);
        self.references
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}
