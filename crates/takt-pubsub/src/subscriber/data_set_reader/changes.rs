//! Numbers of a reader's messages, and the flag for changes of its state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Numbers of messages of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReaderStatistics {
    /// DataSetMessages that were accepted.
    pub received: u64,
    /// DataSetMessages that were lost, according to the sequence numbers.
    pub missing: u64,
    /// DataSetMessages that were discarded because they were received twice, or after newer ones.
    pub discarded: u64,
    /// Number of times that MessageReceiveTimeout has passed without a message.
    pub timeouts: u64,
}

/// Flag that a reader's state may have changed. All readers of a Subscriber share it, so the Subscriber need not check each reader
/// after each message.
#[derive(Debug, Clone, Default)]
pub(in crate::subscriber) struct StateChanges(Arc<AtomicBool>);

impl StateChanges {
    pub(in crate::subscriber) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if there was a change since the last call.
    #[inline]
    pub(in crate::subscriber) fn take(&self) -> bool {
        // The load comes first, because a swap writes, and this runs after each message.
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}
