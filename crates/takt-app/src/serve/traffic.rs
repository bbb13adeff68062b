//! Counters of an application's requests and responses.

use std::sync::atomic::{AtomicU64, Ordering};

/// Traffic of a serving thread so far, over all its endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Number of requests.
    pub requests: u64,
    /// Size in bytes of the request bodies: TypeId and structure, without headers of the transport.
    pub received_bytes: u64,
    /// Size in bytes of the response bodies.
    pub sent_bytes: u64,
}

/// Counters that other threads can read. Only the serving thread writes them, so that no lock is needed.
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
    // One thread writes: an addition that is not atomic is enough, and costs less.
    let now = counter.load(Ordering::Relaxed);
    counter.store(now.wrapping_add(count), Ordering::Relaxed);
}
