//! Numbers of a reader's messages, and the flag for changes of its state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::losses::{LossCause, Losses};

/// Numbers of messages of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReaderStatistics {
    /// DataSetMessages that were accepted.
    pub received: u64,
    /// DataSetMessages that were lost, according to the sequence numbers.
    pub missing: u64,
    /// DataSetMessages that were discarded because they were received twice, or after newer ones.
    pub discarded: u64,
    /// Delta frames that were discarded because no key frame was received before them.
    pub without_key_frame: u64,
    /// DataSetMessages that are invalid, or of a kind that readers do not take.
    pub unknown_kind: u64,
    /// DataSetMessages that cannot be decoded, or some of whose fields cannot.
    pub undecodable: u64,
    /// Number of times that MessageReceiveTimeout has passed without a message.
    pub timeouts: u64,
}

impl ReaderStatistics {
    /// Adds the lost messages to the numbers by cause.
    pub(in crate::subscriber) fn add_losses(&self, losses: &mut Losses) {
        losses.add(LossCause::Gap, self.missing);
        losses.add(LossCause::Repetition, self.discarded);
        losses.add(LossCause::KeyFrame, self.without_key_frame);
        losses.add(LossCause::Kind, self.unknown_kind);
        losses.add(LossCause::Encoding, self.undecodable);
    }
}

/// Flag that a reader's state may have changed. All readers of a Subscriber share it, so the Subscriber need not check each reader
/// after each message.
#[derive(Debug, Clone, Default)]
pub(in crate::subscriber) struct StateChanges(Arc<AtomicBool>);

impl StateChanges {
    pub(in crate::subscriber) fn note(&self) {
        // A Subscriber and its readers are on one thread. The flag is atomic only to be shared by them.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if there was a change since the last call.
    #[inline]
    pub(in crate::subscriber) fn take(&self) -> bool {
        // The load comes first, because a swap writes, and this runs after each message.
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}
