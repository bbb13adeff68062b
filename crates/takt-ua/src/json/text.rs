//! Values in the form of command-line arguments.

use serde_json::Value;

use super::read::{Expected, Reader, from_value};
use super::{JsonError, VALUE_RANK_ANY, VALUE_RANK_SCALAR};
use crate::{BuiltInType, DateTime, DescribedTypes, NodeId, Variant};

/// Reads a value, or an array of them, from a text; see [`parse_variant_of_rank`].
///
/// ```
/// use takt_ua::json::parse_variant;
/// use takt_ua::{BuiltInType, Variant};
///
/// assert_eq!(parse_variant("3.5", BuiltInType::Double), Ok(Variant::Double(3.5)));
/// assert_eq!(parse_variant("[1, 2]", BuiltInType::Byte), Ok(vec![1_u8, 2].into()));
/// let error = parse_variant("300", BuiltInType::Byte).unwrap_err();
/// assert_eq!(error.to_string(), "expected a whole number from 0 to 255 (Byte), found \"300\"");
/// ```
pub fn parse_variant(text: &str, built_in_type: BuiltInType) -> Result<Variant, JsonError> {
    parse_variant_of_rank(text, built_in_type, VALUE_RANK_ANY)
}

/// Reads a value from a command-line text, in a shape that a ValueRank allows (see
/// [`from_value`](super::from_value)).
///
/// Arrays and structures are JSON. All other types have their text form without quotes: `true`, `0x1F`, `3.5`,
/// `ns=2;s=Speed`, `BadTimeout`, `2024-05-06T07:08:09Z` or `now`. A String is taken as it is; if an array of Strings
/// is allowed too, a text that is a JSON array is read as an array.
pub fn parse_variant_of_rank(
    text: &str,
    built_in_type: BuiltInType,
    value_rank: i32,
) -> Result<Variant, JsonError> {
    let value = json(text, built_in_type, value_rank)?;
    from_value(&value, built_in_type, value_rank)
}

/// Reads a value of a DataType from a command-line text, as [`parse_variant_of_rank`] does.
///
/// # Errors
/// As [`described_from_value`](super::described_from_value).
pub fn parse_described(
    text: &str,
    types: &DescribedTypes,
    data_type: &NodeId,
    value_rank: i32,
) -> Result<Variant, JsonError> {
    let expected = Expected::of(types, data_type)?;
    let value = match expected {
        Expected::BuiltIn(built_in_type) => json(text, built_in_type, value_rank)?,
        // A name needs no quotation marks.
        Expected::Enumeration(_) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.trim()))
        }
        Expected::Structure(_) => serde_json::from_str(text)
            .map_err(|error| JsonError::new(format!("a structure is written as JSON: {error}")))?,
    };
    Reader::new(types).of_rank(&value, expected, value_rank, 0)
}

/// Returns the text as the JSON of a value of a type.
fn json(text: &str, built_in_type: BuiltInType, value_rank: i32) -> Result<Value, JsonError> {
    let trimmed = text.trim();
    if value_rank != VALUE_RANK_SCALAR && trimmed.starts_with('[') {
        match serde_json::from_str::<Value>(trimmed) {
            Ok(value) => return Ok(value),
            // A String may begin with a bracket; for other types a bracket always begins an array.
            Err(error) if value_rank >= 0 || !is_text(built_in_type) => {
                return Err(JsonError::new(format!(
                    "'{trimmed}' is not a JSON array: {error}"
                )));
            }
            Err(_) => {}
        }
    }
    scalar(text, trimmed, built_in_type)
}

fn is_text(built_in_type: BuiltInType) -> bool {
    use BuiltInType as B;
    matches!(
        built_in_type,
        B::String | B::XmlElement | B::LocalizedText | B::QualifiedName | B::Variant
    )
}

/// Returns the text as the JSON that [`from_value`] expects.
fn scalar(text: &str, trimmed: &str, built_in_type: BuiltInType) -> Result<Value, JsonError> {
    use BuiltInType as B;
    let json = || serde_json::from_str::<Value>(trimmed);
    match built_in_type {
        B::Boolean => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true.into()),
            "false" | "0" => Ok(false.into()),
            _ => Err(JsonError::expected("true or false", &trimmed.into())),
        },
        B::DateTime if trimmed == "now" => Ok(DateTime::now().to_string().into()),
        B::String | B::XmlElement => Ok(text.into()),
        B::LocalizedText if trimmed.starts_with('{') => Ok(json().unwrap_or_else(|_| text.into())),
        B::LocalizedText => Ok(text.into()),
        B::Variant => Ok(json().unwrap_or_else(|_| text.into())),
        B::ExtensionObject | B::DataValue | B::DiagnosticInfo => json().map_err(|error| {
            JsonError::new(format!("{built_in_type} is written as JSON: {error}"))
        }),
        _ => Ok(trimmed.into()),
    }
}
