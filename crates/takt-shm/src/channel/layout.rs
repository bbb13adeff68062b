//! Layout of the memory of a channel.
//!
//! Each side of a channel makes one [segment](takt_rt::segment), its *outbox*, which it alone can write and the other side reads:
//!
//! ```text
//!      0  "TAKT", version u16, slots u16, slot size u32      for people who look at it
//!     64  sent u64           messages sent so far            one cache line: all that the other
//!     72  place u64 [4]      where message n is, at n mod 4  side looks at until a message
//!    104  taken u64          messages taken from the other   is there
//!                            side's outbox
//!    112  asleep u64         how to ring after sending: 0 not at all, 1 by a Ring, 2 by the futex `rings`
//!    120  backlog u64        not 0: ring after taking
//!    128  rings u64          grows with each ring of the second kind; its lower half is the futex
//!    136  processor u64      number of the processor on which this side last fell asleep, plus 1; 0: not known
//!   4096  slot 0, 1, 2, 3    16 KiB each: a message, header and body
//! ```
//!
//! A place is the number of a slot, or [`LARGE`] and the generation of a separate segment that holds one message, which was
//! passed through the socket beforehand. Messages are taken in the order in which they were sent. The places of taken messages
//! are free again, and the lowest free slot is used next, so that a client that sends one request at a time touches the same few
//! pages again and again.
//!
//! All numbers are little-endian 64-bit words, stored and loaded atomically. `sent` is stored last and loaded first.

use std::sync::atomic::AtomicU64;

use crate::header::{HEADER_LENGTH, MAGIC};

/// Version of this layout and of the [mails](crate::channel::mail).
pub(crate) const VERSION: u16 = 4;

/// Number of messages that may wait to be taken in one direction.
pub(crate) const QUEUE: usize = 4;
/// Size of a slot in bytes. Miri checks every word of the memory for each borrow.
pub(crate) const SLOT: usize = if cfg!(miri) { 512 } else { 16 << 10 };
/// Length of the longest body for which a slot has room, in bytes.
pub(crate) const SLOT_BODY: usize = SLOT - HEADER_LENGTH;
/// Offset of slot 0 in bytes.
const SLOTS: usize = 4096;
/// Size of an outbox in bytes.
pub(crate) const OUTBOX: usize = SLOTS + QUEUE * SLOT;

// Indices of words.
pub(crate) const SENT: usize = 8;
const PLACES: usize = 9;
pub(crate) const TAKEN: usize = 13;
pub(crate) const ASLEEP: usize = 14;
pub(crate) const BACKLOG: usize = 15;
pub(crate) const RINGS: usize = 16;
pub(crate) const PROCESSOR: usize = 17;

/// Bit of a place: the message has a separate segment, whose generation is in the lower half.
const LARGE: u64 = 1 << 32;

/// Place of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Slot of the outbox with this number.
    Slot(usize),
    /// Large segment of this generation.
    Large(u32),
}

impl Place {
    pub(crate) fn to_word(self) -> u64 {
        match self {
            Self::Slot(number) => number as u64,
            Self::Large(generation) => LARGE | u64::from(generation),
        }
    }

    /// Returns the place of a word; `None` if there is no such place.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        if word & LARGE != 0 {
            return Some(Self::Large(word as u32));
        }
        let number = usize::try_from(word).ok()?;
        (number < QUEUE).then_some(Self::Slot(number))
    }
}

/// Returns the index of the word with the place of message `number`.
pub(crate) fn place_word(number: u64) -> usize {
    PLACES + (number % QUEUE as u64) as usize
}

/// Returns the bytes of a slot in its outbox.
pub(crate) fn slot(number: usize) -> std::ops::Range<usize> {
    let start = SLOTS + number * SLOT;
    start..start + SLOT
}

/// Writes the description to the start of a new outbox.
pub(crate) fn describe(words: &[AtomicU64]) {
    let [a, b, c, d] = MAGIC;
    let [v0, v1] = VERSION.to_le_bytes();
    let first = u64::from_le_bytes([a, b, c, d, v0, v1, QUEUE as u8, 0]);
    for (word, value) in words.iter().zip([first, SLOT as u64]) {
        word.store(value.to_le(), std::sync::atomic::Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_encoded_as_words() {
        for place in [
            Place::Slot(0),
            Place::Slot(3),
            Place::Large(0),
            Place::Large(u32::MAX),
        ] {
            assert_eq!(Place::from_word(place.to_word()), Some(place));
        }
        assert_eq!(Place::from_word(4), None);
        assert_eq!(Place::from_word(1 << 33), None);
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        assert_eq!(
            (SENT * 8, TAKEN * 8, ASLEEP * 8, BACKLOG * 8),
            (64, 104, 112, 120)
        );
        assert_eq!((RINGS * 8, PROCESSOR * 8), (128, 136));
        assert_eq!((place_word(0) * 8, place_word(7) * 8), (72, 96));
        assert_eq!((slot(0).start, slot(3).end), (4096, OUTBOX));
    }
}
