//! Encoding mask of a Variant: type, array, dimensions (OPC 10000-6, 5.2.2.16).

use super::BuiltInType;
use crate::binary::{DecodeError, DecodeErrorKind, Decoder};

/// Bit of a Variant's encoding mask: an array follows.
pub(super) const ARRAY: u8 = 0x80;
/// Bit of a Variant's encoding mask: the array's dimensions follow its elements.
pub(super) const DIMENSIONS: u8 = 0x40;

/// Splits a Variant's encoding mask into its type; `None` is the null Variant.
#[inline]
pub(super) fn mask_type(
    mask: u8,
    decoder: &Decoder<'_>,
) -> Result<Option<BuiltInType>, DecodeError> {
    let id = mask & !(ARRAY | DIMENSIONS);
    let dimensions_without_array = mask & (ARRAY | DIMENSIONS) == DIMENSIONS;
    // A single Variant within a Variant is not allowed; an array of Variants is.
    let directly_nested = id == BuiltInType::Variant as u8 && mask & ARRAY == 0;
    let built_in_type = match id {
        0 if mask == 0 => return Ok(None),
        // Reserved identifiers hold a ByteString (OPC 10000-6, 5.2.2.16).
        26..=31 => Some(BuiltInType::ByteString),
        id => BuiltInType::from_u8(id),
    };
    match built_in_type {
        Some(built_in_type) if !dimensions_without_array && !directly_nested => {
            Ok(Some(built_in_type))
        }
        _ => {
            let offset = decoder.position().saturating_sub(1);
            Err(DecodeError::new(
                offset,
                DecodeErrorKind::InvalidEncodingByte(mask),
            ))
        }
    }
}
