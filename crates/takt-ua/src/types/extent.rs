//! Ends of values that cannot be decoded: lengths and masks are followed, contents are not checked.
//!
//! An end that the encoding does not tell is an error. [`crate::foreign`] has the rules.

use super::encoding_mask::{ARRAY, DIMENSIONS};
use super::{BuiltInType, NodeIdRef};
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder};

/// Reads past a Variant (OPC 10000-6, 5.2.2.16).
pub(crate) fn pass_variant(decoder: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let mask = decoder.u8()?;
    let built_in_type = match mask & !(ARRAY | DIMENSIONS) {
        0 if mask == 0 => return Ok(()),
        // Reserved types are encoded like a ByteString (OPC 10000-6, 5.2.2.16).
        26..=31 => BuiltInType::ByteString,
        id => BuiltInType::from_u8(id)
            .ok_or_else(|| decoder.error(DecodeErrorKind::InvalidEncodingByte(mask)))?,
    };
    if mask & ARRAY == 0 {
        // Dimensions without an array: whether they follow the value is not certain.
        if mask & DIMENSIONS != 0 {
            decoder.doubt(DecodeErrorKind::InvalidEncodingByte(mask))?;
        }
        return pass(built_in_type, decoder);
    }
    pass_array(built_in_type, decoder)?;
    match mask & DIMENSIONS {
        0 => Ok(()),
        _ => pass_array(BuiltInType::Int32, decoder),
    }
}

/// Reads past an array with its length.
pub(crate) fn pass_array(
    element: BuiltInType,
    decoder: &mut Decoder<'_>,
) -> Result<(), DecodeError> {
    let size = element.encoded_size();
    // Each element has to take a byte, which bounds the loop.
    let count = decoder.array_length(size.unwrap_or(1))?.unwrap_or(0);
    match size {
        Some(size) => decoder.bytes(count.saturating_mul(size)).map(|_| ()),
        None => (0..count).try_for_each(|_| pass(element, decoder)),
    }
}

/// Reads past a value of a type.
pub(crate) fn pass(
    built_in_type: BuiltInType,
    decoder: &mut Decoder<'_>,
) -> Result<(), DecodeError> {
    use BuiltInType as B;
    if let Some(size) = built_in_type.encoded_size() {
        return decoder.bytes(size).map(|_| ());
    }
    match built_in_type {
        B::NodeId | B::ExpandedNodeId => pass_node_id(decoder),
        B::QualifiedName => {
            decoder.u16()?;
            pass_text(decoder)
        }
        B::LocalizedText => {
            let mask = known_mask(0x03, decoder)?;
            (0..mask.count_ones()).try_for_each(|_| pass_text(decoder))
        }
        B::ExtensionObject => {
            let start = decoder.rest();
            pass_node_id(decoder)?;
            match decoder.u8()? {
                0 => Ok(()),
                1 => {
                    // A TypeId that is not UTF-8 is no standard one.
                    let type_id = NodeIdRef::decode(&mut Decoder::new(start));
                    binary_body(type_id.unwrap_or_default(), decoder).map(|_| ())
                }
                2 => pass_text(decoder),
                other => Err(decoder.error(DecodeErrorKind::InvalidEncodingByte(other))),
            }
        }
        B::Variant => decoder.nested(pass_variant),
        B::DataValue => decoder.nested(pass_data_value),
        B::DiagnosticInfo => decoder.nested(pass_diagnostic_info),
        // Strings and ByteStrings.
        _ => pass_text(decoder),
    }
}

/// Returns the bytes of the binary body of an ExtensionObject, from its length on. Some servers omit the length (-1): then
/// the type tells the end, if it is known.
pub(super) fn binary_body<'a>(
    type_id: NodeIdRef<'_>,
    decoder: &mut Decoder<'a>,
) -> Result<&'a [u8], DecodeError> {
    if let Some(bytes) = decoder.byte_string()? {
        return Ok(bytes);
    }
    if !decoder.is_tolerant() {
        return Ok(&[]);
    }
    let known = type_id.standard_id();
    if let Some(body) = known.and_then(|id| decoder.structure(id)) {
        return Ok(body);
    }
    let kind = DecodeErrorKind::InvalidValue("an ExtensionObject does not have its length");
    decoder.doubt(kind).map(|()| Default::default())
}

fn pass_text(decoder: &mut Decoder<'_>) -> Result<(), DecodeError> {
    decoder.byte_string().map(|_| ())
}

fn pass_node_id(decoder: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let encoding = decoder.u8()?;
    match encoding & 0x3F {
        0x00 => decoder.bytes(1).map(|_| ())?,
        0x01 => decoder.bytes(3).map(|_| ())?,
        0x02 => decoder.bytes(6).map(|_| ())?,
        0x03 | 0x05 => {
            decoder.u16()?;
            pass_text(decoder)?;
        }
        0x04 => decoder.bytes(18).map(|_| ())?,
        other => return Err(decoder.error(DecodeErrorKind::InvalidEncodingByte(other))),
    }
    // Only an ExpandedNodeId has these.
    if encoding & 0x80 != 0 {
        pass_text(decoder)?;
    }
    if encoding & 0x40 != 0 {
        decoder.u32()?;
    }
    Ok(())
}

fn pass_data_value(decoder: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let mask = known_mask(0x3F, decoder)?;
    if mask & 0x01 != 0 {
        pass_variant(decoder)?;
    }
    let size = |bit: u8, size: usize| if mask & bit != 0 { size } else { 0 };
    // StatusCode, two timestamps, and the picoseconds of each.
    let rest = size(0x02, 4) + size(0x04, 8) + size(0x08, 8) + size(0x10, 2) + size(0x20, 2);
    decoder.bytes(rest).map(|_| ())
}

fn pass_diagnostic_info(decoder: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let mask = known_mask(0x7F, decoder)?;
    decoder.bytes(4 * (mask & 0x0F).count_ones() as usize)?;
    if mask & 0x10 != 0 {
        pass_text(decoder)?;
    }
    if mask & 0x20 != 0 {
        decoder.u32()?;
    }
    match mask & 0x40 {
        0 => Ok(()),
        _ => decoder.nested(pass_diagnostic_info),
    }
}

/// Reads an encoding mask; bits that the standard does not define have an unknown meaning.
fn known_mask(bits: u8, decoder: &mut Decoder<'_>) -> Result<u8, DecodeError> {
    match decoder.u8()? {
        mask if mask & !bits == 0 => Ok(mask),
        mask => Err(decoder.error(DecodeErrorKind::InvalidEncodingByte(mask))),
    }
}
