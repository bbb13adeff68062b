//! Release of the memory of large values that is kept for later ones.

use std::time::{Duration, Instant};

use takt_ua::large_memory;

/// Largest number of bytes that are kept: those of three of the longest requests over TCP, and of one of their responses.
pub(super) const MOST: usize = 68 << 20;

/// Time between two checks for memory that was not used.
const PAUSE: Duration = Duration::from_secs(1);

/// Time between the releases of two buffers, each of which takes about a millisecond.
const STEP: Duration = Duration::from_millis(20);

/// Time of the next check, while memory is kept.
#[derive(Debug, Default)]
pub(super) struct KeptMemory {
    next: Option<Instant>,
}

impl KeptMemory {
    /// Releases memory if it does not fit the budget of `limit` bytes beside the `used` ones. Returns the time at which to
    /// [release](Self::release) what was not used.
    #[inline]
    pub(super) fn note(&mut self, used: usize, limit: usize) -> Option<Instant> {
        let kept = large_memory::kept();
        if kept == 0 {
            return self.next;
        }
        if kept > limit.saturating_sub(used) {
            large_memory::release_one();
        }
        Some(*self.next.get_or_insert_with(|| Instant::now() + PAUSE))
    }

    /// Releases memory that was not used since the last check.
    pub(super) fn release(&mut self, now: Instant) {
        if self.next.is_some_and(|next| next <= now) {
            let more = large_memory::release_unused();
            let pause = if more { STEP } else { PAUSE };
            self.next = (large_memory::kept() > 0).then(|| now + pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_released_after_a_while_or_when_the_budget_needs_it() {
        let mut kept = KeptMemory::default();
        assert_eq!(kept.note(0, MOST), None, "nothing is kept");
        large_memory::keep_freed(MOST);
        let free = || large_memory::free(Vec::with_capacity(large_memory::LARGE));
        free();
        let next = kept.note(0, MOST).unwrap();
        assert_eq!(kept.note(0, MOST), Some(next), "it is known already");
        kept.release(next - Duration::from_millis(1));
        kept.release(next);
        assert!(large_memory::kept() > 0, "freed since the last check");
        kept.release(next + PAUSE);
        assert_eq!(large_memory::kept(), 0);
        assert_eq!(kept.note(0, MOST), None);

        free();
        assert!(kept.note(MOST, MOST).is_some());
        assert_eq!(large_memory::kept(), 0, "the budget is spent");
    }
}
