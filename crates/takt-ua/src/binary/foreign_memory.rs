//! Encoding of memory that cannot be borrowed as a slice, because others use it at the same time.

use super::encoder::Encoder;
use super::error::EncodeError;

impl Encoder<'_> {
    /// Writes `length` bytes that `write` stores at the pointer it is given: for memory that cannot be borrowed as a
    /// slice.
    ///
    /// # Safety
    /// `write` initialises all of the `length` bytes and no others.
    #[inline]
    pub unsafe fn bytes_with(
        &mut self,
        length: usize,
        write: impl FnOnce(*mut u8),
    ) -> Result<(), EncodeError> {
        // Checked here as well, because `put_with` takes `write` even if the bytes do not fit.
        if length <= self.window.available() {
            // SAFETY: the caller fulfils the contract of this function, which is the same one.
            unsafe { self.window.put_with(length, write) };
            return Ok(());
        }
        let vec = self.grow(length)?;
        // SAFETY: the caller fulfils the contract of this function, which is the same one.
        unsafe { append_with(vec, length, write) };
        Ok(())
    }
}

/// Grows `vec` by `length` bytes that `write` stores at the pointer it is given.
///
/// # Safety
/// `write` initialises all of the `length` bytes and no others.
unsafe fn append_with(vec: &mut Vec<u8>, length: usize, write: impl FnOnce(*mut u8)) {
    vec.reserve(length);
    write(vec.spare_capacity_mut().as_mut_ptr().cast());
    // SAFETY: there is room for them, and the caller promises that they are initialised.
    unsafe { vec.set_len(vec.len() + length) };
}
