//! Conversion of JSON to single values of a known type (OPC 10000-6, 5.4.2 and Annex H).

use serde_json::{Map, Value};

use super::integer::integer;
use super::{JsonDecodeError, JsonDecodeErrorKind, JsonDecoder};
use crate::json_nesting::MAX_DEPTH;
use crate::{
    BuiltInType, ByteString, DateTime, DiagnosticInfo, Guid, LocalizedText, StatusCode, UaString,
    Variant, XmlElement, base64, json_number,
};

impl JsonDecoder<'_> {
    /// Decodes a single value. Null stands for the null value of types that have one, and for Good.
    pub(super) fn scalar(
        &self,
        value: &Value,
        built_in_type: BuiltInType,
        depth: usize,
    ) -> Result<Variant, JsonDecodeError> {
        use BuiltInType as B;
        if depth >= MAX_DEPTH {
            return Err(JsonDecodeError::new(JsonDecodeErrorKind::TooDeep));
        }
        if value.is_null() && (!built_in_type.is_numeric() && built_in_type != B::Boolean) {
            return Ok(Variant::default_of(built_in_type));
        }
        let expected =
            |what: &str| JsonDecodeError::expected(format!("{what} ({built_in_type})"), value);
        let text = || value.as_str().ok_or_else(|| expected("a text"));
        match built_in_type {
            B::Boolean => value
                .as_bool()
                .map(Variant::from)
                .ok_or_else(|| expected("true or false")),
            B::SByte => whole::<i8>(value, built_in_type),
            B::Byte => whole::<u8>(value, built_in_type),
            B::Int16 => whole::<i16>(value, built_in_type),
            B::UInt16 => whole::<u16>(value, built_in_type),
            B::Int32 => whole::<i32>(value, built_in_type),
            B::UInt32 => whole::<u32>(value, built_in_type),
            B::Int64 => whole::<i64>(value, built_in_type),
            B::UInt64 => whole::<u64>(value, built_in_type),
            B::Float => single(value),
            B::Double => number(value).map(Variant::from),
            B::String => Ok(text()?.into()),
            B::XmlElement => Ok(XmlElement::from(text()?).into()),
            B::ByteString => base64::decode(text()?)
                .map(|bytes| ByteString::from(bytes).into())
                .ok_or_else(|| expected("base64")),
            B::DateTime => date_time(text()?)
                .map(Variant::from)
                .ok_or_else(|| expected("a date and time such as 2024-05-06T07:08:09Z")),
            B::Guid => text()?
                .parse::<Guid>()
                .map(Variant::from)
                .map_err(|_| expected("a Guid such as 72962b91-fa75-4ae6-8d28-b404dc7daf63")),
            B::NodeId => self.node_id(value).map(Variant::from),
            B::ExpandedNodeId => self.expanded_node_id(value).map(Variant::from),
            B::StatusCode => status_code(value).map(Variant::from),
            B::QualifiedName => self.qualified_name(value).map(Variant::from),
            B::LocalizedText => localized_text(value).map(Variant::from),
            B::ExtensionObject => self.extension_object(value, depth + 1).map(Variant::from),
            B::DataValue => self.timed(value, depth + 1).map(Variant::from),
            B::DiagnosticInfo => self.diagnostic_info(value, depth + 1).map(Variant::from),
            B::Variant => self.typed(value, depth + 1),
        }
    }

    fn diagnostic_info(
        &self,
        value: &Value,
        depth: usize,
    ) -> Result<DiagnosticInfo, JsonDecodeError> {
        use BuiltInType as B;
        if depth >= MAX_DEPTH {
            return Err(JsonDecodeError::new(JsonDecodeErrorKind::TooDeep));
        }
        let object = match value {
            Value::Null => return Ok(DiagnosticInfo::default()),
            Value::Object(object) => object,
            other => {
                return Err(JsonDecodeError::expected(
                    "an object: a DiagnosticInfo",
                    other,
                ));
            }
        };
        let inner = object
            .get("InnerDiagnosticInfo")
            .filter(|inner| !inner.is_null());
        let inner = inner
            .map(|inner| self.diagnostic_info(inner, depth + 1).map(Box::new))
            .transpose()
            .map_err(|error| error.in_field("InnerDiagnosticInfo"))?;
        // A null text is a text; only a missing field stands for no text.
        let information = object
            .contains_key("AdditionalInfo")
            .then(|| self.field(object, &["AdditionalInfo"], B::String))
            .transpose()?;
        Ok(DiagnosticInfo {
            symbolic_id: self.field(object, &["SymbolicId"], B::Int32)?,
            namespace_uri: self.field(object, &["NamespaceUri"], B::Int32)?,
            locale: self.field(object, &["Locale"], B::Int32)?,
            localized_text: self.field(object, &["LocalizedText"], B::Int32)?,
            additional_info: information.map(Option::unwrap_or_default),
            inner_status_code: self.field(object, &["InnerStatusCode"], B::StatusCode)?,
            inner_diagnostic_info: inner,
        })
    }
}

fn whole<T: TryFrom<i128> + Into<Variant>>(
    value: &Value,
    built_in_type: BuiltInType,
) -> Result<Variant, JsonDecodeError> {
    integer::<T>(value).map(T::into).ok_or_else(|| {
        JsonDecodeError::expected(
            format!("a whole number in the range of {built_in_type}"),
            value,
        )
    })
}

fn number(value: &Value) -> Result<f64, JsonDecodeError> {
    let number = match value {
        // JavaScript's form of NaN and the infinities.
        Value::Null => Some(f64::NAN),
        Value::String(text) if text == "INF" => Some(f64::INFINITY),
        Value::String(text) if text == "-INF" => Some(f64::NEG_INFINITY),
        value => json_number::number(value),
    };
    number.ok_or_else(|| JsonDecodeError::expected("a number, NaN, Infinity or -Infinity", value))
}

fn single(value: &Value) -> Result<Variant, JsonDecodeError> {
    json_number::rounded(number(value)?)
        .map(Variant::from)
        .ok_or_else(|| JsonDecodeError::expected("a number in the range of Float", value))
}

/// Decodes a DateTime. Years outside of its range become its first or last moment
/// (OPC 10000-6, 5.4.2.6).
fn date_time(text: &str) -> Option<DateTime> {
    // No other text of a DateTime begins with a year.
    let has_year = text.starts_with(|first: char| first.is_ascii_digit());
    has_year.then(|| text.parse().ok()).flatten()
}

/// Decodes a number, an object with Code and Symbol, or the name alone, which some senders write.
fn status_code(value: &Value) -> Result<StatusCode, JsonDecodeError> {
    let code = match value {
        Value::Object(object) => match (object.get("Code"), object.get("Symbol")) {
            (Some(code), _) => integer(code),
            (None, Some(Value::String(name))) => named(name),
            (None, None) if object.is_empty() => Some(0),
            _ => None,
        },
        Value::String(name) => named(name),
        other => integer(other),
    };
    code.map(StatusCode)
        .ok_or_else(|| JsonDecodeError::expected("a StatusCode", value))
}

fn named(name: &str) -> Option<u32> {
    StatusCode::from_name(name).map(|code| code.0)
}

/// Decodes an object, or the text alone, which is the non-reversible form of version 1.04.
fn localized_text(value: &Value) -> Result<LocalizedText, JsonDecodeError> {
    let text = |object: &Map<String, Value>, name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(UaString::null()),
        Some(Value::String(text)) => Ok(text.into()),
        Some(other) => Err(JsonDecodeError::expected("a text", other).in_field(name)),
    };
    match value {
        Value::String(text) => Ok(text.as_str().into()),
        Value::Object(object) => Ok(LocalizedText {
            locale: text(object, "Locale")?,
            text: text(object, "Text")?,
        }),
        other => Err(JsonDecodeError::expected(
            "an object with Locale and Text (LocalizedText)",
            other,
        )),
    }
}
