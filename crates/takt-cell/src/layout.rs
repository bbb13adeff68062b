//! Places of the parts of a cell in its memory, as numbers of words of 64 bits.

use crate::words::words_for;

/// Index of the word with the length of the encoded value (upper half) and the StatusCode (lower half). Indexes of a
/// slot's words count from the one after its sequence.
pub(crate) const META: usize = 0;
/// Index of the word with the source timestamp.
pub(crate) const TIME: usize = 1;
/// Index of the first word of the value.
pub(crate) const VALUE: usize = 2;
/// Length that marks a withheld value, which does not fit.
pub(crate) const WITHHELD: usize = u32::MAX as usize;

/// Index of the word with the identity of a cell in shared memory, in its first line.
#[cfg(not(loom))]
pub(crate) const IDENTITY: usize = 2;
/// Index of the word with the time until which the [deadline](crate::Cell::deadline) of a cell in shared memory is watched, beside the
/// identity: nanoseconds of CLOCK_MONOTONIC, 0 without a deadline.
#[cfg(not(loom))]
pub(crate) const WATCHED: usize = 3;

/// Number of words in a cache line. Slots are whole lines, so that a set does not slow down readers of another slot.
pub(crate) const LINE_WORDS: usize = 8;

/// The largest capacity of a cell in bytes: 256 MiB.
pub const MAX_CAPACITY: usize = 1 << 28;

/// Returns the number of words of a slot for values of up to `capacity` bytes, with a server timestamp if they are
/// `cached`.
pub(crate) fn slot_words(capacity: usize, cached: bool) -> usize {
    (1 + VALUE + words_for(capacity) + usize::from(cached)).next_multiple_of(LINE_WORDS)
}
