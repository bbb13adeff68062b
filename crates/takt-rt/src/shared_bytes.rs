//! Bytes that another thread or process may write at the same time.
//!
//! A `&[u8]` guarantees that its bytes do not change, so memory that others may write must never become one.
//! [`SharedBytes`] only copies. A copy may be a mixture of old and new bytes; the reader detects that afterwards by a
//! sequence number or a checksum of the value, or treats the mixture as an error of the peer that wrote it.
//!
//! Shared memory consists of words of 8 bytes, which are always loaded and stored as a whole, because atomics of
//! different sizes must not race. So a view of some bytes of a word loads that word. A view of a slice, which does
//! not change, loads no atomics, because these may need write access.
//!
//! In the language, such bytes are copied by single relaxed atomic loads, which no compiler makes faster: 4 KiB take
//! 130 to 340 ns on x86-64. Large copies are therefore loops of vector instructions in assembly (x86-64 and aarch64),
//! whose accesses are invisible to the compiler, like those of another program: 46 to 100 ns, independent of the
//! alignment. (`rep movsb`, and with it the C library's `memcpy`, takes 52 to 70 ns, but 1400 to 2300 ns on AMD where
//! the target begins up to 63 bytes after the source, modulo 4096.) Miri runs the code without assembly.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use large::{LARGE, copy_large};

use crate::prefetch;

mod large;

/// Size of a word in bytes.
const WORD: usize = size_of::<u64>();

/// A view of bytes that may change while they are read.
#[derive(Debug, Clone, Copy)]
pub struct SharedBytes<'a> {
    /// Invariant: `length` bytes from here on are borrowed for `'a`, from a slice of the type in `source`.
    start: *const u8,
    length: usize,
    source: Source,
    memory: PhantomData<&'a [AtomicU64]>,
}

/// Type of the memory of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Atomic words, which other threads and processes may write.
    Words,
    /// Plain bytes, which do not change.
    Slice,
}

// SAFETY: it is a `&[AtomicU64]` or a `&[u8]`, both of which may be sent and shared; it returns no other reference.
unsafe impl Send for SharedBytes<'_> {}
// SAFETY: as above.
unsafe impl Sync for SharedBytes<'_> {}

impl<'a> SharedBytes<'a> {
    /// An empty view.
    pub const EMPTY: SharedBytes<'static> = SharedBytes::of_slice(&[]);

    /// Returns the bytes of atomic words, in the machine's byte order.
    #[must_use]
    #[inline]
    pub const fn of_words(words: &'a [AtomicU64]) -> Self {
        Self {
            start: words.as_ptr().cast(),
            length: size_of_val(words),
            source: Source::Words,
            memory: PhantomData,
        }
    }

    /// Returns the bytes of a slice, which does not change, for callers that accept both kinds of memory.
    #[must_use]
    #[inline]
    pub const fn of_slice(bytes: &'a [u8]) -> Self {
        Self {
            start: bytes.as_ptr(),
            length: bytes.len(),
            source: Source::Slice,
            memory: PhantomData,
        }
    }

    /// Returns the number of bytes.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are none.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns a part; `None` if it is outside.
    #[must_use]
    #[inline]
    pub fn get(&self, range: Range<usize>) -> Option<Self> {
        if range.start > range.end || range.end > self.length {
            return None;
        }
        Some(Self {
            // SAFETY: range.start <= length, so the result is inside or one past the end.
            start: unsafe { self.start.add(range.start) },
            length: range.end - range.start,
            ..*self
        })
    }

    /// Requests the cache lines of the bytes, which are copied soon.
    #[inline]
    pub fn prefetch(&self) {
        prefetch::for_reading(self.start, self.length);
    }

    /// Copies the bytes from `offset` on to `target`; returns `false` and copies nothing if there are not enough.
    #[must_use]
    #[inline]
    pub fn copy_to(&self, offset: usize, target: &mut [u8]) -> bool {
        let Some(end) = offset.checked_add(target.len()) else {
            return false;
        };
        let Some(part) = self.get(offset..end) else {
            return false;
        };
        // SAFETY: the part is as long as `target`, which is borrowed exclusively, so that this view is of other memory.
        unsafe { part.copy_to_ptr(target.as_mut_ptr()) };
        true
    }

    /// Copies all bytes to `target`.
    ///
    /// # Safety
    /// `target` can be written for [`len`](Self::len) bytes and does not overlap this memory.
    #[inline]
    pub unsafe fn copy_to_ptr(&self, target: *mut u8) {
        let Self { start, length, .. } = *self;
        // SAFETY: the invariant guarantees that the bytes can be read, and how; the caller guarantees it for
        // `target`.
        unsafe {
            if length >= LARGE {
                copy_large(start, target, length);
            } else if self.source == Source::Words {
                copy_from_words(start, target, length);
            } else {
                ptr::copy_nonoverlapping(start, target, length);
            }
        }
    }

    /// Copies all bytes into a new `Vec`.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.copy_into(&mut bytes);
        bytes
    }

    /// Copies all bytes into a `Vec`, replacing its contents and reusing its memory if it is large enough.
    #[inline]
    pub fn copy_into(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.reserve(self.length);
        // SAFETY: there is space for `length` bytes in its own memory; all of them are written before `set_len`.
        unsafe {
            self.copy_to_ptr(bytes.as_mut_ptr());
            bytes.set_len(self.length);
        }
    }

    /// Returns `N` bytes from `offset` on; `None` if there are not enough.
    #[must_use]
    #[inline]
    pub fn array<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.copy_to(offset, &mut bytes).then_some(bytes)
    }
}

/// Stores chunks into `words` from the start, while others may be reading them, up to the length of the shorter side.
#[inline]
pub fn store(words: &[AtomicU64], chunks: &[[u8; WORD]]) {
    let length = WORD * words.len().min(chunks.len());
    if length >= LARGE {
        let target = words.as_ptr().cast_mut().cast();
        // SAFETY: both sides have `length` bytes. Atomics may be written through a shared reference. `chunks` does
        // not overlap them, because it cannot be written while it is borrowed.
        return unsafe { copy_large(chunks.as_flattened().as_ptr(), target, length) };
    }
    for (word, chunk) in words.iter().zip(chunks) {
        word.store(u64::from_ne_bytes(*chunk), Ordering::Relaxed);
    }
}

/// Copies `length` bytes out of atomic words.
///
/// # Safety
/// The bytes from `from` on are inside a slice of `AtomicU64` that is borrowed; `to` can be written, and does not
/// overlap it.
#[inline]
unsafe fn copy_from_words(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller passes a pointer to a word with at least one of the bytes, which is therefore in the slice;
    // it is aligned, and relaxed loads are allowed for read-only memory too.
    let load = |word: *const u8| unsafe { (*word.cast::<AtomicU64>()).load(Ordering::Relaxed) };
    // SAFETY: the caller stays below `length`.
    let put = |place: usize, byte: u8| unsafe { to.add(place).write(byte) };
    let mut done = 0;
    let behind = from.addr() % WORD;
    if behind != 0 && length != 0 {
        // SAFETY: words are aligned, so the one with the first byte begins `behind` bytes before it.
        let word = load(unsafe { from.sub(behind) }).to_ne_bytes();
        for byte in word.into_iter().skip(behind).take(length) {
            put(done, byte);
            done += 1;
        }
    }
    while length - done >= WORD {
        // SAFETY: at least one word of bytes remains on both sides.
        unsafe {
            let word = load(from.add(done));
            to.add(done).cast::<u64>().write_unaligned(word);
        }
        done += WORD;
    }
    if done < length {
        // SAFETY: the pointer is inside the slice, at the start of a word.
        let word = load(unsafe { from.add(done) }).to_ne_bytes();
        for byte in word.into_iter().take(length - done) {
            put(done, byte);
            done += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: [usize; 12] = [0, 1, 7, 8, 9, 63, 64, 127, 128, 129, 1000, 4096];

    fn numbered(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index * 7 + 1) as u8).collect()
    }

    #[test]
    fn stored_bytes_are_read_back() {
        for length in LENGTHS {
            let words: Vec<AtomicU64> = (0..length / WORD + 2)
                .map(|_| AtomicU64::new(u64::MAX))
                .collect();
            let bytes = numbered(length);
            let (chunks, _) = bytes.as_chunks();
            store(&words, chunks);
            let view = SharedBytes::of_words(&words);
            let stored = chunks.as_flattened();
            assert_eq!(view.get(0..stored.len()).unwrap().to_vec(), stored);
            assert_eq!(view.array(stored.len()), Some([0xFF; 8]), "wrote too far");
        }
    }

    #[test]
    fn every_part_of_words_and_slices_is_found() {
        let bytes = numbered(if cfg!(miri) { 40 } else { 300 });
        let words: Vec<AtomicU64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|word| AtomicU64::new(u64::from_ne_bytes(*word)))
            .collect();
        let end = WORD * words.len();
        for view in [SharedBytes::of_words(&words), SharedBytes::of_slice(&bytes)] {
            for from in (0..=20).step_by(if cfg!(miri) { 3 } else { 1 }) {
                for to in from..=end {
                    let part = view.get(from..to).unwrap();
                    assert_eq!(part.to_vec(), bytes[from..to]);
                    let mut target = vec![0; to - from];
                    assert!(view.copy_to(from, &mut target));
                    assert_eq!(target, bytes[from..to]);
                }
            }
            assert_eq!(view.array(3), Some([22, 29, 36, 43]));
        }
    }

    #[test]
    fn accesses_stay_within_the_range() {
        let words = [const { AtomicU64::new(0) }; 2];
        store(&words, &[[1; 8]; 12]);
        let shared = SharedBytes::of_words(&words);
        assert_eq!((shared.len(), shared.is_empty()), (16, false));
        assert!(shared.get(9..17).is_none());
        assert!(shared.get(16..16).unwrap().is_empty());
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = 3..2;
        assert!(shared.get(reversed).is_none());
        let mut target = [0; 9];
        assert!(!shared.copy_to(8, &mut target));
        assert!(!shared.copy_to(usize::MAX, &mut target));
        assert_eq!(target, [0; 9]);
        assert_eq!(shared.array::<4>(12), Some([1; 4]));
        assert_eq!(shared.array::<4>(13), None);
    }

    #[test]
    fn a_word_written_meanwhile_is_old_or_new_but_whole() {
        let rounds = if cfg!(miri) { 50 } else { 20_000 };
        let words = [const { AtomicU64::new(0) }; 4];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..rounds {
                    for word in &words {
                        word.store(round | round << 32, Ordering::Relaxed);
                    }
                }
            });
            for _ in 0..rounds {
                let view = SharedBytes::of_words(&words);
                for word in view.to_vec().as_chunks::<8>().0 {
                    assert_eq!(word[..4], word[4..], "half of a word is old");
                }
                // Parts of words are loaded as whole words too.
                let half = u32::from_ne_bytes(view.array(12).unwrap());
                assert!(u64::from(half) < rounds);
                assert!(view.copy_to(3, &mut [0; 18]));
            }
        });
    }
}
