//! SequenceNumbers: counted up by one for each chunk, per direction, over all tokens of a channel
//! (OPC 10000-6, 6.7.2.4).
//!
//! The standard forbids using a number twice under one token. With a token lifetime of at most an hour a peer would
//! have to send a million chunks per second to reach that, so uses are not counted here. Authenticated encryption, which depends on
//! it, counts them itself.

use crate::error::TransportError;

/// Highest legacy number that must be used before the numbers may wrap.
const LEGACY_LAST: u32 = u32::MAX - 1024;
/// Upper bound (exclusive) of the first legacy number after a wrap.
const LEGACY_FIRST: u32 = 1024;

/// SequenceNumbers of sent chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SequenceSender {
    next: u32,
    legacy: bool,
}

impl SequenceSender {
    pub(crate) const fn new(legacy: bool) -> Self {
        Self {
            next: if legacy { 1 } else { 0 },
            legacy,
        }
    }

    /// Returns the number for the next chunk.
    pub(crate) const fn take(&mut self) -> u32 {
        let number = self.next;
        // Legacy numbers may wrap anywhere in the last 1024.
        self.next = if self.legacy && number > LEGACY_LAST {
            1
        } else {
            number.wrapping_add(1)
        };
        number
    }

    #[cfg(test)]
    pub(crate) const fn set(&mut self, next: u32) {
        self.next = next;
    }
}

/// Check of the SequenceNumbers of received chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SequenceReceiver {
    last: Option<u32>,
    legacy: bool,
}

impl SequenceReceiver {
    pub(crate) const fn new(legacy: bool) -> Self {
        Self { last: None, legacy }
    }

    /// Accepts `found` if it may follow what came before.
    pub(crate) fn accept(&mut self, found: u32) -> Result<(), TransportError> {
        let fits = match (self.last, self.legacy) {
            // Legacy senders begin with any number.
            (None, legacy) => legacy || found == 0,
            (Some(last), true) => {
                last.checked_add(1) == Some(found) || (last > LEGACY_LAST && found < LEGACY_FIRST)
            }
            (Some(last), false) => last.wrapping_add(1) == found,
        };
        if !fits {
            let last = self.last.unwrap_or(0);
            return Err(TransportError::SequenceNumber { last, found });
        }
        self.last = Some(found);
        Ok(())
    }

    /// Returns the last accepted number, or 0.
    pub(crate) fn last(&self) -> u32 {
        self.last.unwrap_or(0)
    }

    #[cfg(test)]
    pub(crate) const fn set(&mut self, last: u32) {
        self.last = Some(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legacy_numbers_begin_anywhere_and_wrap_below_1024() {
        let mut receiver = SequenceReceiver::new(true);
        for number in [51, 52, 53] {
            receiver.accept(number).unwrap();
        }
        for wrong in [53, 55, 1, 0] {
            assert_eq!(
                receiver.accept(wrong),
                Err(TransportError::SequenceNumber {
                    last: 53,
                    found: wrong
                })
            );
        }
        receiver.accept(54).unwrap();

        receiver.set(u32::MAX - 1024);
        assert!(receiver.accept(1).is_err(), "too early");
        receiver.accept(u32::MAX - 1023).unwrap();
        assert!(receiver.accept(1024).is_err(), "too high");
        receiver.accept(1023).unwrap();
        receiver.set(u32::MAX);
        receiver.accept(0).unwrap();
    }

    #[test]
    fn other_numbers_begin_at_0_and_wrap_to_0() {
        let mut receiver = SequenceReceiver::new(false);
        assert!(receiver.accept(1).is_err());
        receiver.accept(0).unwrap();
        receiver.accept(1).unwrap();
        receiver.set(u32::MAX - 10);
        assert!(receiver.accept(0).is_err());
        receiver.set(u32::MAX);
        receiver.accept(0).unwrap();
    }

    #[test]
    fn sequence_numbers_are_accepted_over_the_wrap() {
        for legacy in [true, false] {
            let mut sender = SequenceSender::new(legacy);
            let mut receiver = SequenceReceiver::new(legacy);
            for _ in 0..3 {
                receiver.accept(sender.take()).unwrap();
            }
            sender.set(u32::MAX - 2000);
            receiver.set(u32::MAX - 2001);
            for _ in 0..4000 {
                receiver.accept(sender.take()).unwrap();
            }
        }
    }
}
