//! Encoder of the OPC UA Binary DataEncoding.

use std::mem::MaybeUninit;

use super::error::EncodeError;
use super::window::Window;
use crate::large_memory;

/// Destination of encoded bytes: a fixed buffer, a `Vec` that grows up to a limit, or a buffer with such a `Vec`
/// behind it.
///
/// A fixed encoder is the hot path: each write is one comparison and one copy. A failed write stores nothing, so
/// [`truncate`](Self::truncate) can always rewind to an earlier position.
#[derive(Debug)]
pub struct Encoder<'b> {
    /// The whole buffer of a fixed encoder; empty for a growing one, whose writes therefore take the slow path.
    pub(super) window: Window<'b>,
    growing: Option<Growing<'b>>,
    /// Continuation of a spilling encoder whose window is full.
    spill: Option<Growing<'b>>,
}

#[derive(Debug)]
struct Growing<'b> {
    vec: &'b mut Vec<u8>,
    /// Length of the `Vec` when encoding began.
    base: usize,
    max_len: usize,
}

impl<'b> Encoder<'b> {
    /// Creates an encoder into a buffer, from its start.
    #[inline]
    pub fn fixed(buffer: &'b mut [u8]) -> Self {
        Self {
            window: Window::new(buffer),
            growing: None,
            spill: None,
        }
    }

    /// Creates an encoder into a buffer that need not be initialised, for example loaned shared memory.
    #[inline]
    pub fn fixed_uninit(buffer: &'b mut [MaybeUninit<u8>]) -> Self {
        Self {
            window: Window::uninit(buffer),
            growing: None,
            spill: None,
        }
    }

    /// Creates an encoder that appends at most `max_len` bytes to a `Vec`.
    pub fn growing(vec: &'b mut Vec<u8>, max_len: usize) -> Self {
        let base = vec.len();
        Self {
            window: Window::new(&mut []),
            growing: Some(Growing { vec, base, max_len }),
            spill: None,
        }
    }

    /// Continues a message that another encoder has begun in `vec`: its bytes count as written. `max_len` is the
    /// limit of the whole message.
    pub fn continuing(vec: &'b mut Vec<u8>, max_len: usize) -> Self {
        Self {
            window: Window::new(&mut []),
            growing: Some(Growing {
                vec,
                base: 0,
                max_len,
            }),
            spill: None,
        }
    }

    /// Creates an encoder into a buffer as [`fixed_uninit`](Self::fixed_uninit) does. When the buffer is full, all
    /// written bytes move to the end of `spill`, which grows until `max_len` bytes are encoded.
    ///
    /// It is for transports that have to estimate the size of a response: a request cannot be handled twice.
    #[inline]
    pub fn spilling(
        buffer: &'b mut [MaybeUninit<u8>],
        spill: &'b mut Vec<u8>,
        max_len: usize,
    ) -> Self {
        let base = spill.len();
        // A buffer beyond the limit would accept more than `max_len` bytes, because the window only knows its own end.
        let (buffer, _) = buffer.split_at_mut(buffer.len().min(max_len));
        Self {
            window: Window::uninit(buffer),
            growing: None,
            spill: Some(Growing {
                vec: spill,
                base,
                max_len,
            }),
        }
    }

    /// Returns whether a [`spilling`](Self::spilling) encoder has left its buffer.
    #[inline]
    pub fn spilled(&self) -> bool {
        self.growing.is_some()
    }

    /// Returns the number of bytes written by this encoder.
    #[inline]
    pub fn position(&self) -> usize {
        match &self.growing {
            None => self.window.position(),
            Some(growing) => growing.vec.len() - growing.base,
        }
    }

    /// Returns the number of bytes that can still be written.
    #[inline]
    pub fn available(&self) -> usize {
        match &self.growing {
            None => match &self.spill {
                None => self.window.available(),
                Some(spill) => spill.max_len.saturating_sub(self.window.position()),
            },
            Some(growing) => growing.available(),
        }
    }

    /// Returns the bytes written by this encoder.
    #[inline]
    pub fn written(&self) -> &[u8] {
        match &self.growing {
            None => self.window.written(),
            Some(growing) => growing.vec.get(growing.base..).unwrap_or_default(),
        }
    }

    /// Discards everything after `position`. A position that is not reached yet has no effect.
    #[inline]
    pub fn truncate(&mut self, position: usize) {
        match &mut self.growing {
            None => self.window.truncate(position),
            Some(growing) => growing.vec.truncate(growing.base.saturating_add(position)),
        }
    }

    /// Overwrites bytes that were written before, such as a length that is only known later. Returns `false`, and
    /// changes nothing, if they were not written.
    #[inline]
    pub fn patch(&mut self, position: usize, bytes: &[u8]) -> bool {
        let written = match &mut self.growing {
            None => self.window.written_mut(),
            Some(growing) => growing.vec.get_mut(growing.base..).unwrap_or_default(),
        };
        match written
            .get_mut(position..)
            .and_then(|rest| rest.get_mut(..bytes.len()))
        {
            Some(target) => {
                target.copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }

    /// Overwrites four bytes that were written before; see [`patch`](Self::patch).
    #[inline]
    pub fn patch_u32(&mut self, position: usize, value: u32) -> bool {
        self.patch(position, &value.to_le_bytes())
    }

    /// Overwrites two bytes that were written before; see [`patch`](Self::patch).
    #[inline]
    pub fn patch_u16(&mut self, position: usize, value: u16) -> bool {
        self.patch(position, &value.to_le_bytes())
    }

    /// Overwrites four bytes that were written before; see [`patch_u32`](Self::patch_u32).
    #[inline]
    pub fn patch_i32(&mut self, position: usize, value: i32) -> bool {
        self.patch_u32(position, value.cast_unsigned())
    }

    /// Writes bytes as they are, without a length.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        if self.window.put(bytes) {
            Ok(())
        } else {
            self.bytes_slow(bytes)
        }
    }

    #[inline(never)]
    fn bytes_slow(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        // Out of line, so that the way into a buffer with room stays short enough to be inlined.
        large_memory::append(self.grow(bytes.len())?, bytes);
        Ok(())
    }

    /// Returns the `Vec` that takes the next `length` bytes, for which the window is too small.
    pub(super) fn grow(&mut self, length: usize) -> Result<&mut Vec<u8>, EncodeError> {
        if let Some(spill) = self.spill.take() {
            // All bytes have to be in one place, for patches and for the caller.
            spill.vec.extend_from_slice(self.window.written());
            self.window = Window::new(&mut []);
            self.growing = Some(spill);
        }
        match &mut self.growing {
            None => Err(full(length, self.window.available())),
            Some(growing) if length > growing.available() => Err(full(length, growing.available())),
            Some(growing) => Ok(growing.vec),
        }
    }

    /// Writes a Byte.
    #[inline]
    pub fn u8(&mut self, value: u8) -> Result<(), EncodeError> {
        self.bytes(&[value])
    }

    /// Writes an SByte.
    #[inline]
    pub fn i8(&mut self, value: i8) -> Result<(), EncodeError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a Boolean (OPC 10000-6, 5.2.2.1): 1 for true, 0 for false.
    #[inline]
    pub fn bool(&mut self, value: bool) -> Result<(), EncodeError> {
        self.bytes(&[u8::from(value)])
    }

    /// Writes a UInt16.
    #[inline]
    pub fn u16(&mut self, value: u16) -> Result<(), EncodeError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes an Int16.
    #[inline]
    pub fn i16(&mut self, value: i16) -> Result<(), EncodeError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a UInt32.
    #[inline]
    pub fn u32(&mut self, value: u32) -> Result<(), EncodeError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes an Int32.
    #[inline]
    pub fn i32(&mut self, value: i32) -> Result<(), EncodeError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a UInt64.
    #[inline]
    pub fn u64(&mut self, value: u64) -> Result<(), EncodeError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes an Int64.
    #[inline]
    pub fn i64(&mut self, value: i64) -> Result<(), EncodeError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a Float (OPC 10000-6, 5.2.2.3).
    #[inline]
    pub fn f32(&mut self, value: f32) -> Result<(), EncodeError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a Double (OPC 10000-6, 5.2.2.3).
    #[inline]
    pub fn f64(&mut self, value: f64) -> Result<(), EncodeError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Writes a String (OPC 10000-6, 5.2.2.4); `None` is the null string.
    #[inline]
    pub fn string(&mut self, value: Option<&str>) -> Result<(), EncodeError> {
        self.byte_string(value.map(str::as_bytes))
    }

    /// Writes a ByteString (OPC 10000-6, 5.2.2.7); `None` is the null ByteString.
    #[inline]
    pub fn byte_string(&mut self, value: Option<&[u8]>) -> Result<(), EncodeError> {
        self.array_length(value.map(<[u8]>::len))?;
        match value {
            Some(bytes) => self.bytes(bytes),
            None => Ok(()),
        }
    }

    /// Writes the length that precedes an array (OPC 10000-6, 5.2.5); `None` is the null array.
    #[inline]
    pub fn array_length(&mut self, length: Option<usize>) -> Result<(), EncodeError> {
        match length {
            None => self.i32(-1),
            Some(length) => match i32::try_from(length) {
                Ok(length) => self.i32(length),
                Err(_) => Err(EncodeError::LengthOverflow),
            },
        }
    }
}

#[cold]
fn full(needed: usize, available: usize) -> EncodeError {
    EncodeError::BufferFull {
        needed: u32::try_from(needed).unwrap_or(u32::MAX),
        available: u32::try_from(available).unwrap_or(u32::MAX),
    }
}

impl Growing<'_> {
    #[inline]
    fn available(&self) -> usize {
        self.max_len.saturating_sub(self.vec.len() - self.base)
    }
}

/// A type that has an OPC UA Binary DataEncoding (OPC 10000-6, 5.2).
pub trait Encode {
    /// Appends the encoded value. After an error the partial encoding is meaningless; rewind with
    /// [`Encoder::truncate`] before using the encoder again.
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Appends the elements of an array, without its length. Numeric types do this in one copy.
    #[inline]
    fn encode_elements(elements: &[Self], encoder: &mut Encoder<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        elements
            .iter()
            .try_for_each(|element| element.encode(encoder))
    }

    /// Returns the encoded value in a `Vec` of its own; empty if a string or array in it is longer than the largest
    /// Int32, which is the only possible error.
    fn encode_to_vec(&self) -> Vec<u8> {
        let mut vec = Vec::new();
        if self
            .encode(&mut Encoder::growing(&mut vec, usize::MAX))
            .is_err()
        {
            vec.clear();
        }
        vec
    }
}
