//! Conversion of JSON to values that contain no other values.

use serde_json::{Map, Value};

use super::JsonError;
use crate::data_types::EnumerationShape;
use crate::{
    BuiltInType, ByteString, LocalizedText, QualifiedName, StatusCode, UaString, Variant,
    XmlElement, base64, json_number,
};

/// Reads a value of a type that contains no other values; `None` if values of this type contain others.
pub(super) fn read(
    value: &Value,
    built_in_type: BuiltInType,
) -> Option<Result<Variant, JsonError>> {
    use BuiltInType as B;
    Some(match built_in_type {
        B::Boolean => value
            .as_bool()
            .map(Variant::from)
            .ok_or_else(|| JsonError::expected("true or false", value)),
        B::SByte => integer(value, built_in_type, i8::MIN, i8::MAX),
        B::Byte => integer(value, built_in_type, u8::MIN, u8::MAX),
        B::Int16 => integer(value, built_in_type, i16::MIN, i16::MAX),
        B::UInt16 => integer(value, built_in_type, u16::MIN, u16::MAX),
        B::Int32 => integer(value, built_in_type, i32::MIN, i32::MAX),
        B::UInt32 => integer(value, built_in_type, u32::MIN, u32::MAX),
        B::Int64 => integer(value, built_in_type, i64::MIN, i64::MAX),
        B::UInt64 => integer(value, built_in_type, u64::MIN, u64::MAX),
        B::Float => single(value),
        B::Double => number(value).map(Variant::from),
        B::String => {
            nullable(value, |text| Some(UaString::from(text)), "a text").map(Variant::from)
        }
        B::XmlElement => {
            nullable(value, |text| Some(XmlElement::from(text)), "XML as a text").map(Variant::from)
        }
        B::ByteString => nullable(
            value,
            |text| base64::decode(text).map(ByteString::from),
            "base64",
        )
        .map(Variant::from),
        B::DateTime => {
            parsed::<crate::DateTime>(value, "a date and time such as 2024-05-06T07:08:09Z")
        }
        B::Guid => {
            parsed::<crate::Guid>(value, "a Guid such as 72962b91-fa75-4ae6-8d28-b404dc7daf63")
        }
        B::NodeId => parsed::<crate::NodeId>(value, "a NodeId such as i=2258 or ns=2;s=Speed"),
        B::ExpandedNodeId => {
            parsed::<crate::ExpandedNodeId>(value, "a NodeId such as nsu=http://example.org/;i=7")
        }
        B::StatusCode => status_code(value).map(Variant::from),
        B::QualifiedName if value.is_null() => Ok(QualifiedName::NULL.into()),
        B::QualifiedName => parsed::<QualifiedName>(value, "a QualifiedName such as 2:Speed"),
        B::LocalizedText => localized_text(value).map(Variant::from),
        B::ExtensionObject | B::DataValue | B::DiagnosticInfo | B::Variant => return None,
    })
}

/// Reads a whole number as a JSON number or, because many tools do not support 64 bits, as a text.
fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => json_number::whole(number),
        Value::String(text) => {
            let (negative, digits) = match text.strip_prefix('-') {
                Some(digits) => (true, digits),
                None => (false, text.as_str()),
            };
            // Underscores may group the digits, as in source code.
            let digits = digits.replace('_', "");
            let magnitude = match digits.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok()?,
                None => digits.parse().ok()?,
            };
            Some(if negative {
                -i128::from(magnitude)
            } else {
                magnitude.into()
            })
        }
        _ => None,
    }
}

fn integer<T>(
    value: &Value,
    built_in_type: BuiltInType,
    min: T,
    max: T,
) -> Result<Variant, JsonError>
where
    T: TryFrom<i128> + std::fmt::Display + Into<Variant>,
{
    whole(value)
        .and_then(|number| T::try_from(number).ok())
        .map(T::into)
        .ok_or_else(|| {
            JsonError::expected(
                &format!("a whole number from {min} to {max} ({built_in_type})"),
                value,
            )
        })
}

fn number(value: &Value) -> Result<f64, JsonError> {
    json_number::number(value)
        .ok_or_else(|| JsonError::expected("a number, NaN, Infinity or -Infinity", value))
}

fn single(value: &Value) -> Result<Variant, JsonError> {
    json_number::rounded(number(value)?)
        .map(Variant::from)
        .ok_or_else(|| JsonError::expected("a number within ±3.4028235e38 (Float)", value))
}

fn nullable<T: Default>(
    value: &Value,
    convert: impl Fn(&str) -> Option<T>,
    what: &str,
) -> Result<T, JsonError> {
    match value {
        Value::Null => Ok(T::default()),
        Value::String(text) => convert(text).ok_or_else(|| JsonError::expected(what, value)),
        _ => Err(JsonError::expected(what, value)),
    }
}

fn parsed<T: std::str::FromStr + Into<Variant>>(
    value: &Value,
    what: &str,
) -> Result<Variant, JsonError> {
    let parsed = value.as_str().and_then(|text| text.parse::<T>().ok());
    parsed
        .map(T::into)
        .ok_or_else(|| JsonError::expected(what, value))
}

fn status_code(value: &Value) -> Result<StatusCode, JsonError> {
    let code = value.as_str().and_then(StatusCode::from_name).or_else(|| {
        whole(value)
            .and_then(|code| u32::try_from(code).ok())
            .map(StatusCode)
    });
    code.ok_or_else(|| JsonError::expected("a StatusCode such as BadTimeout or 0x800A0000", value))
}

fn localized_text(value: &Value) -> Result<LocalizedText, JsonError> {
    let text = |value: &Value| nullable(value, |text| Some(UaString::from(text)), "a text");
    match value {
        Value::Object(object) => {
            check_keys(object, &["locale", "text"])?;
            let field = |name: &str| {
                object
                    .get(name)
                    .map(text)
                    .transpose()
                    .map(Option::unwrap_or_default)
                    .map_err(|e| e.in_field(name))
            };
            Ok(LocalizedText {
                locale: field("locale")?,
                text: field("text")?,
            })
        }
        other => Ok(LocalizedText {
            locale: UaString::null(),
            text: text(other)?,
        }),
    }
}

/// Checks that an object has no other keys.
pub(super) fn check_keys(object: &Map<String, Value>, known: &[&str]) -> Result<(), JsonError> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(JsonError::new(format!(
            "unknown key '{key}'; expected {}",
            known.join(", ")
        ))),
    }
}

/// Reads a value of an enumeration: its number, its name, or both (`Green_1`, `Green (1)`). An OptionSet is a number, or the names
/// of its bits (`Open | Locked`).
pub(super) fn enumeration(
    shape: EnumerationShape<'_>,
    value: &Value,
) -> Result<Variant, JsonError> {
    let Value::String(text) = value else {
        let number = read(value, shape.built_in_type()).and_then(Result::ok);
        return number.ok_or_else(|| no_name(shape, value));
    };
    let text = text.trim();
    let (names, number) = numbered(text);
    let named = match shape.is_option_set() {
        true => bits(shape, names.unwrap_or(text)).map(i128::from),
        // The whole text first: a name may itself end like `_1`.
        false => shape
            .value_of(text)
            .or_else(|| shape.value_of(names?))
            .map(i128::from),
    };
    let number = number.and_then(|number| number.parse::<i128>().ok());
    let found = match (named, number) {
        // The number is not that of the name.
        (Some(named), Some(number)) if named != number && shape.value_of(text).is_none() => None,
        (named, number) => named.or(number),
    };
    let found = found.and_then(|number| match shape.is_option_set() {
        true => u64::try_from(number).ok().map(Value::from),
        false => i64::try_from(number).ok().map(Value::from),
    });
    let number = found.and_then(|number| read(&number, shape.built_in_type())?.ok());
    number.ok_or_else(|| no_name(shape, value))
}

/// Divides `Green_1`, `Green (1)` and `1` into name and number.
fn numbered(text: &str) -> (Option<&str>, Option<&str>) {
    if text.parse::<i128>().is_ok() {
        return (None, Some(text));
    }
    let in_brackets = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once('('));
    let divided = in_brackets.or_else(|| text.rsplit_once('_'));
    match divided {
        Some((name, number)) if number.parse::<i128>().is_ok() => {
            (Some(name.trim_end()), Some(number))
        }
        _ => (None, None),
    }
}

/// Returns the number with these bits; `None` if one has no name.
fn bits(shape: EnumerationShape<'_>, names: &str) -> Option<u64> {
    names.split('|').try_fold(0_u64, |bits, name| {
        let name = name.trim();
        let number = name.strip_prefix("bit ").and_then(|bit| bit.parse().ok());
        let bit = shape.value_of(name).or(number)?;
        Some(bits | 1_u64.checked_shl(u32::try_from(bit).ok()?)?)
    })
}

fn no_name(shape: EnumerationShape<'_>, value: &Value) -> JsonError {
    let mut names: Vec<&str> = shape.names().take(SHOWN + 1).collect();
    if names.len() > SHOWN {
        names.truncate(SHOWN);
        names.push("…");
    }
    let expected = format!("a number or one of {} ({})", names.join(", "), shape.name());
    JsonError::expected(&expected, value)
}

/// Largest number of names that an error shows.
const SHOWN: usize = 30;
