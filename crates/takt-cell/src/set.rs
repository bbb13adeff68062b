//! Setting of cells.

use takt_ua::binary::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder,
};
use takt_ua::{ArrayRef, BuiltInType, DateTime, Elements, StatusCode, Variant, VariantRef};

use crate::layout::{META, TIME, VALUE};
use crate::scalar::{Element, Scalar};
use crate::shape::ARRAY;
use crate::slots::Busy;
use crate::sync::{AtomicU64, Ordering};
use crate::words::{PADDING, WordWriter};
use crate::{Cell, CellError, EncodedScalar, Shape};

/// Largest size in bytes of values that are encoded on the stack; longer ones are encoded in a `Vec`. Numbers need
/// neither.
const STACK_BYTES: usize = 512;

/// Setting. All of these functions are wait-free and allocate nothing; exceptions are [`Cell::set`] and
/// [`Cell::set_ref`] with some values.
///
/// # Errors
/// [`CellError::WrongType`] and [`CellError::TooLarge`] if the value does not fit this cell; [`CellError::Busy`] if
/// more than three threads set it at once. The cell is unchanged then.
impl Cell {
    /// Sets any value.
    ///
    /// Numbers, strings and arrays of numbers of one dimension allocate nothing; others do if they have more
    /// than 512 bytes when encoded.
    pub fn set(
        &self,
        value: &Variant,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        macro_rules! slice {
            ($elements:expr) => {
                self.set_slice($elements, status, source_timestamp)
            };
        }
        let time = source_timestamp;
        match value {
            Variant::Empty => self.set_status(status, time),
            Variant::Boolean(value) => self.set_scalar(*value, status, time),
            Variant::SByte(value) => self.set_scalar(*value, status, time),
            Variant::Byte(value) => self.set_scalar(*value, status, time),
            Variant::Int16(value) => self.set_scalar(*value, status, time),
            Variant::UInt16(value) => self.set_scalar(*value, status, time),
            Variant::Int32(value) => self.set_scalar(*value, status, time),
            Variant::UInt32(value) => self.set_scalar(*value, status, time),
            Variant::Int64(value) => self.set_scalar(*value, status, time),
            Variant::UInt64(value) => self.set_scalar(*value, status, time),
            Variant::Float(value) => self.set_scalar(*value, status, time),
            Variant::Double(value) => self.set_scalar(*value, status, time),
            Variant::DateTime(value) => self.set_scalar(*value, status, time),
            Variant::StatusCode(value) => self.set_scalar(*value, status, time),
            Variant::String(value) => self.set_string(value.as_option(), status, time),
            Variant::ByteString(value) => self.set_byte_string(value.as_option(), status, time),
            Variant::Array(array) if array.dimensions.is_empty() => match &array.elements {
                Elements::Boolean(elements) => slice!(elements),
                Elements::SByte(elements) => slice!(elements),
                Elements::Byte(elements) => slice!(elements),
                Elements::Int16(elements) => slice!(elements),
                Elements::UInt16(elements) => slice!(elements),
                Elements::Int32(elements) => slice!(elements),
                Elements::UInt32(elements) => slice!(elements),
                Elements::Int64(elements) => slice!(elements),
                Elements::UInt64(elements) => slice!(elements),
                Elements::Float(elements) => slice!(elements),
                Elements::Double(elements) => slice!(elements),
                _ => self.set_by_encoding(value, status, time),
            },
            _ => self.set_by_encoding(value, status, time),
        }
    }

    /// Sets any borrowed value, as a Write does.
    ///
    /// Values of types with a fixed size, strings, and arrays of one dimension allocate nothing; others do if they
    /// have more than 512 bytes.
    pub fn set_ref(
        &self,
        value: &VariantRef<'_>,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        match value {
            VariantRef::Empty => self.set_status(status, source_timestamp),
            VariantRef::String(value) => self.set_string(*value, status, source_timestamp),
            VariantRef::ByteString(value) => self.set_byte_string(*value, status, source_timestamp),
            VariantRef::Array(array) if array.dimensions().len() == 0 => {
                self.set_array(array, status, source_timestamp)
            }
            _ => self.set_by_encoding(value, status, source_timestamp),
        }
    }

    /// Sets a value by its encoding as a Variant (OPC 10000-6, 5.2.2.16).
    ///
    /// # Errors
    /// [`CellError::Decode`] in addition, if the bytes are not exactly one Variant.
    pub fn set_encoded(
        &self,
        encoded: &[u8],
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        if encoded.len() > self.capacity {
            return Err(CellError::TooLarge {
                needed: encoded.len(),
                capacity: self.capacity,
            });
        }
        let mut decoder = Decoder::with_limits(encoded, self.limits());
        VariantRef::decode(&mut decoder)?;
        if decoder.remaining() > 0 {
            let kind = DecodeErrorKind::InvalidValue("more bytes than one Variant");
            return Err(DecodeError::new(decoder.position(), kind).into());
        }
        self.store(&[encoded], status, source_timestamp)
    }

    /// Removes the value and sets a status, as when the source has failed.
    pub fn set_status(
        &self,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        self.store_with(0, status, source_timestamp, |_| ())
    }

    /// Sets one number, Boolean, DateTime or StatusCode.
    #[inline]
    pub fn set_scalar<T: Scalar>(
        &self,
        value: T,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        self.store_scalar(
            T::TYPE as u8,
            T::SIZE,
            value.to_word(),
            status,
            source_timestamp,
        )
    }

    /// Sets one encoded number, Boolean, DateTime or StatusCode.
    ///
    /// # Errors
    /// [`CellError::WrongType`] also if it has another type.
    #[inline]
    pub fn set_encoded_scalar(
        &self,
        scalar: EncodedScalar,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        let EncodedScalar {
            encoding_mask,
            bytes,
        } = scalar;
        let (size, bits) = match BuiltInType::from_u8(encoding_mask) {
            Some(BuiltInType::Boolean) => (1, u64::from(bytes & 0xFF != 0)),
            Some(BuiltInType::SByte | BuiltInType::Byte) => (1, bytes & 0xFF),
            Some(BuiltInType::Int16 | BuiltInType::UInt16) => (2, bytes & 0xFFFF),
            Some(
                BuiltInType::Int32
                | BuiltInType::UInt32
                | BuiltInType::Float
                | BuiltInType::StatusCode,
            ) => (4, bytes & 0xFFFF_FFFF),
            Some(
                BuiltInType::Int64
                | BuiltInType::UInt64
                | BuiltInType::Double
                | BuiltInType::DateTime,
            ) => (8, bytes),
            _ => {
                return Err(CellError::WrongType {
                    expected: self.shape,
                    found: Shape::of(encoding_mask),
                });
            }
        };
        self.store_scalar(encoding_mask, size, bits, status, source_timestamp)
    }

    #[inline]
    fn store_scalar(
        &self,
        encoding: u8,
        size: usize,
        bits: u64,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        self.check(encoding, 1 + size)?;
        let first = (u64::from(encoding) << (8 * PADDING)) | bits << 32;
        self.store_with(1 + size, status, source_timestamp, |words| {
            put(words, 0, first);
            if size > 4 {
                put(words, 1, bits >> 32);
            }
        })
    }

    /// Sets an array of numbers or Booleans, in one copy.
    #[inline]
    pub fn set_slice<T: Element>(
        &self,
        elements: &[T],
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        let header = array_header(T::TYPE, elements.len())?;
        self.store(&[&header, &T::to_bytes(elements)], status, source_timestamp)
    }

    /// Sets a String; `None` is the null string.
    #[inline]
    pub fn set_string(
        &self,
        text: Option<&str>,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        self.set_bytes(
            BuiltInType::String,
            text.map(str::as_bytes),
            status,
            source_timestamp,
        )
    }

    /// Sets a ByteString; `None` is the null ByteString.
    #[inline]
    pub fn set_byte_string(
        &self,
        bytes: Option<&[u8]>,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        self.set_bytes(BuiltInType::ByteString, bytes, status, source_timestamp)
    }

    fn set_bytes(
        &self,
        data_type: BuiltInType,
        bytes: Option<&[u8]>,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        let header = header(data_type as u8, bytes.map(<[u8]>::len))?;
        self.store(
            &[&header, bytes.unwrap_or_default()],
            status,
            source_timestamp,
        )
    }

    fn set_array(
        &self,
        array: &ArrayRef<'_>,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        let header = array_header(array.element_type(), array.len())?;
        self.store(&[&header, array.as_bytes()], status, source_timestamp)
    }

    fn set_by_encoding(
        &self,
        value: &impl Encode,
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        let mut stack = [0; STACK_BYTES];
        let mut encoder = Encoder::fixed(&mut stack);
        if value.encode(&mut encoder).is_ok() {
            return self.store(&[encoder.written()], status, source_timestamp);
        }
        let mut heap = Vec::new();
        value.encode(&mut Encoder::growing(&mut heap, usize::MAX))?;
        self.store(&[&heap], status, source_timestamp)
    }

    /// Checks and stores a value in pieces, the first of which begins with the encoding mask.
    #[inline]
    pub(crate) fn store(
        &self,
        pieces: &[&[u8]],
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<(), CellError> {
        let length = pieces
            .iter()
            .fold(0_usize, |sum, piece| sum.saturating_add(piece.len()));
        let encoding = pieces
            .first()
            .and_then(|piece| piece.first())
            .copied()
            .unwrap_or_default();
        if encoding == 0 {
            return self.set_status(status, source_timestamp);
        }
        self.check(encoding, length)?;
        self.store_with(length, status, source_timestamp, |words| {
            let mut writer = WordWriter::new(words);
            for piece in pieces {
                writer.put(piece);
            }
            writer.finish();
        })
    }

    #[inline]
    pub(crate) fn check(&self, encoding: u8, length: usize) -> Result<(), CellError> {
        if !self.shape.accepts(encoding) {
            return Err(CellError::WrongType {
                expected: self.shape,
                found: Shape::of(encoding),
            });
        }
        if length > self.capacity {
            return Err(CellError::TooLarge {
                needed: length,
                capacity: self.capacity,
            });
        }
        Ok(())
    }

    /// Stores a checked value of `length` bytes, whose words `write` stores.
    #[inline]
    pub(crate) fn store_with(
        &self,
        length: usize,
        status: StatusCode,
        source_timestamp: DateTime,
        write: impl FnOnce(&[AtomicU64]),
    ) -> Result<(), CellError> {
        self.slots()
            .set(words_of(length, status, source_timestamp, write))
            .map_err(|Busy| CellError::Busy)
    }

    /// Stores an encoded value of this cell with another status, unless a set has begun after the one with the ticket `last`.
    /// Returns the ticket of this set.
    #[cfg(not(loom))]
    pub(crate) fn store_after(
        &self,
        last: u64,
        encoded: &[u8],
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Option<u64> {
        let write = |words: &[AtomicU64]| {
            let mut writer = WordWriter::new(words);
            writer.put(encoded);
            writer.finish();
        };
        let write = words_of(encoded.len(), status, source_timestamp, write);
        let stored = self.slots().set_after(last, write);
        stored.is_ok_and(|stored| stored).then_some(last + 1)
    }
}

/// Returns the function that writes the words of a slot: those of the value, which `write` stores, and its properties.
#[inline]
fn words_of(
    length: usize,
    status: StatusCode,
    source_timestamp: DateTime,
    write: impl FnOnce(&[AtomicU64]),
) -> impl FnOnce(&[AtomicU64]) {
    // At most MAX_CAPACITY, so it fits 32 bits.
    let meta = (length as u64) << 32 | u64::from(status.0);
    move |words| {
        put(words, META, meta);
        put(words, TIME, source_timestamp.0.cast_unsigned());
        write(words.get(VALUE..).unwrap_or_default());
    }
}

#[inline]
fn put(words: &[AtomicU64], index: usize, value: u64) {
    if let Some(word) = words.get(index) {
        word.store(value, Ordering::Relaxed);
    }
}

/// Returns encoding mask and length (OPC 10000-6, 5.2.2.16 and 5.2.5).
#[inline]
fn header(encoding: u8, length: Option<usize>) -> Result<[u8; 5], CellError> {
    let length = match length {
        None => -1,
        Some(length) => i32::try_from(length).map_err(|_| EncodeError::LengthOverflow)?,
    };
    let [a, b, c, d] = length.to_le_bytes();
    Ok([encoding, a, b, c, d])
}

#[inline]
fn array_header(data_type: BuiltInType, length: usize) -> Result<[u8; 5], CellError> {
    header(data_type as u8 | ARRAY, Some(length))
}

macro_rules! setters {
    ($($one:ident $many:ident $type:ty, $name:literal;)*) => {
        /// Setting by type, with the errors of [`Cell::set_scalar`] and [`Cell::set_slice`].
        impl Cell {
            $(
                #[doc = concat!("Sets one ", $name, ".")]
                #[inline]
                pub fn $one(&self, value: $type, status: StatusCode, source_timestamp: DateTime) -> Result<(), CellError> {
                    self.set_scalar(value, status, source_timestamp)
                }

                #[doc = concat!("Sets an array of ", $name, ", in one copy.")]
                #[inline]
                pub fn $many(&self, elements: &[$type], status: StatusCode, source_timestamp: DateTime) -> Result<(), CellError> {
                    self.set_slice(elements, status, source_timestamp)
                }
            )*
        }
    };
}

setters! {
    set_bool set_bools bool, "Boolean";
    set_i8 set_i8s i8, "SByte";
    set_u8 set_u8s u8, "Byte";
    set_i16 set_i16s i16, "Int16";
    set_u16 set_u16s u16, "UInt16";
    set_i32 set_i32s i32, "Int32";
    set_u32 set_u32s u32, "UInt32";
    set_i64 set_i64s i64, "Int64";
    set_u64 set_u64s u64, "UInt64";
    set_f32 set_f32s f32, "Float";
    set_f64 set_f64s f64, "Double";
}
