//! The one place where bytes are stored without a bounds check: the window of a fixed [`Encoder`](super::Encoder).
//!
//! `position` never exceeds the window's length, and everything before `position` has been written;
//! both are kept by this module alone, whose fields nobody else sees.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

/// A buffer that is filled from its start.
#[derive(Debug)]
pub(super) struct Window<'b> {
    buffer: &'b mut [MaybeUninit<u8>],
    /// Invariant: `position <= buffer.len()`, and `buffer[..position]` is initialised.
    position: usize,
}

impl<'b> Window<'b> {
    #[inline]
    pub(super) fn uninit(buffer: &'b mut [MaybeUninit<u8>]) -> Self {
        Self {
            buffer,
            position: 0,
        }
    }

    #[inline]
    pub(super) fn new(buffer: &'b mut [u8]) -> Self {
        let length = buffer.len();
        let start = buffer.as_mut_ptr().cast::<MaybeUninit<u8>>();
        // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, the borrow is exclusive for 'b, and this
        // module only ever stores initialised bytes, so the caller's `[u8]` stays initialised.
        Self::uninit(unsafe { std::slice::from_raw_parts_mut(start, length) })
    }

    #[inline]
    pub(super) fn position(&self) -> usize {
        self.position
    }

    #[inline]
    pub(super) fn available(&self) -> usize {
        // Cannot wrap: the invariant says position <= len.
        self.buffer.len().wrapping_sub(self.position)
    }

    /// Appends all of `bytes`, or nothing and says `false` when they do not fit.
    #[inline]
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        if bytes.len() > self.available() {
            return false;
        }
        // SAFETY: position + bytes.len() <= buffer.len() was just checked, and `bytes` cannot overlap
        // the exclusively borrowed buffer.
        unsafe {
            let target = self.buffer.as_mut_ptr().add(self.position).cast::<u8>();
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
        }
        self.position += bytes.len();
        true
    }

    /// Appends what `load` gives for each of `words`, or nothing and says `false` when they do not fit.
    #[inline]
    pub(super) fn put_words<T>(&mut self, words: &[T], load: impl Fn(&T) -> [u8; 8]) -> bool {
        if words.len() > self.available() / 8 {
            return false;
        }
        let end = self.position + 8 * words.len();
        let Some(target) = self.buffer.get_mut(self.position..end) else {
            return false;
        };
        // As many as there are words: below, all of them are written.
        let (targets, _) = target.as_chunks_mut::<8>();
        // Eight at a time: the compiler unrolls no loop over atomics, which then takes twice as long.
        let (target_lines, target_rest) = targets.as_chunks_mut::<8>();
        let (lines, rest) = words.as_chunks::<8>();
        for (targets, line) in target_lines.iter_mut().zip(lines) {
            let line = line.each_ref().map(&load);
            for (target, word) in targets.iter_mut().zip(line) {
                *target = word.map(MaybeUninit::new);
            }
        }
        for (target, word) in target_rest.iter_mut().zip(rest) {
            *target = load(word).map(MaybeUninit::new);
        }
        self.position = end;
        true
    }

    #[inline]
    pub(super) fn truncate(&mut self, position: usize) {
        self.position = self.position.min(position);
    }

    #[inline]
    pub(super) fn written(&self) -> &[u8] {
        // SAFETY: the invariant says that buffer[..position] is in bounds and initialised.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr().cast::<u8>(), self.position) }
    }

    #[inline]
    pub(super) fn written_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `written`; the borrow of self is exclusive, and only initialised bytes can be
        // stored through a `&mut [u8]`.
        unsafe {
            std::slice::from_raw_parts_mut(self.buffer.as_mut_ptr().cast::<u8>(), self.position)
        }
    }
}
