//! Encodings of the scalars of the language, of StatusCodes, of strings and of arrays.

use super::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use crate::{StatusCode, large_memory};

/// Fixed-size little-endian numbers: single values by a method of the coders, arrays in one copy.
macro_rules! number {
    ($($type:ident),*) => {$(
        impl Encode for $type {
            #[inline]
            fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
                encoder.$type(*self)
            }

            #[inline]
            fn encode_elements(elements: &[Self], encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
                // The encoding is little-endian: on such a system, the elements have it in memory already.
                #[cfg(target_endian = "little")]
                return encoder.bytes(bytemuck::cast_slice(elements));
                #[cfg(not(target_endian = "little"))]
                return elements.iter().try_for_each(|element| encoder.$type(*element));
            }
        }

        impl<'a> Decode<'a> for $type {
            const MIN_SIZE: usize = size_of::<$type>();

            #[inline]
            fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
                decoder.$type()
            }

            #[inline]
            fn decode_elements(decoder: &mut Decoder<'a>, count: usize) -> Result<Vec<Self>, DecodeError> {
                let bytes = decoder.bytes(count.saturating_mul(size_of::<$type>()))?;
                let mut elements = large_memory::with_capacity(count);
                // Exact-size iteration: the compiler turns the loop into a wide copy.
                elements.extend(bytes.as_chunks().0.iter().map(|chunk| $type::from_le_bytes(*chunk)));
                Ok(elements)
            }

            #[inline]
            fn skip_elements(decoder: &mut Decoder<'a>, count: usize) -> Result<(), DecodeError> {
                decoder.bytes(count.saturating_mul(size_of::<$type>())).map(|_| ())
            }
        }
    )*};
}

number!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

impl Encode for bool {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.bool(*self)
    }

    #[inline]
    fn encode_elements(elements: &[Self], encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // A bool is stored as 0 or 1, which is also its encoding.
        encoder.bytes(bytemuck::cast_slice(elements))
    }
}

impl<'a> Decode<'a> for bool {
    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.bool()
    }

    #[inline]
    fn decode_elements(decoder: &mut Decoder<'a>, count: usize) -> Result<Vec<Self>, DecodeError> {
        Ok(decoder
            .bytes(count)?
            .iter()
            .map(|byte| *byte != 0)
            .collect())
    }

    #[inline]
    fn skip_elements(decoder: &mut Decoder<'a>, count: usize) -> Result<(), DecodeError> {
        decoder.bytes(count).map(|_| ())
    }
}

impl Encode for StatusCode {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.u32(self.0)
    }
}

impl<'a> Decode<'a> for StatusCode {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.u32().map(Self)
    }
}

impl<'a> Decode<'a> for Option<&'a str> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.string()
    }
}

impl Encode for Option<&str> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.string(*self)
    }
}

impl Encode for &str {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.string(Some(self))
    }
}

impl<'a> Decode<'a> for Option<&'a [u8]> {
    const MIN_SIZE: usize = 4;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.byte_string()
    }
}

impl Encode for Option<&[u8]> {
    /// Encodes the octets as a ByteString.
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.byte_string(*self)
    }
}

impl<T: Encode> Encode for [T] {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.array_length(Some(self.len()))?;
        T::encode_elements(self, encoder)
    }
}

impl<T: Encode> Encode for Vec<T> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_slice().encode(encoder)
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Vec<T> {
    const MIN_SIZE: usize = 4;

    /// Decodes the null array as an empty `Vec`: the standard gives both the same meaning (OPC 10000-6, 5.1.11).
    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        match decoder.array_length(T::MIN_SIZE) {
            Ok(Some(count)) => T::decode_elements(decoder, count),
            Ok(None) => Ok(Vec::new()),
            Err(error) => {
                // An earlier value made the rest unreadable, which is not an error of this list.
                let list = decoder.is_lost().then(T::list_after_loss).flatten();
                list.ok_or(error)
            }
        }
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        let count = decoder.array_length(T::MIN_SIZE)?.unwrap_or(0);
        T::skip_elements(decoder, count)
    }
}

impl<T: Encode> Encode for Box<T> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        (**self).encode(encoder)
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Box<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    /// Decodes one level deeper: a box stands for a structure that contains itself.
    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        decoder.nested(|decoder| T::decode(decoder).map(Box::new))
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        decoder.nested(T::skip)
    }
}

impl<T: Encode> Encode for &T {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        (**self).encode(encoder)
    }
}
