//! Decoder of the OPC UA Binary DataEncoding.

mod tolerance;

use super::error::{DecodeError, DecodeErrorKind};

/// Function that reads past the structure with this `Default Binary` encoding.
pub(crate) type PassStructure = for<'a> fn(u32, &mut Decoder<'a>) -> Result<(), DecodeError>;

/// Limits of a decoder. Larger values are refused with `BadEncodingLimitsExceeded`. A limit of more than 2^32 - 1 bytes or elements, or of
/// more than 65 535 levels, has the effect of this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest String, ByteString or XmlElement, in bytes.
    pub max_string_length: usize,
    /// Largest number of elements in one array.
    pub max_array_length: usize,
    /// Deepest nesting of Variants, DataValues and DiagnosticInfos (OPC 10000-6, 5.2.2.12 and 5.2.2.16).
    pub max_depth: usize,
    /// Memory of the elements of all arrays of a message, in bytes. Numbers count in the length of the message only. Another
    /// element counts [`ELEMENT`](Self::ELEMENT) bytes, or its size in memory if it is larger: its encoding may be one byte.
    pub max_memory: usize,
}

impl Limits {
    /// Smallest memory that an element counts, in bytes, unless its encoding is as long as the element itself.
    pub const ELEMENT: usize = 64;

    /// Strings of 64 MiB, arrays of 2^24 elements (64 MiB of UInt32), 100 levels, 256 MiB for elements.
    pub const DEFAULT: Limits = Limits {
        max_string_length: 64 << 20,
        max_array_length: 1 << 24,
        max_depth: 100,
        max_memory: 256 << 20,
    };

    /// The same for one structure, or one operation of a request: 16 MiB for elements. These are 262 144 that are not numbers, which
    /// are decoded in about 5 ms.
    pub const STRUCTURE: Limits = Limits {
        max_memory: 16 << 20,
        ..Limits::DEFAULT
    };

    /// Limits for bytes that were decoded before under other limits, and are known to be valid.
    pub(crate) const VALIDATED: Limits = Limits {
        max_string_length: usize::MAX,
        max_array_length: usize::MAX,
        max_depth: usize::MAX,
        max_memory: usize::MAX,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Reads values from a slice, front to back. Cloning is cheap and gives a second, independent reader.
///
/// Each request moves and clones decoders. So a decoder fits into a cache line, and its limits and counts have 32 bits or less.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    rest: &'a [u8],
    length: usize,
    limits: CompactLimits,
    /// Memory that further elements may take, in bytes.
    memory: u32,
    depth: u16,
    /// True if a value whose end is not certain makes all that follows unreadable.
    is_cautious: bool,
    /// True if the end of a value was not certain.
    has_doubt: bool,
    /// True if the end of a value was not found: the rest was given up.
    is_lost: bool,
    /// Number of bytes that were read in vain for bodies without a length.
    wasted: u32,
    /// Types of the bodies without a length; `None` for a decoder that tolerates nothing.
    structures: Option<PassStructure>,
}

/// [`Limits`] in the size that a decoder compares with. Lengths in messages are below 2^31, so a larger limit is none.
#[derive(Debug, Clone, Copy)]
struct CompactLimits {
    max_string_length: u32,
    max_array_length: u32,
    max_memory: u32,
    max_depth: u16,
}

impl CompactLimits {
    #[inline]
    const fn new(limits: Limits) -> Self {
        Self {
            max_string_length: saturated(limits.max_string_length),
            max_array_length: saturated(limits.max_array_length),
            max_memory: saturated(limits.max_memory),
            max_depth: if limits.max_depth > u16::MAX as usize {
                u16::MAX
            } else {
                limits.max_depth as u16
            },
        }
    }
}

#[inline]
const fn saturated(value: usize) -> u32 {
    if value > u32::MAX as usize {
        u32::MAX
    } else {
        value as u32
    }
}

impl<'a> Decoder<'a> {
    /// Reads `bytes` under the default limits.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::with_limits(bytes, Limits::DEFAULT)
    }

    /// Reads `bytes` under the given limits.
    #[inline]
    pub fn with_limits(bytes: &'a [u8], limits: Limits) -> Self {
        let limits = CompactLimits::new(limits);
        Self {
            rest: bytes,
            length: bytes.len(),
            limits,
            memory: limits.max_memory,
            depth: 0,
            is_cautious: false,
            has_doubt: false,
            is_lost: false,
            wasted: 0,
            structures: None,
        }
    }

    /// Returns the number of bytes read so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    /// Returns the number of bytes not read yet.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Returns the bytes not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the memory that the elements so far have been counted with, in bytes: see [`Limits::max_memory`].
    #[inline]
    pub fn memory(&self) -> usize {
        (self.limits.max_memory - self.memory) as usize
    }

    /// Returns [`memory`](Self::memory), and counts from 0 again: the limit is that of the next value.
    #[inline]
    pub fn take_memory(&mut self) -> usize {
        let memory = self.memory();
        self.memory = self.limits.max_memory;
        memory
    }

    /// Counts the memory of `count` elements of type `T` before they are decoded.
    ///
    /// # Errors
    /// They would take more than [`Limits::max_memory`] allows.
    #[inline]
    pub fn count_elements<T: Decode<'a>>(&mut self, count: usize) -> Result<(), DecodeError> {
        let size = match size_of::<T>() {
            size if size == T::MIN_SIZE => size,
            size => size.max(Limits::ELEMENT),
        };
        let size = count.saturating_mul(size);
        match u32::try_from(size)
            .ok()
            .and_then(|size| self.memory.checked_sub(size))
        {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => Err(self.error(DecodeErrorKind::MemoryExceeded)),
        }
    }

    /// Returns an error at the current position.
    #[cold]
    pub fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(self.position(), kind)
    }

    /// Decodes a value of any type; shorter than `T::decode(decoder)` if the type is known.
    #[inline]
    pub fn value<T: Decode<'a>>(&mut self) -> Result<T, DecodeError> {
        T::decode(self)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(self.error(DecodeErrorKind::UnexpectedEnd)),
        }
    }

    /// Reads `count` bytes.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(count) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(self.error(DecodeErrorKind::UnexpectedEnd)),
        }
    }

    /// Reads a Byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array().map(u8::from_le_bytes)
    }

    /// Reads an SByte.
    #[inline]
    pub fn i8(&mut self) -> Result<i8, DecodeError> {
        self.array().map(i8::from_le_bytes)
    }

    /// Reads a Boolean; every value except 0 is true (OPC 10000-6, 5.2.2.1).
    #[inline]
    pub fn bool(&mut self) -> Result<bool, DecodeError> {
        self.u8().map(|byte| byte != 0)
    }

    /// Reads a UInt16.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_le_bytes)
    }

    /// Reads an Int16.
    #[inline]
    pub fn i16(&mut self) -> Result<i16, DecodeError> {
        self.array().map(i16::from_le_bytes)
    }

    /// Reads a UInt32.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads an Int32.
    #[inline]
    pub fn i32(&mut self) -> Result<i32, DecodeError> {
        self.array().map(i32::from_le_bytes)
    }

    /// Reads a UInt64.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads an Int64.
    #[inline]
    pub fn i64(&mut self) -> Result<i64, DecodeError> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads a Float.
    #[inline]
    pub fn f32(&mut self) -> Result<f32, DecodeError> {
        self.array().map(f32::from_le_bytes)
    }

    /// Reads a Double.
    #[inline]
    pub fn f64(&mut self) -> Result<f64, DecodeError> {
        self.array().map(f64::from_le_bytes)
    }

    /// Reads an Int32 length; -1 stands for null and is `None`.
    #[inline]
    fn length(&mut self) -> Result<Option<usize>, DecodeError> {
        let length = self.i32()?;
        match usize::try_from(length) {
            Ok(length) => Ok(Some(length)),
            Err(_) if length == -1 => Ok(None),
            // It is read as null for now: where the message ends shows whether that was right.
            Err(_) if self.structures.is_some() => {
                self.doubt(DecodeErrorKind::NegativeLength).map(|()| None)
            }
            Err(_) => Err(DecodeError::new(
                // The offset of the length, which has been read.
                self.position().saturating_sub(4),
                DecodeErrorKind::NegativeLength,
            )),
        }
    }

    /// Reads a String (OPC 10000-6, 5.2.2.4); `None` is the null string.
    #[inline]
    pub fn string(&mut self) -> Result<Option<&'a str>, DecodeError> {
        let Some(bytes) = self.byte_string()? else {
            return Ok(None);
        };
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(DecodeError::new(
                self.position() - bytes.len() + error.valid_up_to(),
                DecodeErrorKind::InvalidUtf8,
            )),
        }
    }

    /// Reads a ByteString (OPC 10000-6, 5.2.2.7); `None` is the null ByteString.
    #[inline]
    pub fn byte_string(&mut self) -> Result<Option<&'a [u8]>, DecodeError> {
        let Some(length) = self.length()? else {
            return Ok(None);
        };
        if length > self.limits.max_string_length as usize {
            return Err(self.error(DecodeErrorKind::LimitExceeded("the length of a string")));
        }
        self.bytes(length).map(Some)
    }

    /// Reads the length of an array (OPC 10000-6, 5.2.5); `None` is the null array.
    ///
    /// A length is accepted only if it is within the limits and if that many elements of at least `min_element_size`
    /// bytes fit the remaining bytes, so that allocating for it is safe.
    #[inline]
    pub fn array_length(&mut self, min_element_size: usize) -> Result<Option<usize>, DecodeError> {
        let Some(length) = self.length()? else {
            return Ok(None);
        };
        if length > self.limits.max_array_length as usize {
            return Err(self.error(DecodeErrorKind::LimitExceeded("the length of an array")));
        }
        match length.checked_mul(min_element_size) {
            Some(size) if size <= self.rest.len() => Ok(Some(length)),
            _ => Err(self.error(DecodeErrorKind::UnexpectedEnd)),
        }
    }

    /// Decodes a value of a type that may contain itself, one level deeper.
    #[inline]
    pub fn nested<T>(
        &mut self,
        decode: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if self.depth >= self.limits.max_depth {
            return Err(self.error(DecodeErrorKind::DepthExceeded));
        }
        self.depth += 1;
        let result = decode(self);
        self.depth -= 1;
        result
    }
}

/// A type that can be decoded from the OPC UA Binary DataEncoding (OPC 10000-6, 5.2).
///
/// Owned types implement it for every lifetime; borrowed ones keep slices of the input.
pub trait Decode<'a>: Sized {
    /// Smallest encoded size of a value in bytes; array lengths are checked against it.
    const MIN_SIZE: usize = 1;

    /// Reads one value. After an error the decoder's position is unspecified.
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError>;

    /// Reads a value that is a field of a structure.
    #[inline]
    fn decode_field(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }

    /// Reads `count` elements of an array whose length was read, and checked, by
    /// [`Decoder::array_length`]. Numeric types do this in one copy.
    #[inline]
    fn decode_elements(decoder: &mut Decoder<'a>, count: usize) -> Result<Vec<Self>, DecodeError> {
        // An element may be many times larger in memory than its encoding: the Vec grows with the decoded elements,
        // because the count is not trusted: its elements may be cut off or invalid.
        decoder.count_elements::<Self>(count)?;
        let affordable = decoder.remaining() / size_of::<Self>().max(1);
        let mut elements = Vec::with_capacity(count.min(affordable.max(16)));
        for _ in 0..count {
            elements.push(Self::decode(decoder)?);
        }
        Ok(elements)
    }

    /// Returns the list that stands for one after an unreadable value whose end is not known; `None` if there is none.
    #[inline]
    fn list_after_loss() -> Option<Vec<Self>> {
        None
    }

    /// Reads past one value, checking it as `decode` does.
    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        Self::decode(decoder).map(|_| ())
    }

    /// Reads past `count` elements, checking them as `decode` does.
    #[inline]
    fn skip_elements(decoder: &mut Decoder<'a>, count: usize) -> Result<(), DecodeError> {
        decoder.count_elements::<Self>(count)?;
        (0..count).try_for_each(|_| Self::skip(decoder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_fits_into_a_cache_line() {
        assert!(size_of::<Decoder<'_>>() <= 64);
    }

    #[test]
    fn limits_that_are_too_large_for_a_decoder_are_the_largest_that_it_has() {
        let largest = CompactLimits::new(Limits::VALIDATED);
        assert_eq!(largest.max_memory, u32::MAX);
        assert_eq!(largest.max_depth, u16::MAX);
        let mut decoder = Decoder::with_limits(&[], Limits::VALIDATED);
        decoder.count_elements::<u64>(1 << 28).unwrap();
        assert_eq!(decoder.memory(), 1 << 31);
        assert!(decoder.count_elements::<u64>(usize::MAX).is_err());
    }
}
