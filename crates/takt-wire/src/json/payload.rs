//! The Payload of DataSetMessages: fields by their names.

use std::collections::HashMap;

use serde_json::{Map, Value};
use takt_ua::json_encoding::{JsonContext, JsonDecodeError, JsonDecoder};
use takt_ua::structures::{DataSetMetaDataType, FieldMetaData};
use takt_ua::{BuiltInType, DataValue, Elements, StatusCode, Variant};

use super::{JsonField, JsonFieldEncoding, JsonMessageError};

/// Fields as JSON (OPC 10000-14, 7.2.5.4). [`fields`](Self::fields) reads them, with the metadata if available.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonPayload {
    object: Map<String, Value>,
}

impl JsonPayload {
    /// Creates a payload of fields. Without metadata all fields except RawData contain their types. Of two fields
    /// with one name, the last one is written.
    pub fn new(
        fields: &[JsonField],
        encoding: JsonFieldEncoding,
        meta_data: Option<&DataSetMetaDataType>,
    ) -> Self {
        let context = meta_data.map(JsonContext::from).unwrap_or_default();
        let field = |field: &JsonField| {
            let value = encoding.encode(&field.value, described(meta_data, &field.name), context);
            (field.name.clone(), value)
        };
        Self {
            object: fields.iter().map(field).collect(),
        }
    }

    pub(super) fn from_object(object: Map<String, Value>) -> Self {
        Self { object }
    }

    /// Returns the names and values as JSON, in the order of the message.
    pub fn as_object(&self) -> &Map<String, Value> {
        &self.object
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.object.len()
    }

    /// Returns whether there are no fields: a heartbeat.
    pub fn is_empty(&self) -> bool {
        self.object.is_empty()
    }

    /// Reads the fields, in the order of the message, each with its name. An error of one field is the error of that field alone.
    ///
    /// Types of fields without a type come from the metadata. Fields that it does not describe are read by their
    /// form: Boolean, Int64, Double, String and so on; see [`JsonDecoder::variant`]. Errors name the field.
    pub fn read<'p>(
        &'p self,
        meta_data: Option<&'p DataSetMetaDataType>,
    ) -> impl Iterator<Item = (&'p str, Result<DataValue, JsonMessageError>)> {
        let decoder = decoder(meta_data);
        let described = meta_data.map_or(&[][..], |meta_data| &meta_data.fields);
        // Of two descriptions with the same name, the first one applies.
        let described: HashMap<&str, &FieldMetaData> = described
            .iter()
            .rev()
            .map(|field| (field.name.as_str(), field))
            .collect();
        self.object.iter().map(move |(name, value)| {
            let reader = Reader {
                decoder: &decoder,
                meta_data: described.get(name.as_str()).copied(),
            };
            let value = reader.field(value);
            (
                name.as_str(),
                value.map_err(|error| JsonMessageError::from(error).in_field(name)),
            )
        })
    }

    /// Reads the fields as [`read`](Self::read) does.
    ///
    /// # Errors
    /// A field cannot be decoded.
    pub fn fields(
        &self,
        meta_data: Option<&DataSetMetaDataType>,
    ) -> Result<Vec<JsonField>, JsonMessageError> {
        let fields = self.read(meta_data).map(|(name, value)| {
            Ok(JsonField {
                name: name.to_owned(),
                value: value?,
            })
        });
        fields.collect()
    }

    /// Reads one field; `None` if it is missing.
    pub fn field(
        &self,
        name: &str,
        meta_data: Option<&DataSetMetaDataType>,
    ) -> Result<Option<DataValue>, JsonMessageError> {
        let Some(value) = self.object.get(name) else {
            return Ok(None);
        };
        let reader = Reader {
            decoder: &decoder(meta_data),
            meta_data: described(meta_data, name),
        };
        let value = reader.field(value).map_err(|error| error.in_field(name))?;
        Ok(Some(value))
    }
}

fn decoder(meta_data: Option<&DataSetMetaDataType>) -> JsonDecoder<'_> {
    JsonDecoder::new(meta_data.map(JsonContext::from).unwrap_or_default())
}

fn described<'m>(
    meta_data: Option<&'m DataSetMetaDataType>,
    name: &str,
) -> Option<&'m FieldMetaData> {
    meta_data?.fields.iter().find(|field| field.name == name)
}

/// Reads one field.
struct Reader<'m> {
    decoder: &'m JsonDecoder<'m>,
    meta_data: Option<&'m FieldMetaData>,
}

impl Reader<'_> {
    /// Returns the type of the metadata, if it has one.
    fn built_in_type(&self) -> Option<BuiltInType> {
        let built_in_type = BuiltInType::from_u8(self.meta_data?.built_in_type)?;
        // Fields of Variants contain the types of their values themselves.
        (built_in_type != BuiltInType::Variant).then_some(built_in_type)
    }

    fn field(&self, value: &Value) -> Result<DataValue, JsonDecodeError> {
        if value.is_null() {
            return Ok(DataValue {
                value: self.null(value),
                ..DataValue::default()
            });
        }
        let Value::Object(object) = value else {
            return self.value(value).map(DataValue::good);
        };
        if self.is_plain_structure(object) || !JsonDecoder::is_data_value(object) {
            return match self.value(value) {
                Ok(value) => Ok(DataValue::good(value)),
                // A Bad status may be in the place of a value of any type.
                Err(error) => bad_status(self.decoder, object).ok_or(error),
            };
        }
        let inner = if object.contains_key("UaType") {
            Some(self.decoder.variant(value)?)
        } else {
            match object.get("Value") {
                None => None,
                Some(inner) if inner.is_null() => self.null(inner),
                Some(inner) => {
                    let inner = self.value(inner);
                    Some(inner.map_err(|error| error.in_field("Value"))?)
                }
            }
        };
        let mut value = self.decoder.with_status_and_times(inner, object)?;
        // A StatusCode instead of a value of another type stands for a missing value.
        if let (Some(Variant::StatusCode(status)), None) = (&value.value, value.status) {
            let expected = self.built_in_type();
            if expected.is_some_and(|expected| expected != BuiltInType::StatusCode) {
                value.status = Some(*status);
                value.value = None;
            }
        }
        Ok(value)
    }

    /// Reads JSON's null: a null text is a value, a null number stands for no value.
    fn null(&self, null: &Value) -> Option<Variant> {
        let known = self.built_in_type().filter(|known| !known.is_numeric())?;
        self.decoder.value(null, known).ok()
    }

    /// Returns whether the field is a structure according to the metadata; its fields could have the names of
    /// DataValue fields.
    fn is_plain_structure(&self, object: &Map<String, Value>) -> bool {
        !object.contains_key("UaType")
            && self.built_in_type() == Some(BuiltInType::ExtensionObject)
            && self
                .meta_data
                .is_some_and(|known| self.decoder.is_structure(object, &known.data_type))
    }

    /// Returns a value without status.
    fn value(&self, value: &Value) -> Result<Variant, JsonDecodeError> {
        let says_type = value.as_object().is_some_and(JsonDecoder::says_type);
        let (Some(meta_data), Some(built_in_type), false) =
            (self.meta_data, self.built_in_type(), says_type)
        else {
            return self.decoder.variant(value);
        };
        let data_type = &meta_data.data_type;
        let structure = |value: &Value| self.decoder.structure_of_type(value, data_type);
        let enumeration = |value: &Value| self.decoder.enumeration(value);
        match (built_in_type, value) {
            (BuiltInType::ExtensionObject, Value::Array(objects)) => {
                elements(objects, structure).map(|objects| Elements::from(objects).into())
            }
            (BuiltInType::ExtensionObject, _) => structure(value).map(Variant::from),
            // Texts are values of enumerations with their names.
            (BuiltInType::Int32, Value::Array(names)) if names.iter().any(Value::is_string) => {
                elements(names, enumeration).map(|numbers| Elements::from(numbers).into())
            }
            (BuiltInType::Int32, Value::String(_)) => enumeration(value).map(Variant::from),
            _ => self.decoder.value(value, built_in_type),
        }
    }
}

fn elements<T>(
    values: &[Value],
    decode: impl Fn(&Value) -> Result<T, JsonDecodeError>,
) -> Result<Vec<T>, JsonDecodeError> {
    let values = values.iter().enumerate();
    values
        .map(|(index, value)| decode(value).map_err(|error| error.in_element(index)))
        .collect()
}

/// Returns the StatusCode that explains a missing value.
fn bad_status(decoder: &JsonDecoder<'_>, object: &Map<String, Value>) -> Option<DataValue> {
    let only = |name: &String| name == "Code" || name == "Symbol";
    let is_code = object.contains_key("Code") && object.keys().all(only);
    let value = Value::Object(object.clone());
    let status = is_code.then(|| decoder.value(&value, BuiltInType::StatusCode).ok())??;
    match status {
        Variant::StatusCode(status) if status != StatusCode::Good => {
            Some(DataValue::status(status))
        }
        _ => None,
    }
}
