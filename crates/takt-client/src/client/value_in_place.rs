//! Values in the memory where the server wrote them.

use takt_cell::Element;
use takt_layout::ResponseReader;
use takt_rt::shared_bytes::SharedBytes;
use takt_ua::{BuiltInType, DateTime, StatusCode};

// Encoding masks of a DataValue and a Variant (OPC 10000-6, 5.2.2.17 and 5.2.2.16).
const VALUE: u8 = 0x01;
const STATUS: u8 = 0x02;
const SOURCE_TIMESTAMP: u8 = 0x04;
const SERVER_TIMESTAMP: u8 = 0x08;
const SOURCE_PICOSECONDS: u8 = 0x10;
const SERVER_PICOSECONDS: u8 = 0x20;
const ARRAY: u8 = 0x80;
const DIMENSIONS: u8 = 0x40;

/// A value in the memory where the server wrote it; over shared memory the server could still change it.
///
/// So it has no slices. Elements are copied on access: one element, or all of them. All lengths were checked before.
#[derive(Debug, Clone, Copy)]
pub struct ValueInPlace<'a> {
    data_type: Option<BuiltInType>,
    elements: SharedBytes<'a>,
    /// Quality of the value.
    pub status: StatusCode,
    /// Time at which the source had the value.
    pub source_timestamp: Option<DateTime>,
    /// Time at which the server had the value.
    pub server_timestamp: Option<DateTime>,
}

impl<'a> ValueInPlace<'a> {
    /// Returns the type of the value or of its elements; `None` if there is no value.
    #[must_use]
    pub fn data_type(&self) -> Option<BuiltInType> {
        self.data_type
    }

    /// Returns the encoded value: the elements one after the other, or the bytes of a String or ByteString.
    #[must_use]
    pub fn bytes(&self) -> SharedBytes<'a> {
        self.elements
    }

    /// Returns the number of elements of type `T`: 1 if the value is not an array; 0 if it has another type.
    #[must_use]
    #[inline]
    pub fn count<T: Element>(&self) -> usize {
        if self.data_type == Some(T::TYPE) {
            self.elements.len() / T::SIZE
        } else {
            0
        }
    }

    /// Returns one element, or the value itself at index 0; `None` if there is none of that type.
    #[must_use]
    #[inline]
    pub fn get<T: Element>(&self, index: usize) -> Option<T> {
        if index >= self.count::<T>() {
            return None;
        }
        let mut bytes = [0; 8];
        let target = bytes.get_mut(..T::SIZE)?;
        self.elements
            .copy_to(index * T::SIZE, target)
            .then(|| T::from_word(u64::from_le_bytes(bytes)))
    }

    /// Copies all elements to the start of `target` and returns their number; returns `None` and copies nothing if
    /// they have another type or do not fit.
    #[inline]
    pub fn copy_to<T: Element>(&self, target: &mut [T]) -> Option<usize> {
        if self.data_type != Some(T::TYPE) {
            return None;
        }
        let count = self.count::<T>();
        let target = target.get_mut(..count)?;
        match T::as_bytes_mut(target) {
            Some(bytes) => {
                let copied = self.elements.copy_to(0, bytes);
                copied.then_some(count)
            }
            None => {
                for (index, element) in target.iter_mut().enumerate() {
                    *element = self.get(index)?;
                }
                Some(count)
            }
        }
    }

    const NOTHING: ValueInPlace<'static> = ValueInPlace {
        data_type: None,
        elements: SharedBytes::EMPTY,
        status: StatusCode::Good,
        source_timestamp: None,
        server_timestamp: None,
    };

    /// Returns a result of a Read in the layout of shared memory.
    #[inline]
    pub(super) fn laid_out(response: &ResponseReader<'a>, index: usize) -> Result<Self, Unfit> {
        let record = response.data_value(index).map_err(|_| Unfit::Broken)?;
        let mut value = Self::variant(response.bytes(record.value))?;
        value.status = record.status;
        value.source_timestamp = record.times.source_timestamp;
        value.server_timestamp = record.times.server_timestamp;
        Ok(value)
    }

    /// Returns a Variant; no value if there are no bytes.
    #[inline]
    pub(super) fn variant(bytes: SharedBytes<'a>) -> Result<Self, Unfit> {
        let mut value = Self::NOTHING;
        if !bytes.is_empty() {
            let mut reader = Reader { body: bytes, at: 0 };
            (value.data_type, value.elements) = reader.value()?;
        }
        Ok(value)
    }

    /// Returns the Variant with this number in the sequence of Variants from `at` on.
    pub(super) fn nth_variant(
        body: SharedBytes<'a>,
        at: usize,
        index: usize,
    ) -> Result<Self, Unfit> {
        let mut reader = Reader { body, at };
        for _ in 0..index {
            reader.value()?;
        }
        let mut value = Self::NOTHING;
        (value.data_type, value.elements) = reader.value()?;
        Ok(value)
    }

    /// Returns a DataValue in the binary DataEncoding.
    pub(super) fn encoded(body: SharedBytes<'a>, at: usize) -> Result<Self, Unfit> {
        let [mask] = body.array(at).ok_or(Unfit::Broken)?;
        let mut reader = Reader { body, at: at + 1 };
        let mut value = Self::NOTHING;
        if mask & VALUE != 0 {
            (value.data_type, value.elements) = reader.value()?;
        }
        if mask & STATUS != 0 {
            value.status = StatusCode(u32::from_le_bytes(reader.array()?));
        }
        if mask & SOURCE_TIMESTAMP != 0 {
            value.source_timestamp = Some(DateTime(i64::from_le_bytes(reader.array()?)));
        }
        if mask & SOURCE_PICOSECONDS != 0 {
            reader.array::<2>()?;
        }
        if mask & SERVER_TIMESTAMP != 0 {
            value.server_timestamp = Some(DateTime(i64::from_le_bytes(reader.array()?)));
        }
        if mask & SERVER_PICOSECONDS != 0 {
            reader.array::<2>()?;
        }
        Ok(value)
    }
}

/// Reason for which a value cannot be read in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unfit {
    /// The value exceeds the response.
    Broken,
    /// The type of the value has no simple form.
    Type(BuiltInType),
}

/// Reader of bytes that may change.
struct Reader<'a> {
    body: SharedBytes<'a>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unfit> {
        let bytes = self.body.array(self.at).ok_or(Unfit::Broken)?;
        self.at += N;
        Ok(bytes)
    }

    /// Reads a length; null arrays have length 0.
    fn length(&mut self) -> Result<usize, Unfit> {
        let length = i32::from_le_bytes(self.array()?);
        Ok(usize::try_from(length).unwrap_or(0))
    }

    fn bytes(&mut self, length: usize) -> Result<SharedBytes<'a>, Unfit> {
        let end = self.at.checked_add(length).ok_or(Unfit::Broken)?;
        let bytes = self.body.get(self.at..end).ok_or(Unfit::Broken)?;
        self.at = end;
        Ok(bytes)
    }

    /// Reads a Variant of numbers, or of one text.
    fn value(&mut self) -> Result<(Option<BuiltInType>, SharedBytes<'a>), Unfit> {
        let [encoding] = self.array()?;
        let number = encoding & !(ARRAY | DIMENSIONS);
        if number == 0 {
            return Ok((None, SharedBytes::EMPTY));
        }
        let data_type = BuiltInType::from_u8(number).ok_or(Unfit::Broken)?;
        let is_array = encoding & ARRAY != 0;
        let length = match (data_type, data_type.encoded_size()) {
            (_, Some(size)) if is_array => self.length()?.checked_mul(size),
            (_, Some(size)) => Some(size),
            (BuiltInType::String | BuiltInType::ByteString, None) if !is_array => {
                Some(self.length()?)
            }
            _ => return Err(Unfit::Type(data_type)),
        };
        let elements = self.bytes(length.ok_or(Unfit::Broken)?)?;
        // They follow the elements, and are skipped.
        if encoding & DIMENSIONS != 0 {
            let dimensions = self.length()?.checked_mul(4).ok_or(Unfit::Broken)?;
            self.bytes(dimensions)?;
        }
        Ok((Some(data_type), elements))
    }
}
