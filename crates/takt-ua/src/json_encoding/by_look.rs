//! Decoding of values without a type by their form.

use serde_json::{Map, Value};

use super::decoder::{is_matrix, matrix};
use super::{JsonDecodeError, JsonDecoder};
use crate::json_types::{common_type, number_type};
use crate::{BuiltInType, Variant};

impl JsonDecoder<'_> {
    /// Decodes the value as the type that fits its form.
    pub(super) fn by_look(&self, value: &Value, depth: usize) -> Result<Variant, JsonDecodeError> {
        match value {
            Value::Null => Ok(Variant::Empty),
            Value::Bool(value) => Ok((*value).into()),
            Value::Number(number) => self.scalar(value, number_type(number), depth),
            Value::String(text) => Ok(text.as_str().into()),
            Value::Array(elements) => self.untyped(value, common_type(elements), depth),
            Value::Object(object) => self.object_by_look(object, value, depth),
        }
    }

    fn object_by_look(
        &self,
        object: &Map<String, Value>,
        whole: &Value,
        depth: usize,
    ) -> Result<Variant, JsonDecodeError> {
        let only = |names: [&str; 2]| object.keys().all(|name| names.contains(&name.as_str()));
        if object.is_empty() {
            return Ok(Variant::Empty);
        }
        if is_matrix(object) {
            let elements = object.get("Array").or_else(|| object.get("Value"));
            let elements = elements.unwrap_or(&Value::Null);
            let dimensions = object.get("Dimensions").unwrap_or(&Value::Null);
            return match self.by_look(elements, depth + 1)? {
                Variant::Array(array) => matrix(array.elements, dimensions).map(Variant::from),
                other => Ok(other),
            };
        }
        let is_text = |name: &str| object.get(name).is_none_or(Value::is_string);
        let built_in_type = if only(["Locale", "Text"]) && is_text("Locale") && is_text("Text") {
            BuiltInType::LocalizedText
        } else if only(["Code", "Symbol"]) && object.get("Code").is_some_and(Value::is_u64) {
            BuiltInType::StatusCode
        } else {
            BuiltInType::ExtensionObject
        };
        self.scalar(whole, built_in_type, depth + 1)
    }
}
