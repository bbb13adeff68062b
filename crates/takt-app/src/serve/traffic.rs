//! How much an application has been asked and has answered.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a serving thread has carried so far, over all its endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Requests.
    pub requests: u64,
    /// Bytes of their message bodies: TypeId and structure, without what a transport puts before them.
    pub received_bytes: u64,
    /// Bytes of the bodies of responses.
    pub sent_bytes: u64,
}

/// Counts while others look. Only the serving thread writes, so that no counter has to be locked.
#[derive(Debug, Default)]
pub(super) struct Counters {
    requests: AtomicU64,
    received_bytes: AtomicU64,
    sent_bytes: AtomicU64,
}

impl Counters {
    #[inline]
    pub(super) fn request(&self, bytes: usize) {
        add(&self.requests, 1);
        add(&self.received_bytes, bytes as u64);
    }

    #[inline]
    pub(super) fn response(&self, bytes: usize) {
        add(&self.sent_bytes, bytes as u64);
    }

    pub(super) fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.requests.load(Ordering::Relaxed),
            received_bytes: self.received_bytes.load(Ordering::Relaxed),
            sent_bytes: self.sent_bytes.load(Ordering::Relaxed),
        }
    }
}

#[inline]
fn add(counter: &AtomicU64, count: u64) {
    let now = counter.load(Ordering::Relaxed);
    counter.store(now.wrapping_add(count), Ordering::Relaxed);
}
