//! Longest values of fields, for the lengths of messages before there are any.

use takt_ua::structures::FieldMetaData;
use takt_ua::{Array, BuiltInType, Elements, Variant};

/// Greatest length of a value that is made; more do not fit any message.
const LONGEST_VALUE: usize = 4 << 20;

/// Returns the greatest length of a field's value in bytes, about: without lengths of texts and arrays, and without types. Texts of
/// any length, and arrays of any length, have none.
pub fn longest_length(field: &FieldMetaData) -> usize {
    let built_in = BuiltInType::from_u8(field.built_in_type);
    let length = match built_in.and_then(BuiltInType::encoded_size) {
        Some(size) => size,
        None => field.max_string_length as usize,
    };
    match field.value_rank {
        ..1 => length,
        _ if field.array_dimensions.is_empty() => 0,
        _ => (field.array_dimensions.iter())
            .fold(length, |product, one| product.saturating_mul(*one as usize)),
    }
}

/// Returns the longest value that the metadata of a field allows, of at most 4 MiB. Texts of any length, and arrays of any length,
/// are empty. `None` if elements of the type have no array.
pub fn longest_value(field: &FieldMetaData) -> Option<Variant> {
    let built_in = BuiltInType::from_u8(field.built_in_type)?;
    let length = (field.max_string_length as usize).min(LONGEST_VALUE);
    let scalar = match built_in {
        BuiltInType::String => Variant::String("x".repeat(length).into()),
        BuiltInType::ByteString => Variant::ByteString(vec![0; length].into()),
        other => Variant::default_of(other),
    };
    if field.value_rank < 1 {
        return Some(scalar);
    }
    let dimensions = &field.array_dimensions;
    let count = dimensions.iter().try_fold(1_usize, |product, length| {
        product.checked_mul(*length as usize)
    });
    let count = count.filter(|_| !dimensions.is_empty()).unwrap_or(0);
    let count = count.min(LONGEST_VALUE / (length + 1));
    let mut elements = Elements::empty(built_in);
    for _ in 0..count {
        elements.push(scalar.clone()).ok()?;
    }
    let array = match dimensions.len() {
        0 | 1 => Array::new(elements),
        _ => Array::matrix(elements, dimensions).ok()?,
    };
    Some(array.into())
}
