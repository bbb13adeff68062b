//! Types that a cell stores and returns without encoding.

use std::borrow::Cow;

use takt_ua::{BuiltInType, DateTime, StatusCode};

mod sealed {
    pub trait Sealed {}
}

/// A type of at most eight bytes: the numbers, Boolean, DateTime and StatusCode.
pub trait Scalar: Copy + sealed::Sealed {
    /// Built-in type of the values.
    const TYPE: BuiltInType;
    /// Size of the encoding in bytes.
    const SIZE: usize;
    /// Returns the encoding as the lower bytes of a number.
    fn to_word(self) -> u64;
    /// Creates the value with this encoding; bytes above [`SIZE`](Self::SIZE) are ignored.
    fn from_word(word: u64) -> Self;
}

/// A [`Scalar`] whose arrays have the same form in memory and encoded: numbers and Boolean.
pub trait Element: Scalar {
    /// Returns the encoded elements: borrowed, except on big-endian machines.
    fn to_bytes(elements: &[Self]) -> Cow<'_, [u8]>;
    /// Returns the slice as a buffer for encoded elements, if all bytes are valid elements.
    fn as_bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]>;
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
    ($($type:ty, $as_bytes_mut:ident;)*) => {$(
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
            fn as_bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
                $as_bytes_mut(elements)
            }
        }
    )*};
}

elements! {
    bool, checked; i8, any_bytes; u8, any_bytes; i16, any_bytes; u16, any_bytes; i32, any_bytes; u32, any_bytes;
    i64, any_bytes; u64, any_bytes; f32, any_bytes; f64, any_bytes;
}

#[inline]
fn any_bytes<T: bytemuck::Pod>(elements: &mut [T]) -> Option<&mut [u8]> {
    cfg!(target_endian = "little").then(|| bytemuck::cast_slice_mut(elements))
}

/// Returns `None`, because bytes other than 0 and 1 are not valid for `bool`.
#[inline]
fn checked(_: &mut [bool]) -> Option<&mut [u8]> {
    None
}
