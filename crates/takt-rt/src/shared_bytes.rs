//! Bytes that another thread or process may be writing at this very moment.
//!
//! A `&[u8]` promises that nobody writes, so memory that somebody may write never becomes one. [`SharedBytes`] only copies: what
//! comes out may be a mixture of old and new, and whoever copies finds that out afterwards, from a sequence number or a
//! check that belongs to the value; or takes the mixture as what it is, the fault of the peer that wrote it.
//!
//! The language's way to copy such bytes is one relaxed atomic load after the other, which no compiler makes faster: 4 KiB
//! take 130 to 340 ns. On x86-64 the copy is therefore a loop of vector instructions in assembly, accesses that the compiler does
//! not see, as it does not see those of another program: 46 to 100 ns, wherever the bytes lie. (`rep movsb`, and with it the C library's
//! `memcpy`, takes 52 to 70 ns, but 1400 to 2300 ns on AMD where the target begins up to 63 bytes after the source, modulo 4096.)
//!
//! Miri runs what is not assembly: `cargo +nightly miri test -p takt-rt --lib shared_bytes`.

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The loop copies blocks of so many bytes; fewer are copied word by word.
const LARGE: usize = if cfg!(all(target_arch = "x86_64", not(miri))) {
    128
} else {
    usize::MAX
};

/// A view of bytes that may change while they are looked at.
#[derive(Debug, Clone, Copy)]
pub struct SharedBytes<'a> {
    start: *const u8,
    length: usize,
    memory: PhantomData<&'a [AtomicU8]>,
}

// SAFETY: it is a shared reference to atomics in all but name: it only loads, and so that races are harmless.
unsafe impl Send for SharedBytes<'_> {}
// SAFETY: as above.
unsafe impl Sync for SharedBytes<'_> {}

impl<'a> SharedBytes<'a> {
    /// No bytes.
    pub const EMPTY: SharedBytes<'static> = SharedBytes::of_words(&[]);

    /// The bytes of atomic words, in the order of the machine.
    #[must_use]
    #[inline]
    pub const fn of_words(words: &'a [AtomicU64]) -> Self {
        Self {
            start: words.as_ptr().cast(),
            length: size_of_val(words),
            memory: PhantomData,
        }
    }

    /// The bytes of a slice, for whoever takes both kinds of memory. Nobody writes it.
    #[must_use]
    #[inline]
    pub const fn of_slice(bytes: &'a [u8]) -> Self {
        Self {
            start: bytes.as_ptr(),
            length: bytes.len(),
            memory: PhantomData,
        }
    }

    /// A view of memory that lives for `'a`.
    ///
    /// # Safety
    /// `length` bytes from `start` are mapped and readable for `'a`, and nobody in this process holds a `&mut` to them or writes them
    /// but by atomics or through the kernel. What other processes do with them does not matter.
    #[must_use]
    #[inline]
    pub const unsafe fn from_raw_parts(start: *const u8, length: usize) -> Self {
        Self {
            start,
            length,
            memory: PhantomData,
        }
    }

    /// How many bytes there are.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The address of the first byte, for questions of alignment.
    #[must_use]
    #[inline]
    pub const fn as_ptr(&self) -> *const u8 {
        self.start
    }

    /// A part; `None` if it is not inside.
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
            memory: PhantomData,
        })
    }

    /// Copies the bytes from `offset` on to `target`; `false`, and nothing copied, if there are not enough.
    #[must_use]
    #[inline]
    pub fn copy_to(&self, offset: usize, target: &mut [u8]) -> bool {
        if offset > self.length || target.len() > self.length - offset {
            return false;
        }
        // SAFETY: checked above; `target` is exclusively borrowed, so it is other memory.
        unsafe { copy_out(self.start.add(offset), target.as_mut_ptr(), target.len()) };
        true
    }

    /// Copies all bytes to `target`.
    ///
    /// # Safety
    /// `target` can be written for [`len`](Self::len) bytes and does not overlap this memory.
    #[inline]
    pub unsafe fn copy_to_ptr(&self, target: *mut u8) {
        // SAFETY: the caller's promise, and this view's invariant.
        unsafe { copy_out(self.start, target, self.length) };
    }

    /// Copies all bytes into a new `Vec`.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.copy_into(&mut bytes);
        bytes
    }

    /// Copies all bytes into a `Vec`, which loses what it had and keeps its memory if that is enough.
    #[inline]
    pub fn copy_into(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.reserve(self.length);
        // SAFETY: there is room for `length` bytes, in memory of its own; all of them are written before they count.
        unsafe {
            self.copy_to_ptr(bytes.as_mut_ptr());
            bytes.set_len(self.length);
        }
    }

    /// `N` bytes from `offset` on; `None` if there are not enough.
    #[must_use]
    #[inline]
    pub fn array<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.copy_to(offset, &mut bytes).then_some(bytes)
    }
}

/// Stores `bytes` into `words` from their beginning, while others may be reading them. The last word keeps the bytes that are not
/// overwritten. Bytes that have no room are dropped.
#[inline]
pub fn store(words: &[AtomicU64], bytes: &[u8]) {
    let length = bytes.len().min(size_of_val(words));
    // SAFETY: atomics may be written through a shared reference, here `length` bytes of them; they do not overlap
    // `bytes`, which nobody writes.
    unsafe { copy_in(bytes.as_ptr(), words.as_ptr().cast_mut().cast(), length) };
}

/// Copies `length` bytes out of memory that others use.
///
/// # Safety
/// `from` can be read for `length` bytes, and others write it by atomics or in another process; `to` can be written, is nobody
/// else's, and does not overlap it.
#[inline]
unsafe fn copy_out(from: *const u8, to: *mut u8, length: usize) {
    if length >= LARGE {
        // SAFETY: the caller's promise.
        return unsafe { copy_large(from, to, length) };
    }
    let mut done = 0;
    if from.align_offset(8) == 0 {
        while length - done >= 8 {
            // SAFETY: inside and aligned; an atomic load of a word writes nothing.
            unsafe {
                let word = AtomicU64::from_ptr(from.add(done).cast_mut().cast());
                let word = word.load(Ordering::Relaxed);
                to.add(done).cast::<u64>().write_unaligned(word);
            }
            done += 8;
        }
    }
    while done < length {
        // SAFETY: inside.
        unsafe {
            let byte = AtomicU8::from_ptr(from.add(done).cast_mut());
            to.add(done).write(byte.load(Ordering::Relaxed));
        }
        done += 1;
    }
}

/// Copies `length` bytes into memory that others use.
///
/// # Safety
/// As for [`copy_out`], the other way round.
#[inline]
unsafe fn copy_in(from: *const u8, to: *mut u8, length: usize) {
    if length >= LARGE {
        // SAFETY: the caller's promise.
        return unsafe { copy_large(from, to, length) };
    }
    let mut done = 0;
    if to.align_offset(8) == 0 {
        while length - done >= 8 {
            // SAFETY: inside and aligned.
            unsafe {
                let word = from.add(done).cast::<u64>().read_unaligned();
                AtomicU64::from_ptr(to.add(done).cast()).store(word, Ordering::Relaxed);
            }
            done += 8;
        }
    }
    while done < length {
        // SAFETY: inside.
        unsafe {
            let byte = from.add(done).read();
            AtomicU8::from_ptr(to.add(done)).store(byte, Ordering::Relaxed);
        }
        done += 1;
    }
}

/// # Safety
/// `from` can be read and `to` written for `length` bytes, at least [`LARGE`], and they do not overlap.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
unsafe fn copy_large(from: *const u8, to: *mut u8, length: usize) {
    let wide = std::arch::is_x86_feature_detected!("avx");
    let copy_blocks = if wide {
        copy_blocks_avx
    } else {
        copy_blocks_sse
    };
    // SAFETY: the caller's promise; the last block is inside because the length is that of a block at least.
    unsafe {
        copy_blocks(from, to, length / LARGE);
        if !length.is_multiple_of(LARGE) {
            // The last block begins inside the one before.
            let last = length - LARGE;
            copy_blocks(from.add(last), to.add(last), 1);
        }
    }
}

/// # Safety
/// `from` can be read and `to` written for `blocks` (at least one) times [`LARGE`] bytes; they do not overlap; the processor has AVX.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
unsafe fn copy_blocks_avx(from: *const u8, to: *mut u8, blocks: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        std::arch::asm!(
            "2:",
            "vmovups ymm0, [{from}]",
            "vmovups ymm1, [{from} + 32]",
            "vmovups ymm2, [{from} + 64]",
            "vmovups ymm3, [{from} + 96]",
            "vmovups [{to}], ymm0",
            "vmovups [{to} + 32], ymm1",
            "vmovups [{to} + 64], ymm2",
            "vmovups [{to} + 96], ymm3",
            "add {from}, 128",
            "add {to}, 128",
            "dec {blocks}",
            "jnz 2b",
            "vzeroupper",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks => _,
            // `vzeroupper` clears the upper halves of all of them.
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack),
        );
    }
}

/// # Safety
/// As for [`copy_blocks_avx`], on any x86-64.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
unsafe fn copy_blocks_sse(from: *const u8, to: *mut u8, blocks: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        std::arch::asm!(
            "2:",
            "movups {a}, [{from}]",
            "movups {b}, [{from} + 16]",
            "movups {c}, [{from} + 32]",
            "movups {d}, [{from} + 48]",
            "movups [{to}], {a}",
            "movups [{to} + 16], {b}",
            "movups [{to} + 32], {c}",
            "movups [{to} + 48], {d}",
            "movups {a}, [{from} + 64]",
            "movups {b}, [{from} + 80]",
            "movups {c}, [{from} + 96]",
            "movups {d}, [{from} + 112]",
            "movups [{to} + 64], {a}",
            "movups [{to} + 80], {b}",
            "movups [{to} + 96], {c}",
            "movups [{to} + 112], {d}",
            "add {from}, 128",
            "add {to}, 128",
            "dec {blocks}",
            "jnz 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// Elsewhere nothing is large.
///
/// # Safety
/// Never called.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_large(_: *const u8, _: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: [usize; 12] = [0, 1, 7, 8, 9, 63, 64, 127, 128, 129, 1000, 4096];

    fn numbered(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index * 7 + 1) as u8).collect()
    }

    #[test]
    fn what_is_stored_comes_out() {
        for length in LENGTHS {
            let words: Vec<AtomicU64> = (0..length / 8 + 2)
                .map(|_| AtomicU64::new(u64::MAX))
                .collect();
            let bytes = numbered(length);
            store(&words, &bytes);
            let shared = SharedBytes::of_words(&words);
            let view = shared.get(0..length).unwrap();
            assert_eq!(view.to_vec(), bytes);
            assert_eq!(shared.array(length), Some([0xFF; 8]), "wrote too far");
            for offset in [0, 1, 5, 8] {
                let mut target = vec![0; length.saturating_sub(offset)];
                assert!(view.copy_to(offset.min(length), &mut target));
                assert_eq!(target, bytes.get(offset..).unwrap_or_default());
            }
        }
    }

    #[test]
    fn nothing_outside_is_read_or_written() {
        let words = [const { AtomicU64::new(0) }; 2];
        store(&words, &[1; 100]);
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
                        word.store(round * 0x0101_0101, Ordering::Relaxed);
                    }
                }
            });
            for _ in 0..rounds {
                let bytes = SharedBytes::of_words(&words).to_vec();
                for word in bytes.as_chunks::<8>().0 {
                    assert_eq!(u64::from_ne_bytes(*word) % 0x0101_0101, 0);
                }
            }
        });
    }
}
