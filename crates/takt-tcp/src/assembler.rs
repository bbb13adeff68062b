//! Assembly of messages from more than one chunk (OPC 10000-6, 6.7.3).

use takt_ua::large_memory;

use crate::error::TransportError;

/// Memory that is kept between messages, in bytes; a larger buffer is freed after its message.
const KEPT_CAPACITY: usize = 256 << 10;

/// Collects the bodies of a message's chunks. Messages of one chunk do not use it.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    request_id: Option<u32>,
    chunks: u32,
    body: Vec<u8>,
}

impl Assembler {
    /// Returns whether a message has begun and more of its chunks must follow.
    pub(crate) const fn is_in_progress(&self) -> bool {
        self.request_id.is_some()
    }

    /// Adds the body of an intermediate or final chunk.
    pub(crate) fn add(
        &mut self,
        request_id: u32,
        body: &[u8],
        max_message_size: usize,
        max_chunk_count: u32,
    ) -> Result<(), TransportError> {
        match self.request_id {
            Some(expected) if expected != request_id => {
                let found = request_id;
                return Err(TransportError::ChunksMixed { expected, found });
            }
            Some(_) => {}
            None => {
                // The last message is kept until now: its body is handled in place.
                self.clear();
                self.request_id = Some(request_id);
            }
        }
        // Both limits are checked before the body is copied: a chunk that is refused costs no memory.
        if self.chunks >= max_chunk_count {
            let limit = max_chunk_count;
            return Err(TransportError::TooManyChunks { limit });
        }
        if body.len() > max_message_size.saturating_sub(self.body.len()) {
            let limit = max_message_size;
            return Err(TransportError::MessageTooLarge { limit });
        }
        self.chunks += 1;
        let capacity = self.capacity_with(body.len(), max_message_size);
        large_memory::reserve_total(&mut self.body, capacity);
        self.body.extend_from_slice(body);
        Ok(())
    }

    /// Returns the number of bytes of memory.
    pub(crate) const fn capacity(&self) -> usize {
        self.body.capacity()
    }

    /// Returns the number of bytes of memory once `more` bytes are [added](Self::add): it doubles, up to the largest
    /// message.
    pub(crate) fn capacity_with(&self, more: usize, max_message_size: usize) -> usize {
        let begun = if self.is_in_progress() {
            self.body.len()
        } else {
            0
        };
        let (needed, capacity) = (begun.saturating_add(more), self.body.capacity());
        if needed <= capacity {
            return capacity;
        }
        // Doubling keeps the number of copies of a long message small.
        let doubled = capacity.saturating_mul(2).min(max_message_size);
        doubled.max(needed)
    }

    /// Completes the message; [`body`](Self::body) returns it until the next one begins.
    pub(crate) const fn finish(&mut self) {
        self.request_id = None;
    }

    /// Discards the message in progress, which the sender aborted.
    pub(crate) fn abort(&mut self, request_id: u32) -> Result<(), TransportError> {
        match self.request_id {
            Some(expected) if expected != request_id => Err(TransportError::ChunksMixed {
                expected,
                found: request_id,
            }),
            // Also without a message in progress: a sender may abort a message before its first chunk.
            _ => {
                self.clear();
                Ok(())
            }
        }
    }

    /// Returns the last complete message.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Returns the last complete message, whose memory may be taken.
    pub(crate) const fn body_mut(&mut self) -> &mut Vec<u8> {
        &mut self.body
    }

    /// Frees the memory of a large message that has been handled.
    pub(crate) fn trim(&mut self) {
        if self.request_id.is_none() && self.body.capacity() > KEPT_CAPACITY {
            large_memory::free(std::mem::take(&mut self.body));
        }
    }

    /// Frees the memory unless a message is in progress.
    pub(crate) fn release(&mut self) {
        if self.request_id.is_none() {
            large_memory::free(std::mem::take(&mut self.body));
        }
    }

    fn clear(&mut self) {
        self.request_id = None;
        self.chunks = 0;
        self.body.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_become_a_message() {
        let mut assembler = Assembler::default();
        for part in [b"abc".as_slice(), b"", b"de"] {
            assembler.add(7, part, 5, 3).unwrap();
        }
        assert!(assembler.is_in_progress());
        assembler.finish();
        assert_eq!(assembler.body(), b"abcde");
        assembler.add(8, b"x", 5, 3).unwrap();
        assembler.abort(8).unwrap();
        assert!(!assembler.is_in_progress());
        assembler.abort(9).unwrap();
    }

    #[test]
    fn limits_hold() {
        let mut assembler = Assembler::default();
        assembler.add(1, b"1234", 5, 3).unwrap();
        assert_eq!(
            assembler.add(1, b"56", 5, 3),
            Err(TransportError::MessageTooLarge { limit: 5 })
        );
        let mixed = TransportError::ChunksMixed {
            expected: 1,
            found: 2,
        };
        assert_eq!(assembler.add(2, b"", 5, 3), Err(mixed.clone()));
        assert_eq!(assembler.abort(2), Err(mixed));
        assembler.add(1, b"", 5, 3).unwrap();
        assembler.add(1, b"", 5, 3).unwrap();
        assert_eq!(
            assembler.add(1, b"", 5, 3),
            Err(TransportError::TooManyChunks { limit: 3 })
        );
    }

    #[test]
    fn large_messages_do_not_keep_their_memory() {
        let mut assembler = Assembler::default();
        assembler
            .add(1, &vec![0; KEPT_CAPACITY + 1], usize::MAX, 9)
            .unwrap();
        assembler.trim();
        assert!(!assembler.body().is_empty(), "still in progress");
        assembler.finish();
        assembler.trim();
        assert_eq!(assembler.body.capacity(), 0);
    }
}
