//! The types that a cell takes and gives without encoding anything.

use std::borrow::Cow;

use takt_ua::{BuiltInType, DateTime, StatusCode};

mod sealed {
    pub trait Sealed {}
}

/// A type of at most eight bytes: the numbers, Boolean, DateTime and StatusCode.
pub trait Scalar: Copy + sealed::Sealed {
    /// Its built-in type.
    const TYPE: BuiltInType;
    /// Bytes of its encoding.
    const SIZE: usize;
    /// Its encoding, as the lower bytes of a number.
    fn to_word(self) -> u64;
    /// The value with this encoding; bytes above [`SIZE`](Self::SIZE) do not count.
    fn from_word(word: u64) -> Self;
}

/// A [`Scalar`] whose arrays are encoded as they lie in memory: numbers and Boolean.
pub trait Element: Scalar {
    /// The encoded elements: borrowed, except on big-endian machines.
    fn to_bytes(elements: &[Self]) -> Cow<'_, [u8]>;
    /// Fills a slice with elements from encoded words, as many as both sides have.
    fn from_words(words: impl ExactSizeIterator<Item = u64>, elements: &mut [Self]);
}

macro_rules! scalars {
    ($($type:ty, $name:ident, $value:ident => $to:expr, $bits:ident => $from:expr;)*) => {$(
        impl sealed::Sealed for $type {}

        impl Scalar for $type {
            const TYPE: BuiltInType = BuiltInType::$name;
            const SIZE: usize = size_of::<$type>();

            #[inline]
            fn to_word(self) -> u64 {
                let $value = self;
                $to
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "the bytes above do not count")]
            fn from_word($bits: u64) -> Self {
                $from
            }
        }
    )*};
}

scalars! {
    bool, Boolean, value => u64::from(value), bits => bits as u8 != 0;
    i8, SByte, value => u64::from(value.cast_unsigned()), bits => (bits as u8).cast_signed();
    u8, Byte, value => u64::from(value), bits => bits as u8;
    i16, Int16, value => u64::from(value.cast_unsigned()), bits => (bits as u16).cast_signed();
    u16, UInt16, value => u64::from(value), bits => bits as u16;
    i32, Int32, value => u64::from(value.cast_unsigned()), bits => (bits as u32).cast_signed();
    u32, UInt32, value => u64::from(value), bits => bits as u32;
    i64, Int64, value => value.cast_unsigned(), bits => bits.cast_signed();
    u64, UInt64, value => value, bits => bits;
    f32, Float, value => u64::from(f32::to_bits(value)), bits => f32::from_bits(bits as u32);
    f64, Double, value => f64::to_bits(value), bits => f64::from_bits(bits);
    DateTime, DateTime, value => value.0.cast_unsigned(), bits => Self(bits.cast_signed());
    StatusCode, StatusCode, value => u64::from(value.0), bits => Self(bits as u32);
}

macro_rules! elements {
    ($($type:ty),*) => {$(
        impl Element for $type {
            #[inline]
            fn to_bytes(elements: &[Self]) -> Cow<'_, [u8]> {
                if cfg!(target_endian = "little") || Self::SIZE == 1 {
                    Cow::Borrowed(bytemuck::cast_slice(elements))
                } else {
                    let bytes = elements.iter().flat_map(|element| element.to_word().to_le_bytes().into_iter().take(Self::SIZE));
                    Cow::Owned(bytes.collect())
                }
            }

            #[inline]
            fn from_words(mut words: impl ExactSizeIterator<Item = u64>, elements: &mut [Self]) {
                const PER_WORD: usize = 8 / size_of::<$type>();
                // Twice half a word, because a whole one cannot be shifted out.
                let shift = |word: u64| word >> (32 / PER_WORD) >> (32 / PER_WORD);
                let fill = |mut word: u64, elements: &mut [Self]| {
                    for element in elements {
                        *element = Self::from_word(word);
                        word = shift(word);
                    }
                };
                let (chunks, tail) = elements.as_chunks_mut::<PER_WORD>();
                for (chunk, word) in chunks.iter_mut().zip(words.by_ref()) {
                    fill(word, chunk);
                }
                if let Some(word) = words.next() {
                    fill(word, tail);
                }
            }
        }
    )*};
}

elements!(bool, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);
