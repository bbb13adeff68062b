//! Conversion of JSON to single values of a known type.

use serde_json::{Map, Value};

use super::read::{of_type_name, variant};
use super::{JsonError, structure};
use crate::json_nesting::{MAX_DEPTH, NestingError};
use crate::{
    BuiltInType, ByteString, DataValue, DiagnosticInfo, LocalizedText, QualifiedName, StatusCode,
    UaString, Variant, XmlElement, base64, json_number,
};

/// Reads a value of a known type. A single Variant is read by [`variant`].
pub(super) fn scalar(
    value: &Value,
    built_in_type: BuiltInType,
    depth: usize,
) -> Result<Variant, JsonError> {
    use BuiltInType as B;
    if depth >= MAX_DEPTH {
        return Err(JsonError::too_deep());
    }
    match built_in_type {
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
        B::ExtensionObject => {
            structure::extension_object_from_value(value, depth + 1).map(Variant::from)
        }
        B::DataValue => data_value(value, depth + 1).map(Variant::from),
        B::DiagnosticInfo => diagnostic_info(value, depth + 1).map(Variant::from),
        B::Variant => variant(value, depth + 1),
    }
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

fn check_keys(object: &Map<String, Value>, known: &[&str]) -> Result<(), JsonError> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(JsonError::new(format!(
            "unknown key '{key}'; expected {}",
            known.join(", ")
        ))),
    }
}

/// Reads an optional field of an object that has a type of its own.
fn field<T: TryFrom<Variant>>(
    object: &Map<String, Value>,
    name: &str,
    built_in_type: BuiltInType,
    depth: usize,
) -> Result<Option<T>, JsonError> {
    let Some(value) = object.get(name) else {
        return Ok(None);
    };
    let value = scalar(value, built_in_type, depth).map_err(|error| error.in_field(name))?;
    Ok(T::try_from(value).ok())
}

fn data_value(value: &Value, depth: usize) -> Result<DataValue, JsonError> {
    const KEYS: [&str; 7] = [
        "value",
        "type",
        "status",
        "sourceTimestamp",
        "sourcePicoseconds",
        "serverTimestamp",
        "serverPicoseconds",
    ];
    let Value::Object(object) = value else {
        return Err(JsonError::expected(
            "an object with value, type, status and timestamps",
            value,
        ));
    };
    check_keys(object, &KEYS)?;
    let value = match (object.get("value"), object.get("type")) {
        (None, _) => None,
        (Some(value), None) => {
            Some(variant(value, depth).map_err(|error| error.in_field("value"))?)
        }
        (Some(value), Some(Value::String(name))) => Some(of_type_name(name, value, depth)?),
        (Some(_), Some(other)) => {
            return Err(JsonError::expected("the name of a type", other).in_field("type"));
        }
    };
    Ok(DataValue {
        value,
        status: field(object, "status", BuiltInType::StatusCode, depth)?,
        source_timestamp: field(object, "sourceTimestamp", BuiltInType::DateTime, depth)?,
        source_picoseconds: field(object, "sourcePicoseconds", BuiltInType::UInt16, depth)?,
        server_timestamp: field(object, "serverTimestamp", BuiltInType::DateTime, depth)?,
        server_picoseconds: field(object, "serverPicoseconds", BuiltInType::UInt16, depth)?,
    })
}

fn diagnostic_info(value: &Value, depth: usize) -> Result<DiagnosticInfo, JsonError> {
    const KEYS: [&str; 7] = [
        "SymbolicId",
        "NamespaceUri",
        "Locale",
        "LocalizedText",
        "AdditionalInfo",
        "InnerStatusCode",
        "InnerDiagnosticInfo",
    ];
    let Value::Object(object) = value else {
        return Err(JsonError::expected(
            "an object such as {\"SymbolicId\": 1}",
            value,
        ));
    };
    check_keys(object, &KEYS)?;
    let inner: Option<DiagnosticInfo> = field(
        object,
        "InnerDiagnosticInfo",
        BuiltInType::DiagnosticInfo,
        depth,
    )?;
    Ok(DiagnosticInfo {
        symbolic_id: field(object, "SymbolicId", BuiltInType::Int32, depth)?,
        namespace_uri: field(object, "NamespaceUri", BuiltInType::Int32, depth)?,
        locale: field(object, "Locale", BuiltInType::Int32, depth)?,
        localized_text: field(object, "LocalizedText", BuiltInType::Int32, depth)?,
        additional_info: field(object, "AdditionalInfo", BuiltInType::String, depth)?,
        inner_status_code: field(object, "InnerStatusCode", BuiltInType::StatusCode, depth)?,
        inner_diagnostic_info: inner.map(Box::new),
    })
}
