//! Numbers in encoded Variants.

use takt_ua::binary::{Decoder, Encode};
use takt_ua::{BuiltInType, Variant};

/// Returns the number in an encoded Variant; `None` for other values and for arrays.
pub(crate) fn decode(value: &[u8]) -> Option<f64> {
    let (type_id, rest) = value.split_first()?;
    let mut decoder = Decoder::new(rest);
    // These are the ids of the built-in types from SByte to Double (OPC 10000-6, 5.1.2). An array has further bits in this byte.
    let number = match *type_id {
        2 => f64::from(decoder.i8().ok()?),
        3 => f64::from(decoder.u8().ok()?),
        4 => f64::from(decoder.i16().ok()?),
        5 => f64::from(decoder.u16().ok()?),
        6 => f64::from(decoder.i32().ok()?),
        7 => f64::from(decoder.u32().ok()?),
        #[allow(
            clippy::cast_precision_loss,
            reason = "aggregates are calculated with Doubles"
        )]
        8 => decoder.i64().ok()? as f64,
        #[allow(
            clippy::cast_precision_loss,
            reason = "aggregates are calculated with Doubles"
        )]
        9 => decoder.u64().ok()? as f64,
        10 => f64::from(decoder.f32().ok()?),
        11 => decoder.f64().ok()?,
        _ => return None,
    };
    Some(number)
}

/// Returns an encoded Variant with a number of the same type as another one, rounded if that is an integer.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
pub(crate) fn encode_like(like: &[u8], number: f64) -> Vec<u8> {
    let integer = number.round();
    let variant = match like.first() {
        Some(2) => Variant::SByte(integer as i8),
        Some(3) => Variant::Byte(integer as u8),
        Some(4) => Variant::Int16(integer as i16),
        Some(5) => Variant::UInt16(integer as u16),
        Some(6) => Variant::Int32(integer as i32),
        Some(7) => Variant::UInt32(integer as u32),
        Some(8) => Variant::Int64(integer as i64),
        Some(9) => Variant::UInt64(integer as u64),
        Some(10) => Variant::Float(number as f32),
        _ => Variant::Double(number),
    };
    variant.encode_to_vec()
}

/// Returns an encoded Variant with a Double.
pub(crate) fn encode_double(number: f64) -> Vec<u8> {
    let mut value = vec![BuiltInType::Double as u8];
    value.extend_from_slice(&number.to_le_bytes());
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_type() {
        let numbers = [
            Variant::SByte(-3),
            Variant::Byte(3),
            Variant::Int16(-3),
            Variant::UInt16(3),
            Variant::Int32(-3),
            Variant::UInt32(3),
            Variant::Int64(-3),
            Variant::UInt64(3),
            Variant::Float(1.5),
            Variant::Double(-1.5),
        ];
        for number in numbers {
            let encoded = number.encode_to_vec();
            let value = decode(&encoded).unwrap();
            assert_eq!(encode_like(&encoded, value), encoded, "{number:?}");
        }
        assert_eq!(encode_double(2.5), Variant::Double(2.5).encode_to_vec());
        assert_eq!(encode_like(&[3], 300.4), Variant::Byte(255).encode_to_vec());
    }

    #[test]
    fn other_values_have_no_number() {
        for other in [
            Variant::from(true),
            Variant::from("1"),
            Variant::from(vec![1_u32]),
        ] {
            assert_eq!(decode(&other.encode_to_vec()), None, "{other:?}");
        }
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[11, 0]), None);
    }
}
