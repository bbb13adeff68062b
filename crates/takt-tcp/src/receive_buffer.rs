//! Buffer of received bytes that are not consumed yet: chunks are read from it without a copy.

use std::ops::Range;

/// Initial size in bytes: enough for Hello and OpenSecureChannel, and for most requests.
const FIRST_CAPACITY: usize = 8192;

/// A buffer that grows up to the size of one chunk. Its memory is initialised once.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    bytes: Vec<u8>,
    unread: Range<usize>,
    limit: usize,
}

impl ReceiveBuffer {
    /// Creates an empty buffer without memory, for chunks of up to `limit` bytes.
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            unread: 0..0,
            limit,
        }
    }

    /// Changes the largest chunk. A smaller limit does not free memory.
    pub(crate) const fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Returns the number of bytes of memory that [`space`](Self::space) takes for a chunk of `expected` bytes.
    pub(crate) fn capacity_for(&self, expected: usize) -> usize {
        let needed = expected.max(FIRST_CAPACITY).min(self.limit);
        if self.bytes.len() < needed {
            needed.next_power_of_two().min(self.limit)
        } else {
            self.bytes.capacity()
        }
    }

    /// Returns the number of bytes of memory.
    pub(crate) const fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Frees the memory if there are no unread bytes.
    pub(crate) fn release(&mut self) {
        if self.unread.is_empty() {
            self.bytes = Vec::new();
            self.unread = 0..0;
        }
    }

    /// Returns the unread bytes.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.unread.clone()]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.unread.is_empty()
    }

    /// Returns space for more bytes, in which a chunk of `expected` bytes (0 if its size is not known yet) can be
    /// completed. It is empty only if the buffer is full of complete chunks, which have to be taken out first.
    pub(crate) fn space(&mut self, expected: usize) -> &mut [u8] {
        if self.unread.is_empty() {
            self.unread = 0..0;
        }
        let capacity = self.capacity_for(expected);
        if self.bytes.len() < capacity {
            // Exactly as much as `capacity_for` returns: the caller has charged that.
            self.bytes.reserve_exact(capacity - self.bytes.len());
            self.bytes.resize(capacity, 0);
        }
        // Unread chunks are moved to the front if there is no room behind them, or if the end is reached.
        let end = self.unread.start + expected;
        if self.unread.start > 0 && (end > self.bytes.len() || self.unread.end == self.bytes.len())
        {
            self.bytes.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        &mut self.bytes[self.unread.end..]
    }

    /// Notes that `count` bytes were written to [`space`](Self::space).
    pub(crate) fn filled(&mut self, count: usize) {
        self.unread.end = (self.unread.end + count).min(self.bytes.len());
    }

    /// Takes the first `size` unread bytes out; [`get`](Self::get) has them until the next `space`.
    pub(crate) fn take(&mut self, size: usize) -> Range<usize> {
        let start = self.unread.start;
        self.unread.start = start.saturating_add(size).min(self.unread.end);
        start..self.unread.start
    }

    /// Returns the bytes that were taken out.
    pub(crate) fn get(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Returns the bytes that were taken out, to decrypt them in place.
    pub(crate) fn get_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        &mut self.bytes[range]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(buffer: &mut ReceiveBuffer, bytes: &[u8], expected: usize) {
        buffer.space(expected)[..bytes.len()].copy_from_slice(bytes);
        buffer.filled(bytes.len());
    }

    #[test]
    fn a_chunk_is_completed_even_at_the_end_of_the_buffer() {
        let mut buffer = ReceiveBuffer::new(65536);
        assert_eq!(buffer.space(0).len(), FIRST_CAPACITY);
        put(&mut buffer, &[1; 8000], 0);
        let taken = buffer.take(7900);
        assert_eq!(buffer.get(taken), &[1; 7900]);
        // The remaining 100 bytes are the start of a chunk of 500: no room behind them, so they move.
        assert_eq!(buffer.space(500).len(), FIRST_CAPACITY - 100);
        put(&mut buffer, &[2; 400], 500);
        let taken = buffer.take(500);
        assert_eq!(
            buffer.get_mut(taken)[..101],
            [[1; 100].as_slice(), &[2]].concat()
        );
        assert!(buffer.is_empty());
    }

    #[test]
    fn the_buffer_grows_up_to_the_limit() {
        let mut buffer = ReceiveBuffer::new(10_000);
        put(&mut buffer, &[7; 100], 0);
        assert_eq!(buffer.space(9_000).len(), 9_900);
        put(&mut buffer, &[7; 9_900], 10_000);
        assert!(buffer.space(10_000).is_empty());
        assert_eq!(buffer.unread().len(), 10_000);
        buffer.take(10_000);
        assert_eq!(buffer.space(0).len(), 10_000);
    }

    #[test]
    fn a_full_buffer_of_small_chunks_makes_room_when_some_are_taken() {
        let mut buffer = ReceiveBuffer::new(FIRST_CAPACITY);
        put(&mut buffer, &[3; FIRST_CAPACITY], 0);
        assert!(buffer.space(0).is_empty());
        buffer.take(1000);
        assert_eq!(buffer.space(0).len(), 1000);
        assert_eq!(buffer.unread().len(), FIRST_CAPACITY - 1000);
    }
}
