//! Decoding of messages of a foreign application: one value that cannot be decoded is one bad value.
//!
//! * A text that is not UTF-8 (PLCs send Latin-1) has U+FFFD for each part that is not, as other OPC UA software reads it.
//! * A binary body of an ExtensionObject without its length (-1) ends where its type ends, if this crate has the type.
//! * A DataValue whose value cannot be decoded has no value, and `BadDecodingError` or `BadEncodingLimitsExceeded`. In a list
//!   of Variants, and in a field of a structure, such a StatusCode is in the place of the value. A value within another value
//!   makes the outer one bad.
//! * The end of such a value is found from its lengths and masks. If they do not tell it, all values that follow in the list
//!   are bad too, with `BadUnknownResponse`. Nothing else is guessed: a length below -1, or a body of unknown type without a length, is read as null only
//!   if the message then ends where it has to.
//!
//! A server decodes requests with [`Decoder::new`], which tolerates nothing.

use crate::binary::{DecodeError, DecodeErrorKind, Decoder, Limits};
use crate::generated_support::{FieldType, StructureDescription};
use crate::types::extent::{pass, pass_array};
use crate::{
    BuiltInType, DataValue, Elements, ExpandedNodeId, ExtensionObject, ExtensionObjectBody,
    Identifier, LocalizedText, NodeId, Structure, UaString, Variant,
};

/// Decodes `bytes` with `decode`, which is called once more if the end of a value was not certain.
///
/// # Errors
/// Something else than a value of a list cannot be decoded.
pub fn decode<'a, T>(
    bytes: &'a [u8],
    decode: impl Fn(&mut Decoder<'a>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    decode_within(bytes, Limits::DEFAULT, decode)
}

/// Does the same as [`decode`], within other limits than the default ones.
///
/// # Errors
/// As [`decode`].
pub fn decode_within<'a, T>(
    bytes: &'a [u8],
    limits: Limits,
    decode: impl Fn(&mut Decoder<'a>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    decode_with(bytes, limits, decode)
}

/// Does the same as [`decode`], with errors of another type.
///
/// # Errors
/// As [`decode`].
pub fn decode_as<'a, T, E>(
    bytes: &'a [u8],
    decode: impl Fn(&mut Decoder<'a>) -> Result<T, E>,
) -> Result<T, E> {
    decode_with(bytes, Limits::DEFAULT, decode)
}

fn decode_with<'a, T, E>(
    bytes: &'a [u8],
    limits: Limits,
    decode: impl Fn(&mut Decoder<'a>) -> Result<T, E>,
) -> Result<T, E> {
    let mut decoder = Decoder::tolerant(bytes, limits, false, pass_structure);
    let decoded = decode(&mut decoder);
    // A guess that was wrong hardly ever ends exactly where the message ends.
    if !decoder.has_doubt() || (decoded.is_ok() && decoder.remaining() == 0) {
        return decoded;
    }
    // Once more: now a value whose end is not certain makes all that follows bad.
    let mut decoder = Decoder::tolerant(bytes, limits, true, pass_structure);
    decode(&mut decoder)
}

/// Decodes the body of an ExtensionObject with `decode`; `None` if it is not a binary-encoded `T`.
///
/// # Errors
/// As [`decode`].
pub fn decode_body<'a, T: Structure, R>(
    object: &'a ExtensionObject,
    decode: impl Fn(&mut Decoder<'a>) -> Result<R, DecodeError>,
) -> Option<Result<R, DecodeError>> {
    match &object.body {
        ExtensionObjectBody::Binary(bytes) if object.is::<T>() => Some(self::decode(bytes, decode)),
        _ => None,
    }
}

/// Reads past the structure of the standard with this `Default Binary` encoding.
fn pass_structure(encoding_id: u32, decoder: &mut Decoder<'_>) -> Result<(), DecodeError> {
    // `of_encoding` also finds XML encodings, whose bodies are no binary structures.
    let known = StructureDescription::of_encoding(encoding_id)
        .filter(|known| known.binary_encoding_id == encoding_id);
    match known {
        Some(known) => decoder.nested(|decoder| pass_fields(known, decoder)),
        None => Err(unknown(decoder)),
    }
}

fn pass_fields(
    structure: &StructureDescription,
    decoder: &mut Decoder<'_>,
) -> Result<(), DecodeError> {
    let mut mask = match structure.has_optional_fields() {
        true => decoder.u32()?,
        false => 0,
    };
    for field in structure.fields {
        if field.is_optional {
            let is_absent = mask & 1 == 0;
            mask >>= 1;
            if is_absent {
                continue;
            }
        }
        match (field.field_type, field.is_array) {
            (FieldType::BuiltIn(built_in), false) => pass(built_in, decoder)?,
            (FieldType::BuiltIn(built_in), true) => pass_array(built_in, decoder)?,
            (FieldType::Enumeration(_), false) => pass(BuiltInType::Int32, decoder)?,
            (FieldType::Enumeration(_), true) => pass_array(BuiltInType::Int32, decoder)?,
            (FieldType::Structure(id), is_array) => {
                let inner = StructureDescription::of_type(id).ok_or_else(|| unknown(decoder))?;
                // Each element takes a byte at least in the check, which bounds the loop for structures without fields.
                let count = match is_array {
                    true => decoder.array_length(1)?.unwrap_or(0),
                    false => 1,
                };
                // A Variant stands for the structure, whose size in memory is not known here.
                decoder.count_elements::<Variant>(count)?;
                for _ in 0..count {
                    decoder.nested(|decoder| pass_fields(inner, decoder))?;
                }
            }
        }
    }
    Ok(())
}

fn unknown(decoder: &Decoder<'_>) -> DecodeError {
    decoder.error(DecodeErrorKind::InvalidValue("the type is not known"))
}

/// Returns whether a text of the value contains U+FFFD, which stands for what was not UTF-8. Structures are not examined.
pub fn is_replaced(value: &Variant) -> bool {
    fn is_marked(text: &str) -> bool {
        text.contains(char::REPLACEMENT_CHARACTER)
    }
    fn text(text: &UaString) -> bool {
        is_marked(text.as_str())
    }
    fn localized(value: &LocalizedText) -> bool {
        text(&value.text) || text(&value.locale)
    }
    fn id(value: &NodeId) -> bool {
        matches!(&value.identifier, Identifier::String(text) if is_marked(text))
    }
    fn expanded(value: &ExpandedNodeId) -> bool {
        id(&value.node_id) || text(&value.namespace_uri)
    }
    fn within(value: &DataValue) -> bool {
        value.value.as_ref().is_some_and(is_replaced)
    }
    match value {
        Variant::String(value) => text(value),
        Variant::XmlElement(value) => text(&value.0),
        Variant::LocalizedText(value) => localized(value),
        Variant::QualifiedName(value) => text(&value.name),
        Variant::NodeId(value) => id(value),
        Variant::ExpandedNodeId(value) => expanded(value),
        Variant::DataValue(value) => within(value),
        Variant::Array(array) => match &array.elements {
            Elements::String(all) => all.iter().any(text),
            Elements::XmlElement(all) => all.iter().any(|value| text(&value.0)),
            Elements::LocalizedText(all) => all.iter().any(localized),
            Elements::QualifiedName(all) => all.iter().any(|value| text(&value.name)),
            Elements::NodeId(all) => all.iter().any(id),
            Elements::ExpandedNodeId(all) => all.iter().any(expanded),
            Elements::DataValue(all) => all.iter().any(within),
            Elements::Variant(all) => all.iter().any(is_replaced),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacement_characters_are_found_in_scalars_and_arrays() {
        let marked = "Temp\u{FFFD}ratur";
        let node_id = NodeId::string(2, marked);
        let expanded = ExpandedNodeId {
            node_id: node_id.clone(),
            ..ExpandedNodeId::default()
        };
        let values: [Variant; 10] = [
            marked.into(),
            vec![UaString::from(marked)].into(),
            LocalizedText::new(marked, "x").into(),
            vec![
                LocalizedText::new("x", "x"),
                LocalizedText::new(marked, "x"),
            ]
            .into(),
            vec![LocalizedText::new("x", marked)].into(),
            node_id.clone().into(),
            vec![node_id].into(),
            expanded.into(),
            DataValue::good(marked).into(),
            vec![Variant::from(DataValue::good(marked))].into(),
        ];
        for value in values {
            assert!(is_replaced(&value), "{value:?}");
        }
        for value in [Variant::from("x"), vec![NodeId::string(2, "x")].into()] {
            assert!(!is_replaced(&value), "{value:?}");
        }
    }
}
