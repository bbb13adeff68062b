//! Conversion between bytes and the atomic words of a slot.
//!
//! A value begins at the fourth byte of its first word. So the numbers of an array, which follow an encoding mask of
//! one byte and a length of four bytes, begin with the second word, and are copied without shifting. Bytes in words
//! have the order of the encoding, the first one lowest, on every machine.

use takt_ua::binary::{EncodeError, Encoder};

use crate::bulk;
use crate::sync::{AtomicU64, Ordering};

/// Number of unused bytes at the start of a value's first word.
pub(crate) const PADDING: usize = 3;
/// Number of bytes of a value in its first word.
pub(crate) const HEAD: usize = 8 - PADDING;

/// Returns the number of words of a value with this number of bytes.
pub(crate) const fn words_for(bytes: usize) -> usize {
    (bytes + PADDING).div_ceil(8)
}

/// Writer of consecutive pieces.
pub(crate) struct WordWriter<'a> {
    words: &'a [AtomicU64],
    /// Bytes of the incomplete word.
    pending: u64,
    /// Their number, 0 to 7.
    filled: usize,
}

impl<'a> WordWriter<'a> {
    /// Begins a value. The caller has checked that it fits; bytes beyond the words are dropped.
    #[inline]
    pub(crate) fn new(words: &'a [AtomicU64]) -> Self {
        Self {
            words,
            pending: 0,
            filled: PADDING,
        }
    }

    /// Appends bytes.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        // Up to the end of the incomplete word; the whole words are then copied at once.
        let missing = (8 - self.filled) % 8;
        let (head, bytes) = bytes.split_at(missing.min(bytes.len()));
        self.put_part(head);
        let (chunks, tail) = bytes.as_chunks::<8>();
        let (words, later) = self.words.split_at(chunks.len().min(self.words.len()));
        self.words = later;
        bulk::store(words, chunks);
        self.put_part(tail);
    }

    /// Appends fewer than eight bytes to the incomplete word.
    #[inline]
    fn put_part(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.pending |= u64::from(*byte) << (8 * self.filled);
            self.filled += 1;
            if self.filled == 8 {
                self.store_pending();
                self.filled = 0;
            }
        }
    }

    #[inline]
    fn store_pending(&mut self) {
        if let Some((word, later)) = self.words.split_first() {
            word.store(self.pending, Ordering::Relaxed);
            self.words = later;
        }
        self.pending = 0;
    }

    /// Stores the incomplete word.
    #[inline]
    pub(crate) fn finish(mut self) {
        if self.filled != 0 {
            self.store_pending();
        }
    }
}

/// Appends the first `length` bytes of a value. An incomplete value is cut short; the reader detects that by the
/// sequence.
#[inline]
pub(crate) fn append(
    words: &[AtomicU64],
    length: usize,
    encoder: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    let Some((first, rest)) = words.split_first() else {
        return Ok(());
    };
    let first = first.load(Ordering::Relaxed).to_le_bytes();
    let head = first
        .get(PADDING..PADDING + length.min(HEAD))
        .unwrap_or_default();
    encoder.bytes(head)?;
    bulk::append(rest, length.saturating_sub(HEAD), encoder)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn memory(words: usize) -> Vec<AtomicU64> {
        (0..words).map(|_| AtomicU64::new(u64::MAX)).collect()
    }

    proptest! {
        #[test]
        fn pieces_come_back_as_one(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..1500), 0..5)) {
            let bytes = pieces.concat();
            let words = memory(words_for(bytes.len()) + 1);
            let mut writer = WordWriter::new(&words);
            for piece in &pieces {
                writer.put(piece);
            }
            writer.finish();
            prop_assert_eq!(words[words.len() - 1].load(Ordering::Relaxed), u64::MAX, "wrote too far");
            let mut out = Vec::new();
            append(&words, bytes.len(), &mut Encoder::growing(&mut out, usize::MAX)).unwrap();
            prop_assert_eq!(out, bytes);
        }
    }

    #[test]
    fn elements_of_an_array_begin_with_a_word() {
        let words = memory(3);
        let mut writer = WordWriter::new(&words);
        writer.put(&[0x87, 2, 0, 0, 0]);
        writer.put(&[1, 0, 0, 0, 2, 0, 0, 0]);
        writer.finish();
        assert_eq!(words[1].load(Ordering::Relaxed), 1 | 2 << 32);
        let mut out = [0; 8];
        bulk::append(&words[1..], 8, &mut Encoder::fixed(&mut out)).unwrap();
        assert_eq!(out, [1, 0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn too_much_and_too_little_are_cut() {
        let words = memory(1);
        let mut writer = WordWriter::new(&words);
        writer.put(&[7; 100]);
        writer.finish();
        let mut out = Vec::new();
        append(&words, 100, &mut Encoder::growing(&mut out, usize::MAX)).unwrap();
        assert_eq!(out, [7; 5]);
        append(&[], 9, &mut Encoder::growing(&mut out, usize::MAX)).unwrap();
    }

    #[test]
    fn a_full_encoder_is_an_error() {
        let words = memory(20);
        for room in 0..100 {
            let mut out = vec![0; room];
            append(&words, 100, &mut Encoder::fixed(&mut out)).unwrap_err();
        }
    }
}
