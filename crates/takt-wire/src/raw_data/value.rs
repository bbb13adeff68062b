//! Conversion of RawData fields of DataSets from and to Variants.

use takt_ua::binary::{Decoder, Encode, Encoder};
use takt_ua::{
    Array, ByteString, Elements, ExtensionObject, ExtensionObjectBody, UaString, Variant,
};

use super::error::Problem;
use super::layout::{MAX_RANK, Rank, RawField, RawStructure, RawType, cells};
use super::padding::zeros;
use super::recode::{Direction, encoded_length, lengths, structure, text_padding};

const TOO_LONG: Problem = Problem::Invalid("longer than ArrayDimensions or MaxStringLength");

/// Appends a field.
pub(crate) fn encode(
    field: &RawField,
    value: &Variant,
    encoder: &mut Encoder<'_>,
) -> Result<(), Problem> {
    if let Rank::Scalar = field.rank {
        return encode_one(&field.raw_type, value, encoder);
    }
    let expected = field.raw_type.built_in_type();
    let array = match value {
        Variant::Array(array) if array.element_type() == expected => array,
        _ => return Err(Problem::TypeMismatch(expected)),
    };
    match &field.rank {
        Rank::Matrix { rank, max } => encode_matrix(&field.raw_type, *rank, max, array, encoder),
        Rank::Array(max) => encode_array(&field.raw_type, *max, array, encoder),
        Rank::Scalar => Ok(()),
    }
}

fn encode_array(
    raw_type: &RawType,
    max: usize,
    array: &Array,
    encoder: &mut Encoder<'_>,
) -> Result<(), Problem> {
    if array.dimensions.len() > 1 {
        return Err(Problem::Invalid("a matrix where one dimension is expected"));
    }
    if max > 0 && array.len() > max {
        return Err(TOO_LONG);
    }
    encoder.array_length(Some(array.len()))?;
    // Elements are not extracted one by one, which would allocate for types that are not numbers.
    match (raw_type, &array.elements) {
        (RawType::Fixed(_), elements) => elements.encode(encoder)?,
        (RawType::String(max), Elements::String(texts)) => texts
            .iter()
            .try_for_each(|text| encode_text(text, *max, encoder))?,
        (RawType::ByteString(max), Elements::ByteString(list)) => list
            .iter()
            .try_for_each(|bytes| encode_bytes(bytes, *max, encoder))?,
        (RawType::Structure(raw), Elements::ExtensionObject(objects)) => objects
            .iter()
            .try_for_each(|object| encode_structure(raw, object, encoder))?,
        _ => return Err(Problem::TypeMismatch(raw_type.built_in_type())),
    }
    // The product below cannot overflow: `RawField::new` has limited it.
    let missing = max.saturating_sub(array.len());
    Ok(zeros(
        missing * raw_type.fixed_size().unwrap_or(0),
        encoder,
    )?)
}

fn encode_matrix(
    raw_type: &RawType,
    rank: usize,
    max: &[usize],
    array: &Array,
    encoder: &mut Encoder<'_>,
) -> Result<(), Problem> {
    // An empty matrix may have no dimensions.
    let unsaid = array.is_empty() && array.dimensions.is_empty();
    let mut actual = [0_usize; MAX_RANK];
    let actual = match actual.get_mut(..rank) {
        Some(actual) if unsaid || array.dimensions.len() == rank => actual,
        _ => return Err(Problem::Invalid("not a matrix of the ValueRank")),
    };
    for (length, said) in actual.iter_mut().zip(&array.dimensions) {
        *length = *said as usize;
    }
    let product = actual
        .iter()
        .try_fold(1_usize, |product, length| product.checked_mul(*length));
    if product != Some(array.len()) {
        return Err(Problem::Invalid(
            "dimensions that do not match the number of elements",
        ));
    }
    if actual.iter().zip(max).any(|(length, max)| length > max) {
        return Err(TOO_LONG);
    }
    encoder.array_length(Some(rank))?;
    for length in actual.iter() {
        encoder.array_length(Some(*length))?;
    }
    let size = raw_type.fixed_size();
    let mut elements = array.elements.iter();
    cells(
        actual,
        if size.is_some() { max } else { &[] },
        |present| match present.then(|| elements.next()).flatten() {
            Some(element) => encode_one(raw_type, &element, encoder),
            None => Ok(zeros(size.unwrap_or(0), encoder)?),
        },
    )
}

fn encode_one(
    raw_type: &RawType,
    value: &Variant,
    encoder: &mut Encoder<'_>,
) -> Result<(), Problem> {
    let expected = raw_type.built_in_type();
    match (raw_type, value) {
        (RawType::Fixed(_), value)
            if !value.is_array() && value.built_in_type() == Some(expected) =>
        {
            Ok(value.encode_scalar(encoder)?)
        }
        (RawType::String(max), Variant::String(text)) => encode_text(text, *max, encoder),
        (RawType::ByteString(max), Variant::ByteString(bytes)) => {
            encode_bytes(bytes, *max, encoder)
        }
        (RawType::Structure(raw), Variant::ExtensionObject(object)) => {
            encode_structure(raw, object, encoder)
        }
        _ => Err(Problem::TypeMismatch(expected)),
    }
}

fn encode_text(text: &UaString, max: usize, encoder: &mut Encoder<'_>) -> Result<(), Problem> {
    let padding = text_padding(text.as_option().map(str::len), max)?;
    text.encode(encoder)?;
    Ok(zeros(padding, encoder)?)
}

fn encode_bytes(bytes: &ByteString, max: usize, encoder: &mut Encoder<'_>) -> Result<(), Problem> {
    let padding = text_padding(bytes.as_option().map(<[u8]>::len), max)?;
    bytes.encode(encoder)?;
    Ok(zeros(padding, encoder)?)
}

fn encode_structure(
    raw: &RawStructure,
    object: &ExtensionObject,
    encoder: &mut Encoder<'_>,
) -> Result<(), Problem> {
    match &object.body {
        ExtensionObjectBody::Binary(body) if object.type_id == raw.encoding_id => {
            let mut decoder = Decoder::new(body);
            structure(raw, &mut decoder, encoder, Direction::ToRaw)?;
            match decoder.remaining() {
                0 => Ok(()),
                _ => Err(Problem::Invalid("a structure that is longer than its type")),
            }
        }
        _ => Err(Problem::Invalid(
            "a structure of another type or encoding than the metadata names",
        )),
    }
}

/// Reads a field.
pub(crate) fn decode(field: &RawField, decoder: &mut Decoder<'_>) -> Result<Variant, Problem> {
    let raw_type = &field.raw_type;
    match &field.rank {
        Rank::Scalar => decode_one(raw_type, decoder),
        Rank::Array(max) => {
            let count = decoder.array_length(raw_type.min_size())?.unwrap_or(0);
            if *max > 0 && count > *max {
                return Err(TOO_LONG);
            }
            let elements = match raw_type {
                RawType::Fixed(built_in_type) => Elements::decode(*built_in_type, count, decoder)?,
                _ => {
                    let mut elements = Elements::empty(raw_type.built_in_type());
                    for _ in 0..count {
                        push(&mut elements, raw_type, decoder)?;
                    }
                    elements
                }
            };
            let missing = max.saturating_sub(count);
            decoder.bytes(missing.saturating_mul(raw_type.fixed_size().unwrap_or(0)))?;
            Ok(Array::new(elements).into())
        }
        Rank::Matrix { rank, max } => {
            let size = raw_type.fixed_size();
            let actual = lengths(*rank, max, raw_type.min_size(), decoder)?;
            let mut elements = Elements::empty(raw_type.built_in_type());
            cells(&actual, if size.is_some() { max } else { &[] }, |present| {
                if present {
                    return push(&mut elements, raw_type, decoder);
                }
                decoder.bytes(size.unwrap_or(0))?;
                Ok(())
            })?;
            // The lengths were read as Int32.
            let dimensions = actual.iter().map(|length| *length as u32).collect();
            Ok(Array {
                elements,
                dimensions,
            }
            .into())
        }
    }
}

fn push(
    elements: &mut Elements,
    raw_type: &RawType,
    decoder: &mut Decoder<'_>,
) -> Result<(), Problem> {
    elements
        .push(decode_one(raw_type, decoder)?)
        .map_err(|_| Problem::TypeMismatch(raw_type.built_in_type()))
}

fn decode_one(raw_type: &RawType, decoder: &mut Decoder<'_>) -> Result<Variant, Problem> {
    match raw_type {
        RawType::Fixed(built_in_type) => Ok(Variant::decode_scalar(*built_in_type, decoder)?),
        RawType::String(max) => {
            let start = decoder.position();
            let text = decoder.text()?;
            decoder.bytes(text_padding(encoded_length(start, decoder), *max)?)?;
            Ok(Variant::String(text.as_deref().into()))
        }
        RawType::ByteString(max) => {
            let bytes = decoder.byte_string()?;
            decoder.bytes(text_padding(bytes.map(<[u8]>::len), *max)?)?;
            Ok(Variant::ByteString(bytes.into()))
        }
        RawType::Structure(raw) => {
            let mut body = Vec::new();
            let mut encoder = Encoder::growing(&mut body, usize::MAX);
            structure(raw, decoder, &mut encoder, Direction::FromRaw)?;
            let object = ExtensionObject {
                type_id: raw.encoding_id.clone(),
                body: ExtensionObjectBody::Binary(body),
            };
            Ok(object.into())
        }
    }
}
