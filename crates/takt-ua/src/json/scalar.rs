//! Conversion of JSON to values that contain no other values.

use serde_json::{Map, Value};

use super::JsonError;
use crate::generated_support::EnumerationDescription;
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

/// Reads a value of an enumeration, as its name or number.
pub(super) fn enumeration(type_id: u32, value: Option<&Value>) -> Result<i32, JsonError> {
    let Some(value) = value else { return Ok(0) };
    let description = EnumerationDescription::of_type(type_id);
    let found = match value {
        Value::String(name) => description.and_then(|known| known.value_of(name)),
        value => value.as_i64().and_then(|number| i32::try_from(number).ok()),
    };
    found.ok_or_else(|| {
        let names = description
            .map_or(&[][..], |known| known.values)
            .iter()
            .map(|(_, name)| *name);
        let names: Vec<_> = names.collect();
        JsonError::expected(&format!("a number or one of {}", names.join(", ")), value)
    })
}
