//! Values of fixed size.

use takt_ua::{BuiltInType, DateTime, Guid, StatusCode};

/// A type whose values always take the same number of bytes.
pub trait FixedValue: Copy + sealed::Sealed {
    /// The built-in type.
    const BUILT_IN_TYPE: BuiltInType;
    /// Size of a value in bytes.
    const SIZE: usize;

    /// Stores the value, little-endian, in the first [`SIZE`](Self::SIZE) bytes.
    #[doc(hidden)]
    fn store(self, target: &mut [u8]);

    /// Reads the value from the first [`SIZE`](Self::SIZE) bytes.
    #[doc(hidden)]
    fn load(source: &[u8]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! number {
    ($($name:ident $type:ident),*) => {$(
        impl sealed::Sealed for $type {}

        impl FixedValue for $type {
            const BUILT_IN_TYPE: BuiltInType = BuiltInType::$name;
            const SIZE: usize = size_of::<$type>();

            #[inline]
            fn store(self, target: &mut [u8]) {
                if let Some(target) = target.first_chunk_mut() {
                    *target = self.to_le_bytes();
                }
            }

            #[inline]
            fn load(source: &[u8]) -> Self {
                source.first_chunk().map_or($type::default(), |bytes| $type::from_le_bytes(*bytes))
            }
        }
    )*};
}

number! {
    SByte i8, Byte u8, Int16 i16, UInt16 u16, Int32 i32, UInt32 u32, Int64 i64, UInt64 u64, Float f32, Double f64
}

/// Types that are stored as another one.
macro_rules! wrapped {
    ($($name:ident $type:ident as $inner:ident, $to:expr, $from:expr;)*) => {$(
        impl sealed::Sealed for $type {}

        impl FixedValue for $type {
            const BUILT_IN_TYPE: BuiltInType = BuiltInType::$name;
            const SIZE: usize = size_of::<$inner>();

            #[inline]
            fn store(self, target: &mut [u8]) {
                let to: fn($type) -> $inner = $to;
                to(self).store(target);
            }

            #[inline]
            fn load(source: &[u8]) -> Self {
                let from: fn($inner) -> $type = $from;
                from($inner::load(source))
            }
        }
    )*};
}

wrapped! {
    Boolean bool as u8, u8::from, |byte| byte != 0;
    DateTime DateTime as i64, |time| time.0, DateTime;
    StatusCode StatusCode as u32, |status| status.0, StatusCode;
}

impl sealed::Sealed for Guid {}

impl FixedValue for Guid {
    const BUILT_IN_TYPE: BuiltInType = BuiltInType::Guid;
    const SIZE: usize = 16;

    #[inline]
    fn store(self, target: &mut [u8]) {
        if let Some(target) = target.first_chunk_mut::<16>() {
            let (data, data4) = target.split_at_mut(8);
            self.data1.store(data);
            self.data2.store(data.split_at_mut(4).1);
            self.data3.store(data.split_at_mut(6).1);
            data4.copy_from_slice(&self.data4);
        }
    }

    #[inline]
    fn load(source: &[u8]) -> Self {
        let part = |at: usize| source.get(at..).unwrap_or_default();
        Guid {
            data1: u32::load(part(0)),
            data2: u16::load(part(4)),
            data3: u16::load(part(6)),
            data4: part(8).first_chunk().copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_ua::binary::{Decode, Decoder, Encode};

    fn check<T: FixedValue + Encode + for<'a> Decode<'a> + PartialEq + std::fmt::Debug>(value: T) {
        let mut bytes = vec![0xEE; T::SIZE];
        value.store(&mut bytes);
        assert_eq!(bytes, value.encode_to_vec());
        assert_eq!(T::load(&bytes), value);
        assert_eq!(Decoder::new(&bytes).value(), Ok(value));
        assert_eq!(T::BUILT_IN_TYPE.encoded_size(), Some(T::SIZE));
    }

    #[test]
    fn values_are_stored_as_they_are_encoded() {
        check(true);
        check(-1_i8);
        check(1_u8);
        check(-2_i16);
        check(2_u16);
        check(-4_i32);
        check(4_u32);
        check(-8_i64);
        check(8_u64);
        check(1.5_f32);
        check(2.5_f64);
        check(DateTime(0x0102_0304_0506_0708));
        check(StatusCode::BadTimeout);
        check(Guid {
            data1: 0x0403_0201,
            data2: 0x0605,
            data3: 0x0807,
            data4: [9, 10, 11, 12, 13, 14, 15, 16],
        });
    }
}
