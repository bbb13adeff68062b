//! The protocol: several slots, one of them published.
//!
//! # Layout
//!
//! A cell is a [`Control`] and [`SLOTS`] slots of equally many 64-bit words, all of them atomic. Word 0 of a slot is
//! its *sequence*; the others are the value with its properties, whose meaning is irrelevant here.
//!
//! Every set gets a unique *generation* from `Control::tickets`, counting from 1. A sequence of `2g` means that the
//! slot holds the complete value of generation `g`; `2g + 1` means that the set with generation `g` has claimed the
//! slot and is writing. `Control::latest` names the published generation and its slot in one word, and only grows.
//!
//! # Setting
//!
//! 1. Take a ticket `g`.
//! 2. Claim a slot: compare-and-swap its sequence from an even `2h` to `2g + 1`, *only if `h` is less than a generation
//!    read from `latest`*.
//! 3. Release fence; store the words, relaxed.
//! 4. Store `2g` to the sequence, and raise `latest` to (`g`, slot) unless it is beyond that already.
//!
//! **The published slot is never claimed.** `latest` only grows, so once a generation greater than `h` has been seen
//! in it, `h` is not and never again becomes the published one; and the compare-and-swap succeeds only while the slot
//! still holds `h`, because generations are unique. So a thread that stops during a set, temporarily or for ever,
//! blocks no other thread: the published value stays whole, and only one spare slot is lost.
//!
//! **A set takes a bounded number of steps.** At any moment one slot is published and each other set under way holds
//! at most one, so with at most `SLOTS - 1` sets at once, one slot is left to claim. A round over the slots can only
//! miss it if another set claims or publishes during that round. The sets under way can do so twice each before one
//! with a later ticket than this set is published. Then this set is *superseded*: the result is the same as if it had
//! happened just before the other one, which began later, and nothing remains to be done. Hence `CLAIM_ROUNDS` rounds
//! are enough, if they see the newest values: a load may return an older one, so there is one round with loads before
//! them, and they use read-modify-writes. With more sets at once than that, the last ones may return `Busy`. Raising `latest` fails only if
//! another set raised it: at most `SLOTS - 1` sets hold a slot and could do so, so that loop is bounded as well.
//!
//! # Reading
//!
//! 1. Load `latest`, relaxed, and fence (acquire): generation `g` and its slot.
//! 2. Load the words, relaxed.
//! 3. Acquire fence; the words are those of generation `g` if the sequence, loaded relaxed, still is `2g`, otherwise
//!    start again.
//!
//! There are fences and no acquire loads because the memory may belong to another process and be mapped read-only,
//! for which std only guarantees relaxed loads.
//!
//! **Every accepted value is whole.** Step 1 reads from step 4 of the set (or from a later raise of `latest`, which
//! continues its release sequence), so all words of `g` happened before step 2, and no older ones can be read. If a
//! word of a later set was read, then that set's release fence synchronises with the reader's acquire fence, so its
//! claim of the slot happened before the load of the sequence in step 3, which therefore cannot be `2g` any more,
//! because generations are unique.
//!
//! A read starts again only if the slot was claimed while it was being copied. Slots are claimed in turn, so with one
//! setting thread that takes `SLOTS - 1` whole sets during one copy. Readers write nothing: they disturb neither each
//! other nor the setting threads.

use crate::sync::{AtomicU64, Ordering, fence};

/// Number of values per cell: the published one, and one for each of three sets that may be under way at once.
pub(crate) const SLOTS: usize = 4;

/// Number of attempts of a read, sufficient unless values are set without a pause on many cores.
const READ_ATTEMPTS: usize = if cfg!(loom) { 8 } else { 128 };

/// Number of lower bits of `latest` that hold the slot.
const SLOT_BITS: u32 = SLOTS.trailing_zeros();
const _: () = assert!(SLOTS.is_power_of_two());

/// Error of a read that was interrupted by sets in all attempts, or of a set without a free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Busy;

/// Control words that the slots of a cell share.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Control {
    /// Published generation times `SLOTS`, plus the number of its slot.
    latest: AtomicU64,
    /// Last generation that was assigned.
    tickets: AtomicU64,
}

impl Control {
    /// Publishes generation 1 in slot 0, which the caller has [initialised](initialise).
    pub(crate) fn new() -> Self {
        Self {
            latest: AtomicU64::new(1 << SLOT_BITS),
            tickets: AtomicU64::new(1),
        }
    }

    /// Creates control words of no cell: nothing is published.
    #[cfg(not(loom))]
    pub(crate) const fn none() -> Self {
        Self {
            latest: AtomicU64::new(0),
            tickets: AtomicU64::new(0),
        }
    }

    /// Resets the control words.
    #[cfg(not(loom))]
    pub(crate) fn reset(&self) {
        self.tickets.store(1, Ordering::Relaxed);
        self.latest.store(1 << SLOT_BITS, Ordering::Release);
    }

    /// Loads `latest` with acquire ordering, also from memory that is mapped read-only.
    #[inline]
    fn published(&self) -> u64 {
        let latest = self.latest.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        latest
    }

    /// Returns the published generation.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.published() >> SLOT_BITS
    }
}

/// Initialises the words of a new cell: all slots empty and slot 0 in generation 1.
pub(crate) fn initialise(words: &[AtomicU64]) {
    if let Some(sequence) = words.first() {
        sequence.store(2, Ordering::Relaxed);
    }
}

/// The slots of a cell, in this process or in shared memory. `N` is [`SLOTS`], except in models.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots<'a, const N: usize = SLOTS> {
    control: &'a Control,
    words: &'a [AtomicU64],
    slot_words: usize,
}

impl<'a, const N: usize> Slots<'a, N> {
    /// Number of claiming rounds; see "A set takes a bounded number of steps": each of `N - 2` others twice claims
    /// and once publishes.
    const CLAIM_ROUNDS: usize = 3 * (N - 2) + 1;
    const MASK: u64 = {
        assert!(N.is_power_of_two() && N >= 2 && N <= SLOTS);
        N as u64 - 1
    };

    /// Creates the slots. `words` holds `N` times `slot_words`, at least two each; missing slots are never chosen.
    #[inline]
    pub(crate) fn new(control: &'a Control, words: &'a [AtomicU64], slot_words: usize) -> Self {
        Self {
            control,
            words,
            slot_words,
        }
    }

    /// Returns the sequence and the other words of the slot that the lower bits of `number` name.
    #[inline]
    fn slot(&self, number: u64) -> Option<(&'a AtomicU64, &'a [AtomicU64])> {
        // Masked before the conversion: fits any usize.
        let start = (number & Self::MASK) as usize * self.slot_words;
        self.words
            .get(start..start + self.slot_words)?
            .split_first()
    }

    /// Returns the last ticket, perhaps that of a set that is under way.
    #[cfg(not(loom))]
    pub(crate) fn last_ticket(&self) -> u64 {
        self.control.tickets.load(Ordering::Acquire)
    }

    /// Sets a value: `write` stores the words after the sequence, relaxed.
    ///
    /// A superseded set is complete without a call of `write`.
    #[inline]
    pub(crate) fn set(&self, write: impl FnOnce(&[AtomicU64])) -> Result<(), Busy> {
        // Unique in every order; later than the ticket of any set that happened before.
        let generation = self.control.tickets.fetch_add(1, Ordering::Relaxed) + 1;
        self.set_generation(generation, write)
    }

    /// Sets a value unless a set has begun after the one with the ticket `last`; returns false in that case. Each set that begins from
    /// now on has a later ticket, so it wins in every order.
    #[cfg(not(loom))]
    pub(crate) fn set_after(
        &self,
        last: u64,
        write: impl FnOnce(&[AtomicU64]),
    ) -> Result<bool, Busy> {
        let tickets = &self.control.tickets;
        let (generation, order) = (last + 1, Ordering::Relaxed);
        let taken = tickets.compare_exchange(last, generation, Ordering::AcqRel, order);
        if taken.is_err() {
            return Ok(false);
        }
        self.set_generation(generation, write)?;
        Ok(true)
    }

    #[inline]
    fn set_generation(
        &self,
        generation: u64,
        write: impl FnOnce(&[AtomicU64]),
    ) -> Result<(), Busy> {
        let Some((number, sequence, words)) = self.claim(generation)? else {
            return Ok(());
        };
        let claimed = Claimed { sequence };
        // Before the words: a reader that reads one of them and then fences sees that the slot is claimed.
        fence(Ordering::Release);
        write(words);
        std::mem::forget(claimed);
        // After the words, for the next claim of this slot.
        sequence.store(generation << 1, Ordering::Release);
        self.publish(generation, number);
        Ok(())
    }

    /// Claims a slot; `None` if the set of this generation is superseded.
    #[inline]
    #[allow(clippy::type_complexity)]
    fn claim(
        &self,
        generation: u64,
    ) -> Result<Option<(u64, &'a AtomicU64, &'a [AtomicU64])>, Busy> {
        for round in 0..=Self::CLAIM_ROUNDS {
            // A read-modify-write reads the newest value, a load perhaps an older one. loom has no total order of plain stores
            // and read-modify-writes of a word: there, adding 0 could bring an older value back.
            let newest = |word: &AtomicU64, order: Ordering| match round {
                1.. if cfg!(not(loom)) => word.fetch_add(0, Ordering::AcqRel),
                _ => word.load(order),
            };
            let latest = newest(&self.control.latest, Ordering::Acquire);
            let published = latest >> SLOT_BITS;
            if published > generation {
                return Ok(None);
            }
            // From the slot after the published one: the oldest value, if one thread sets.
            for step in 1..N as u64 {
                let number = latest.wrapping_add(step) & Self::MASK;
                let Some((sequence, words)) = self.slot(number) else {
                    continue;
                };
                let held = newest(sequence, Ordering::Relaxed);
                if held & 1 == 1 || held >> 1 >= published {
                    continue;
                }
                // Acquire: the previous contents of the slot are written before the new ones. Release: a reader that
                // sees the claim also sees the newer `latest` in its next attempt.
                let claim = (generation << 1) | 1;
                if sequence
                    .compare_exchange(held, claim, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
                {
                    return Ok(Some((number, sequence, words)));
                }
            }
        }
        Err(Busy)
    }

    /// Raises `latest`, unless a later generation is published.
    #[inline]
    fn publish(&self, generation: u64, number: u64) {
        let ours = (generation << SLOT_BITS) | number;
        let mut latest = self.control.latest.load(Ordering::Relaxed);
        while latest < ours {
            match self.control.latest.compare_exchange(
                latest,
                ours,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => latest = now,
            }
        }
    }

    /// Reads the published value: `copy` loads the words after the sequence, relaxed, and may find any mixture of old
    /// and new ones; its result is discarded unless the value was whole. Returns the result and the value's
    /// generation.
    #[inline]
    pub(crate) fn read<R>(
        &self,
        mut copy: impl FnMut(&[AtomicU64]) -> R,
    ) -> Result<(R, u64), Busy> {
        for _ in 0..READ_ATTEMPTS {
            let latest = self.control.published();
            let generation = latest >> SLOT_BITS;
            let Some((sequence, words)) = self.slot(latest) else {
                break;
            };
            let result = copy(words);
            // After the words: if one of them was from a later set, its claim shows in the sequence.
            fence(Ordering::Acquire);
            if sequence.load(Ordering::Relaxed) == generation << 1 {
                return Ok((result, generation));
            }
            // Before the next load of `latest`, which is newer if the slot was claimed.
            fence(Ordering::Acquire);
            pause();
        }
        Err(Busy)
    }
}

/// Guard that returns a slot, empty, if writing it panics: generation 0 is never published.
struct Claimed<'a> {
    sequence: &'a AtomicU64,
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        self.sequence.store(0, Ordering::Release);
    }
}

#[inline]
fn pause() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

#[cfg(test)]
#[cfg(not(loom))]
#[path = "slots_tests.rs"]
mod tests;

#[cfg(test)]
#[cfg(loom)]
#[path = "slots_loom.rs"]
mod loom_models;
