//! Buffer of an [`Encoder`](super::Encoder): the only place where bytes are stored in it without a bounds check.
//!
//! `position` never exceeds the window's length, and everything before `position` has been written; this module
//! maintains both, and its fields are private.

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
        // This cannot wrap: the invariant guarantees position <= len.
        self.buffer.len().wrapping_sub(self.position)
    }

    /// Appends all of `bytes`; appends nothing and returns `false` if they do not fit.
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

    /// Appends `length` bytes that `write` stores at the pointer it is given, or appends nothing and returns `false`
    /// if they do not fit.
    ///
    /// # Safety
    /// `write` initialises all of the `length` bytes and no others.
    #[inline]
    pub(super) unsafe fn put_with(&mut self, length: usize, write: impl FnOnce(*mut u8)) -> bool {
        if length > self.available() {
            return false;
        }
        // SAFETY: position + length <= buffer.len() was just checked.
        write(unsafe { self.buffer.as_mut_ptr().add(self.position).cast() });
        self.position += length;
        true
    }

    #[inline]
    pub(super) fn truncate(&mut self, position: usize) {
        self.position = self.position.min(position);
    }

    #[inline]
    pub(super) fn written(&self) -> &[u8] {
        // SAFETY: the invariant guarantees that buffer[..position] is in bounds and initialised.
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
