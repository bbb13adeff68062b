//! Shared memory as the words of the [protocol](crate::channel::protocol): little-endian.

use std::sync::atomic::{Ordering, fence};

use takt_rt::segment::{Segment, SegmentView};

use crate::channel::protocol::{Bits, Load, Store};

impl Load for Segment {
    #[inline]
    fn load(&self, index: usize, ordering: Ordering) -> u64 {
        let word = self.words().get(index);
        word.map_or(0, |word| u64::from_le(word.load(ordering)))
    }

    #[inline]
    fn fence(&self) {
        fence(Ordering::SeqCst);
    }
}

impl Store for Segment {
    #[inline]
    fn store(&self, index: usize, value: u64, ordering: Ordering) {
        if let Some(word) = self.words().get(index) {
            word.store(value.to_le(), ordering);
        }
    }
}

impl Bits for Segment {
    #[inline]
    fn set(&self, index: usize, bits: u64) {
        if let Some(word) = self.words().get(index) {
            word.fetch_or(bits.to_le(), Ordering::SeqCst);
        }
    }

    fn clear(&self, index: usize, bits: u64) {
        if let Some(word) = self.words().get(index) {
            word.fetch_and(!bits.to_le(), Ordering::SeqCst);
        }
    }
}

impl Load for SegmentView {
    /// Loads with acquire ordering, which is the strongest that the protocol uses.
    #[inline]
    fn load(&self, index: usize, _: Ordering) -> u64 {
        u64::from_le(SegmentView::load(self, 8 * index).unwrap_or_default())
    }

    #[inline]
    fn fence(&self) {
        fence(Ordering::SeqCst);
    }
}
