//! Fields of headers, each of which may be missing.

use serde_json::{Map, Value};
use takt_ua::json_encoding::{JsonContext, JsonDecoder, JsonEncoder, JsonEncoding};
use takt_ua::{BuiltInType, DateTime, Structure, UaString, Variant};

use super::{JsonMessageError, JsonMessageErrorKind};

/// Encoding of headers and discovery messages (OPC 10000-14, 7.2.5.3, 7.2.5.5).
pub(super) const ENCODING: JsonEncoding = JsonEncoding::Compact;

/// An object from which fields are read.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(value: &'a Value) -> Result<Self, JsonMessageError> {
        match value {
            Value::Object(object) => Ok(Self { object }),
            other => Err(JsonMessageError::expected("an object", other)),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// Reads a field of a built-in type.
    pub(super) fn optional<T: TryFrom<Variant>>(
        &self,
        name: &str,
        built_in_type: BuiltInType,
    ) -> Result<Option<T>, JsonMessageError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let expected = || JsonMessageError::expected(built_in_type.name(), value);
        JsonDecoder::new(JsonContext::default())
            .value(value, built_in_type)
            .map_err(JsonMessageError::from)
            .and_then(|value| T::try_from(value).map_err(|_| expected()))
            .map(Some)
            .map_err(|error| error.in_field(name))
    }

    /// Reads a text; a number is accepted as a text, because PublisherIds may be numbers.
    pub(super) fn text(&self, name: &str) -> Result<UaString, JsonMessageError> {
        match self.get(name) {
            None => Ok(UaString::null()),
            Some(Value::String(text)) => Ok(text.into()),
            Some(Value::Number(number)) if number.is_u64() => Ok(number.to_string().into()),
            Some(other) => Err(JsonMessageError::expected("a text", other).in_field(name)),
        }
    }

    /// Reads a DateTime; `DateTime::MIN` if it is missing.
    pub(super) fn time(&self, name: &str) -> Result<DateTime, JsonMessageError> {
        Ok(self
            .optional(name, BuiltInType::DateTime)?
            .unwrap_or_default())
    }

    /// Reads an optional DateTime; the null DateTime is equivalent to a missing one.
    pub(super) fn optional_time(&self, name: &str) -> Result<Option<DateTime>, JsonMessageError> {
        let time: Option<DateTime> = self.optional(name, BuiltInType::DateTime)?;
        Ok(time.filter(|time| !time.is_null()))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u32>, JsonMessageError> {
        self.optional(name, BuiltInType::UInt32)
    }

    /// Reads an optional structure.
    pub(super) fn structure<T: Structure>(
        &self,
        name: &str,
    ) -> Result<Option<T>, JsonMessageError> {
        let decoder = JsonDecoder::new(JsonContext::default());
        let value = self.get(name).map(|value| decoder.structure(value));
        let value = value.transpose().map_err(|error| error.in_field(name))?;
        Ok(value)
    }

    /// Reads a required structure.
    pub(super) fn required<T: Structure>(&self, name: &'static str) -> Result<T, JsonMessageError> {
        let missing = || JsonMessageError::new(JsonMessageErrorKind::MissingField(name));
        self.structure(name)?.ok_or_else(missing)
    }

    /// Reads an array of structures; empty if it is missing.
    pub(super) fn structures<T: Structure>(&self, name: &str) -> Result<Vec<T>, JsonMessageError> {
        let decoder = JsonDecoder::new(JsonContext::default());
        self.array(name)?
            .iter()
            .enumerate()
            .map(|(index, value)| {
                let error = |error: takt_ua::json_encoding::JsonDecodeError| {
                    JsonMessageError::from(error.in_element(index).in_field(name))
                };
                decoder.structure(value).map_err(error)
            })
            .collect()
    }

    /// Reads an array; empty if it is missing.
    pub(super) fn array(&self, name: &str) -> Result<&'a [Value], JsonMessageError> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(elements)) => Ok(elements),
            Some(other) => Err(JsonMessageError::expected("an array", other).in_field(name)),
        }
    }

    /// Reads an array of texts; empty if it is missing.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<UaString>, JsonMessageError> {
        let texts = self.array(name)?.iter().enumerate();
        let text = |(index, value): (usize, &Value)| match value {
            Value::Null => Ok(UaString::null()),
            Value::String(text) => Ok(UaString::from(text)),
            other => {
                let error = JsonMessageError::expected("a text", other);
                Err(error.in_element(index).in_field(name))
            }
        };
        texts.map(text).collect()
    }

    /// Reads a DataSetWriterId. It is a number; in version 1.04 it is a text, which is a name if it is not a number.
    pub(super) fn writer_id(&self) -> Result<(Option<u16>, UaString), JsonMessageError> {
        let name = self.text("DataSetWriterName")?;
        let id = self.optional("DataSetWriterId", BuiltInType::UInt16);
        match (id, self.get("DataSetWriterId")) {
            (Err(_), Some(Value::String(text))) if name.is_null() => Ok((None, text.into())),
            (id, _) => Ok((id?, name)),
        }
    }
}

/// An object to which fields are written; fields with default values are left out.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) object: Map<String, Value>,
}

impl Writer {
    pub(super) fn encoder() -> JsonEncoder<'static> {
        JsonEncoder::new(ENCODING, JsonContext::default())
    }

    pub(super) fn insert(&mut self, name: &str, value: impl Into<Value>) {
        self.object.insert(name.into(), value.into());
    }

    pub(super) fn optional(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.insert(name, value);
        }
    }

    pub(super) fn text(&mut self, name: &str, text: &UaString) {
        self.optional(name, text.as_option());
    }

    pub(super) fn time(&mut self, name: &str, time: DateTime) {
        self.insert(name, Self::encoder().value(&time.into()));
    }

    pub(super) fn structure<T: Structure>(&mut self, name: &str, structure: &T) {
        self.insert(name, Self::encoder().structure(structure));
    }

    pub(super) fn structures<T: Structure>(&mut self, name: &str, structures: &[T]) {
        let encoder = Self::encoder();
        let elements = structures.iter().map(|element| encoder.structure(element));
        self.insert(name, elements.collect::<Value>());
    }
}
