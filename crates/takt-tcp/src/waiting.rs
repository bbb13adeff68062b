//! Encoded messages that are divided into chunks while the socket takes them.
//!
//! Copying a response of tens of MiB takes tens of milliseconds, since its memory is new: all other connections would wait for
//! that. A response that is complete already is therefore kept where it is, and copied chunk by chunk.

use std::collections::VecDeque;

use takt_ua::large_memory;

/// Bodies in the order of sending; see the [module](self).
#[derive(Debug, Default)]
pub(crate) struct WaitingMessages {
    messages: VecDeque<WaitingMessage>,
    /// Number of bytes of the first body that are divided into chunks already.
    taken: usize,
    unsent: usize,
    capacity: usize,
}

#[derive(Debug)]
struct WaitingMessage {
    request_id: u32,
    bytes: Vec<u8>,
    /// Position of the body in the bytes.
    start: usize,
}

/// Part of a body for one chunk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) request_id: u32,
    pub(crate) bytes: &'a [u8],
    /// True for the last piece of a message.
    pub(crate) is_last: bool,
}

impl WaitingMessages {
    /// Returns the number of bytes of bodies that are not divided into chunks yet.
    pub(crate) const fn unsent(&self) -> usize {
        self.unsent
    }

    /// Returns the number of bytes of memory.
    pub(crate) const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Appends a message whose body, which is not empty, is in `bytes` from `start` on.
    pub(crate) fn push(&mut self, request_id: u32, bytes: Vec<u8>, start: usize) {
        self.unsent += bytes.len().saturating_sub(start);
        self.capacity += bytes.capacity();
        self.messages.push_back(WaitingMessage {
            request_id,
            bytes,
            start,
        });
    }

    /// Returns the next piece, of `most` bytes unless it is the last of its message.
    pub(crate) fn next(&self, most: usize) -> Option<Piece<'_>> {
        let message = self.messages.front()?;
        let rest = message.bytes.get(message.start + self.taken..)?;
        Some(Piece {
            request_id: message.request_id,
            bytes: rest.get(..most).unwrap_or(rest),
            is_last: rest.len() <= most,
        })
    }

    /// Notes that a piece of `count` bytes is in a chunk; the memory of a complete message is freed.
    pub(crate) fn advance(&mut self, count: usize) {
        self.taken += count;
        self.unsent = self.unsent.saturating_sub(count);
        let is_done = |message: &WaitingMessage| message.start + self.taken >= message.bytes.len();
        if self.messages.front().is_some_and(is_done)
            && let Some(done) = self.messages.pop_front()
        {
            self.capacity -= done.bytes.capacity();
            self.taken = 0;
            large_memory::free(done.bytes);
        }
    }

    /// Discards all messages.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_taken_in_order_and_in_pieces() {
        let mut waiting = WaitingMessages::default();
        waiting.push(7, b"0123456789".to_vec(), 0);
        waiting.push(8, b"header abcd".to_vec(), 7);
        assert_eq!((waiting.unsent(), waiting.capacity()), (14, 21));
        let mut pieces = Vec::new();
        while let Some(piece) = waiting.next(4) {
            pieces.push((piece.request_id, piece.bytes.to_vec(), piece.is_last));
            let count = piece.bytes.len();
            waiting.advance(count);
        }
        let expected: [(u32, &[u8], bool); 4] = [
            (7, b"0123", false),
            (7, b"4567", false),
            (7, b"89", true),
            (8, b"abcd", true),
        ];
        assert!(
            pieces
                .iter()
                .map(|(id, bytes, last)| (*id, bytes.as_slice(), *last))
                .eq(expected)
        );
        assert_eq!((waiting.unsent(), waiting.capacity()), (0, 0));
        assert_eq!(waiting.next(4), None);
    }
}
