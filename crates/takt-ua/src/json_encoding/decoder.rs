//! Conversion of JSON to values: Variants, arrays and DataValues, of versions 1.05 and 1.04.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::integer::integer;
use super::{JsonContext, JsonDecodeError, JsonDecodeErrorKind, MAX_BODY_LENGTH};
use crate::json_nesting::{self, MAX_DEPTH};
use crate::{Array, BuiltInType, DataValue, Elements, Variant};

/// Reads values in the JSON DataEncoding: [`Compact`](super::JsonEncoding::Compact) and
/// [`Verbose`](super::JsonEncoding::Verbose) of version 1.05 (OPC 10000-6, 5.4), reversible and, where the types are
/// known from elsewhere, non-reversible of version 1.04 (Annex H). Fields that the standard does not know are
/// ignored.
///
/// A decoder is for one text. The binary forms of its structures may have 16 MiB in total, and the number of omitted
/// structures is limited by that of the others: with foreign descriptions a short text can become long structures,
/// because omitted fields get their defaults.
#[derive(Debug, Clone)]
pub struct JsonDecoder<'a> {
    pub(super) context: JsonContext<'a>,
    /// Remaining size in bytes for the bodies of structures.
    pub(super) room: Cell<usize>,
    /// Remaining number of structures that the text omits.
    omitted: Cell<usize>,
}

/// Number of structures that a text may omit, and the number that it may omit in addition for each one that it has.
const OMITTED: usize = 1 << 12;
const OMITTED_PER_STRUCTURE: usize = 64;

/// The fields of a DataValue, in both versions; those of a Variant come in addition.
const DATA_VALUE_FIELDS: [&str; 9] = [
    "Value",
    "Status",
    "StatusCode",
    "SourceTimestamp",
    "SourcePicoseconds",
    "SourcePicoSeconds",
    "ServerTimestamp",
    "ServerPicoseconds",
    "ServerPicoSeconds",
];

impl<'a> JsonDecoder<'a> {
    /// Makes a decoder for one text.
    pub fn new(context: JsonContext<'a>) -> Self {
        Self {
            context,
            room: Cell::new(MAX_BODY_LENGTH),
            omitted: Cell::new(OMITTED),
        }
    }

    /// Counts a structure, which is null if the text omits it.
    pub(super) fn count_structure(&self, value: &Value) -> Result<(), JsonDecodeError> {
        let left = self.omitted.get();
        let left = match value {
            Value::Null => left.checked_sub(1),
            _ => Some(left.saturating_add(OMITTED_PER_STRUCTURE)),
        };
        let too_many = || JsonDecodeError::new(JsonDecodeErrorKind::TooManyStructures);
        self.omitted.set(left.ok_or_else(too_many)?);
        Ok(())
    }

    /// Decodes a Variant. Without a type, as in the non-reversible form, it is read by its form: Boolean, Int64,
    /// UInt64, Double, String, LocalizedText, StatusCode, an array of one of them or of Variants, or else a structure
    /// without a description.
    pub fn variant(&self, value: &Value) -> Result<Variant, JsonDecodeError> {
        self.typed(value, 0)
    }

    /// Decodes a value whose type is known, as it stands in a structure. Arrays and matrices are accepted.
    pub fn value(
        &self,
        value: &Value,
        built_in_type: BuiltInType,
    ) -> Result<Variant, JsonDecodeError> {
        self.untyped(value, built_in_type, 0)
    }

    /// Decodes a DataValue.
    pub fn data_value(&self, value: &Value) -> Result<DataValue, JsonDecodeError> {
        self.timed(value, 0)
    }

    /// Returns whether an object looks like a DataValue: it has a field that only DataValues have, and no others than
    /// those of a DataValue.
    pub fn is_data_value(object: &Map<String, Value>) -> bool {
        let of_variant =
            |name: &str| matches!(name, "UaType" | "Dimensions") && object.contains_key("UaType");
        object.contains_key("UaType")
            || !object.is_empty()
                && object
                    .keys()
                    .all(|name| DATA_VALUE_FIELDS.contains(&name.as_str()) || of_variant(name))
    }

    /// Returns whether an object contains the type of its value: `UaType`, or `Type` and `Body`.
    pub fn says_type(object: &Map<String, Value>) -> bool {
        object.contains_key("UaType") || is_reversible(object)
    }

    pub(super) fn typed(&self, value: &Value, depth: usize) -> Result<Variant, JsonDecodeError> {
        if depth >= MAX_DEPTH {
            return Err(JsonDecodeError::new(JsonDecodeErrorKind::TooDeep));
        }
        match value {
            Value::Object(object) if object.contains_key("UaType") => {
                self.of_type(object, "UaType", "Value", depth)
            }
            Value::Object(object) if is_reversible(object) => {
                self.of_type(object, "Type", "Body", depth)
            }
            other => self.by_look(other, depth),
        }
    }

    /// Decodes an object that contains the type of its value.
    fn of_type(
        &self,
        object: &Map<String, Value>,
        type_name: &str,
        value_name: &str,
        depth: usize,
    ) -> Result<Variant, JsonDecodeError> {
        let id = object.get(type_name).unwrap_or(&Value::Null);
        let built_in_type = match integer::<u8>(id) {
            Some(0) => return Ok(Variant::Empty),
            Some(id) => BuiltInType::from_u8(id),
            None => None,
        };
        let built_in_type = built_in_type.ok_or_else(|| {
            JsonDecodeError::expected("the number of a built-in type, 0 to 25", id)
                .in_field(type_name)
        })?;
        let Some(value) = object.get(value_name) else {
            return Ok(Variant::default_of(built_in_type));
        };
        let variant = self
            .untyped(value, built_in_type, depth + 1)
            .map_err(|error| error.in_field(value_name))?;
        match (variant, object.get("Dimensions")) {
            (Variant::Array(array), Some(dimensions)) if !dimensions.is_null() => {
                matrix(array.elements, dimensions).map(Variant::from)
            }
            (variant, _) => Ok(variant),
        }
    }

    pub(super) fn untyped(
        &self,
        value: &Value,
        built_in_type: BuiltInType,
        depth: usize,
    ) -> Result<Variant, JsonDecodeError> {
        if depth >= MAX_DEPTH {
            return Err(JsonDecodeError::new(JsonDecodeErrorKind::TooDeep));
        }
        match value {
            Value::Array(_) => self.array(value, built_in_type, depth).map(Variant::from),
            Value::Object(object) if is_matrix(object) => {
                let elements = object.get("Array").or_else(|| object.get("Value"));
                let array = self
                    .array(elements.unwrap_or(&Value::Null), built_in_type, depth)
                    .map_err(|error| error.in_field("Array"))?;
                matrix(
                    array.elements,
                    object.get("Dimensions").unwrap_or(&Value::Null),
                )
                .map(Variant::from)
            }
            _ => self.scalar(value, built_in_type, depth),
        }
    }

    /// Decodes a JSON array; nested arrays, the non-reversible form of version 1.04, are a matrix.
    fn array(
        &self,
        value: &Value,
        built_in_type: BuiltInType,
        depth: usize,
    ) -> Result<Array, JsonDecodeError> {
        if !value.is_array() {
            return Err(JsonDecodeError::expected("an array", value));
        }
        // An array within an array of Variants is a Variant.
        let nests = built_in_type != BuiltInType::Variant;
        json_nesting::array(
            value,
            built_in_type,
            nests,
            depth,
            |value, depth, elements| {
                let element = match (built_in_type, value) {
                    (BuiltInType::Variant, _) => self.typed(value, depth)?,
                    (_, Value::Null) => Variant::default_of(built_in_type),
                    _ => self.scalar(value, built_in_type, depth)?,
                };
                elements
                    .push(element)
                    .map_err(|_| JsonDecodeError::expected(built_in_type.name(), value))
            },
        )
    }

    pub(super) fn timed(&self, value: &Value, depth: usize) -> Result<DataValue, JsonDecodeError> {
        let object = match value {
            Value::Null => return Ok(DataValue::default()),
            Value::Object(object) => object,
            other => return Err(JsonDecodeError::expected("an object: a DataValue", other)),
        };
        // Version 1.05 merges the Variant into the DataValue, version 1.04 has it in the field Value.
        let inner = if object.contains_key("UaType") {
            Some(self.typed(value, depth + 1)?)
        } else {
            let inner = object.get("Value").filter(|value| !value.is_null());
            inner
                .map(|inner| self.typed(inner, depth + 1))
                .transpose()
                .map_err(|error| error.in_field("Value"))?
        };
        self.with_status_and_times(inner, object)
    }

    /// Decodes a DataValue with this value, and Status and timestamps of an object.
    pub fn with_status_and_times(
        &self,
        value: Option<Variant>,
        object: &Map<String, Value>,
    ) -> Result<DataValue, JsonDecodeError> {
        // Version 1.04 writes PicoSeconds with an upper-case S.
        Ok(DataValue {
            value,
            status: self.field(object, &["Status", "StatusCode"], BuiltInType::StatusCode)?,
            source_timestamp: self.field(object, &["SourceTimestamp"], BuiltInType::DateTime)?,
            source_picoseconds: self.field(
                object,
                &["SourcePicoseconds", "SourcePicoSeconds"],
                BuiltInType::UInt16,
            )?,
            server_timestamp: self.field(object, &["ServerTimestamp"], BuiltInType::DateTime)?,
            server_picoseconds: self.field(
                object,
                &["ServerPicoseconds", "ServerPicoSeconds"],
                BuiltInType::UInt16,
            )?,
        })
    }

    /// Decodes a field that may be missing, under one of its names.
    pub(super) fn field<T: TryFrom<Variant>>(
        &self,
        object: &Map<String, Value>,
        names: &[&str],
        built_in_type: BuiltInType,
    ) -> Result<Option<T>, JsonDecodeError> {
        let found = names
            .iter()
            .find_map(|name| Some((name, object.get(*name).filter(|value| !value.is_null())?)));
        let Some((name, value)) = found else {
            return Ok(None);
        };
        let value = self
            .scalar(value, built_in_type, 0)
            .map_err(|error| error.in_field(name))?;
        Ok(T::try_from(value).ok())
    }
}

/// Returns whether the object is `{"Type": .., "Body": ..}` of version 1.04.
fn is_reversible(object: &Map<String, Value>) -> bool {
    let known = |name: &String| matches!(name.as_str(), "Type" | "Body" | "Dimensions");
    // Only a number: a structure may have a field with the name Type, too.
    object.get("Type").is_some_and(Value::is_number) && object.keys().all(known)
}

/// Returns whether the object is `{"Array": .., "Dimensions": ..}`: a matrix in a structure (OPC 10000-6, 5.4.5).
pub(super) fn is_matrix(object: &Map<String, Value>) -> bool {
    let elements = object.get("Array").or_else(|| object.get("Value"));
    object.len() == 2
        && elements.is_some_and(Value::is_array)
        && object.get("Dimensions").is_some_and(Value::is_array)
}

/// Creates a matrix; the product of the dimensions has to be the number of elements.
pub(super) fn matrix(elements: Elements, dimensions: &Value) -> Result<Array, JsonDecodeError> {
    let wrong = || JsonDecodeError::expected("an array of whole numbers", dimensions);
    let lengths = dimensions.as_array().ok_or_else(wrong)?;
    let lengths: Option<Vec<u32>> = lengths.iter().map(integer).collect();
    let lengths = lengths.ok_or_else(|| wrong().in_field("Dimensions"))?;
    // Some senders write the dimension of one-dimensional arrays.
    let is_only =
        matches!(lengths.as_slice(), [length] if usize::try_from(*length) == Ok(elements.len()));
    if is_only || lengths.is_empty() || elements.is_empty() && lengths.contains(&0) {
        return Ok(Array::new(elements));
    }
    let count = elements.len();
    Array::matrix(elements, &lengths).map_err(|_| {
        let kind = JsonDecodeErrorKind::Dimensions {
            dimensions: lengths.into_iter().take(8).collect(),
            elements: count,
        };
        JsonDecodeError::new(kind).in_field("Dimensions")
    })
}
