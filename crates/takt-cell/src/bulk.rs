//! Copies of many words out of and into memory that others use at the same time.
//!
//! On little-endian machines the words in memory have the order of the encoded bytes, and [`takt_rt::shared_bytes`]
//! copies them about three times as fast as word by word. On other machines, and for the model checker, whose atomics
//! are not plain memory, they are loaded and stored one by one.

use takt_ua::binary::{EncodeError, Encoder};

use crate::sync::AtomicU64;

#[cfg(all(not(loom), target_endian = "little"))]
#[allow(unsafe_code, reason = "stores through a pointer of the encoder")]
mod copied {
    use super::*;
    use takt_rt::shared_bytes::{SharedBytes, store as store_shared};

    #[inline]
    pub(crate) fn load(words: &[AtomicU64], target: &mut [u8]) {
        let length = target.len().min(size_of_val(words));
        let (target, _) = target.split_at_mut(length);
        let _whole = SharedBytes::of_words(words).copy_to(0, target);
    }

    #[inline]
    pub(crate) fn append(
        words: &[AtomicU64],
        length: usize,
        encoder: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        let length = length.min(size_of_val(words));
        let Some(bytes) = SharedBytes::of_words(words).get(0..length) else {
            return Ok(());
        };
        // SAFETY: `copy_to_ptr` writes all of `bytes`, which are `length`. The encoder gives it memory that it has
        // borrowed exclusively, so it does not overlap the words, which are borrowed here.
        unsafe { encoder.bytes_with(length, |target| bytes.copy_to_ptr(target)) }
    }

    #[inline]
    pub(crate) fn store(words: &[AtomicU64], chunks: &[[u8; 8]]) {
        store_shared(words, chunks);
    }
}

#[cfg(any(loom, target_endian = "big"))]
mod one_by_one {
    use super::*;
    use crate::sync::Ordering;

    fn bytes(word: &AtomicU64) -> [u8; 8] {
        word.load(Ordering::Relaxed).to_le_bytes()
    }

    pub(crate) fn load(words: &[AtomicU64], target: &mut [u8]) {
        for (chunk, word) in target.chunks_mut(8).zip(words) {
            for (target, byte) in chunk.iter_mut().zip(bytes(word)) {
                *target = byte;
            }
        }
    }

    pub(crate) fn append(
        words: &[AtomicU64],
        length: usize,
        encoder: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        let mut missing = length;
        for word in words {
            let bytes = bytes(word);
            let part = bytes.get(..missing).unwrap_or(&bytes);
            encoder.bytes(part)?;
            missing -= part.len();
        }
        Ok(())
    }

    pub(crate) fn store(words: &[AtomicU64], chunks: &[[u8; 8]]) {
        for (word, chunk) in words.iter().zip(chunks) {
            word.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
        }
    }
}

/// Copies bytes from the start of `words`, up to the length of the shorter side.
#[inline]
pub(crate) fn load(words: &[AtomicU64], target: &mut [u8]) {
    imp::load(words, target);
}

/// Appends the first `length` bytes of `words`, or all of them if there are fewer; none on an error.
#[inline]
pub(crate) fn append(
    words: &[AtomicU64],
    length: usize,
    encoder: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    imp::append(words, length, encoder)
}

/// Stores chunks from the start of `words`, up to the length of the shorter side.
#[inline]
pub(crate) fn store(words: &[AtomicU64], chunks: &[[u8; 8]]) {
    imp::store(words, chunks);
}

#[cfg(all(not(loom), target_endian = "little"))]
use copied as imp;
#[cfg(any(loom, target_endian = "big"))]
use one_by_one as imp;
