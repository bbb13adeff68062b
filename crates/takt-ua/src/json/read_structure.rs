//! Conversion of JSON to structures, by the descriptions of their DataTypes.

use serde_json::{Map, Value};

use super::read::Reader;
use super::scalar;
use super::{BODY, JsonError, TYPE, XML};
use crate::binary::{Encode, EncodeError, Encoder};
use crate::data_types::{FieldShape, StructureKind, StructureShape, ValueShape};
use crate::json_nesting::{MAX_DEPTH, NestingError};
use crate::{BuiltInType, ExtensionObject, ExtensionObjectBody, NodeId, Variant, base64};

/// Largest size of a structure in bytes.
const MOST_BYTES: usize = 256 << 20;

impl<'a> Reader<'a> {
    /// Reads an ExtensionObject. Without `$type` it is of the expected structure.
    pub(super) fn extension_object(
        &self,
        value: &Value,
        expected: Option<StructureShape<'a>>,
        depth: usize,
    ) -> Result<ExtensionObject, JsonError> {
        let Value::Object(object) = value else {
            if value.is_null() {
                return Ok(ExtensionObject::NULL);
            }
            return Err(match expected {
                Some(shape) => JsonError::expected(&fields_of(shape), value),
                None => JsonError::expected("an object with a $type", value),
            });
        };
        let shape = match (object.get(TYPE), expected) {
            (Some(Value::String(name)), _) => match self.named(name)? {
                // With a body the structure is encoded already, whether its type is known or not.
                Some(shape) if !object.contains_key(BODY) && !object.contains_key(XML) => shape,
                _ => return undecoded(name, object),
            },
            (None, Some(shape)) => shape,
            _ => {
                return Err(JsonError::expected(
                    "an object with a $type, such as \"EUInformation\"",
                    value,
                ));
            }
        };
        let type_id = shape.encoding_id();
        if type_id.is_null() {
            let message = format!("{} has no binary encoding at the server", shape.name());
            return Err(JsonError::new(message));
        }
        let mut bytes = Vec::new();
        let mut encoder = Encoder::growing(&mut bytes, MOST_BYTES);
        self.structure(shape, object, &mut encoder, depth + 1)?;
        Ok(ExtensionObject {
            type_id,
            body: ExtensionObjectBody::Binary(bytes),
        })
    }

    fn named(&self, name: &str) -> Result<Option<StructureShape<'a>>, JsonError> {
        self.types.named(name).map_err(|alike| {
            let message = format!("'{name}' may be {}", alike.join(" or "));
            JsonError::new(message).in_field(TYPE)
        })
    }

    /// Encodes the fields of a structure.
    fn structure(
        &self,
        shape: StructureShape<'a>,
        object: &Map<String, Value>,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), JsonError> {
        if depth >= MAX_DEPTH {
            return Err(JsonError::too_deep());
        }
        let known = |key: &str| key == TYPE || shape.field_names().any(|name| name == key);
        // A misspelt field would otherwise silently keep its default.
        if let Some(key) = object.keys().find(|key| !known(key)) {
            let names: Vec<_> = shape.field_names().collect();
            let message = format!(
                "{} has no field '{key}'; it has {}",
                shape.name(),
                names.join(", ")
            );
            return Err(JsonError::new(message));
        }
        let fields = (0..shape.field_count()).filter_map(|at| self.types.field(shape, at));
        match shape.kind() {
            StructureKind::Sequence => {}
            StructureKind::OptionalFields => {
                let optional = fields.clone().filter(|field| field.is_optional);
                let mask = (0_u32..).zip(optional).fold(0_u32, |mask, (bit, field)| {
                    mask | u32::from(object.contains_key(field.name))
                        .checked_shl(bit)
                        .unwrap_or(0)
                });
                encoded(encoder.u32(mask))?;
            }
            StructureKind::Union => return self.union(shape, object, encoder, depth),
        }
        for field in fields {
            let value = object.get(field.name);
            if value.is_none() {
                if field.is_optional {
                    continue;
                }
                // A field that nobody wrote shall not become 0 in a controller.
                if !shape.is_standard() {
                    return Err(missing(&field));
                }
            }
            self.structure_field(&field, value, encoder, depth)
                .map_err(|error| error.in_field(field.name))?;
        }
        Ok(())
    }

    /// Encodes a Union: the only field of the object, or none.
    fn union(
        &self,
        shape: StructureShape<'a>,
        object: &Map<String, Value>,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let mut given = object.iter().filter(|(key, _)| *key != TYPE);
        let Some((key, value)) = given.next() else {
            return encoded(encoder.u32(0));
        };
        if let Some((other, _)) = given.next() {
            return Err(JsonError::new(format!(
                "{} is a Union: it has one field, not both {key} and {other}",
                shape.name()
            )));
        }
        let mut fields = (0..shape.field_count()).filter_map(|at| self.types.field(shape, at));
        let field = (1_u32..)
            .zip(fields.by_ref())
            .find(|(_, field)| field.name == key);
        let Some((switch, field)) = field else {
            // This does not happen: the names of all fields were checked before.
            return Ok(());
        };
        encoded(encoder.u32(switch))?;
        self.structure_field(&field, Some(value), encoder, depth)
            .map_err(|error| error.in_field(field.name))
    }

    fn structure_field(
        &self,
        field: &FieldShape<'a>,
        value: Option<&Value>,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let shape = field.value.map_err(|data_type| {
            JsonError::new(format!("the DataType {data_type} has no description"))
        })?;
        match (field.value_rank, value) {
            (-1, value) => self.element(shape, value, encoder, depth),
            (1, None | Some(Value::Null)) => encoded(encoder.array_length(Some(0))),
            (1, Some(Value::Array(elements))) => {
                encoded(encoder.array_length(Some(elements.len())))?;
                for (index, element) in elements.iter().enumerate() {
                    self.element(shape, Some(element), encoder, depth)
                        .map_err(|error| error.in_element(index))?;
                }
                Ok(())
            }
            (1, Some(other)) => {
                let expected = format!("an array of {}", type_name(shape));
                Err(JsonError::expected(&expected, other))
            }
            (rank @ 2.., value) => self.matrix(shape, rank, value, encoder, depth),
            (rank, _) => Err(JsonError::new(format!(
                "its encoding is not defined with the ValueRank {rank}"
            ))),
        }
    }

    /// Encodes a matrix: its dimensions, and the elements without their number (OPC 10000-6, 5.2.5).
    fn matrix(
        &self,
        shape: ValueShape<'a>,
        rank: i32,
        value: Option<&Value>,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let value = value.unwrap_or(&Value::Null);
        let rank = usize::try_from(rank).unwrap_or_default();
        // A server says the rank.
        if rank > MAX_DEPTH {
            return Err(JsonError::too_deep());
        }
        let mut lengths = Vec::new();
        let mut first = Some(value);
        // The first rows tell the lengths; `rows` refuses others.
        while let (Some(Value::Array(elements)), true) = (first, lengths.len() < rank) {
            lengths.push(elements.len());
            first = elements.first();
        }
        let is_empty = value.is_null() || lengths.contains(&0);
        if lengths.len() != rank && !is_empty {
            let expected = format!("nested arrays of {rank} dimensions of {}", type_name(shape));
            return Err(JsonError::expected(&expected, value));
        }
        // Behind an empty dimension there are no rows that could tell the inner lengths.
        lengths.resize(rank, 0);
        encoded(encoder.array_length(Some(rank)))?;
        for length in &lengths {
            let length = i32::try_from(*length).map_err(|_| EncodeError::LengthOverflow);
            encoded(length.and_then(|length| encoder.i32(length)))?;
        }
        match is_empty {
            true => Ok(()),
            false => self.rows(shape, &lengths, value, encoder, depth),
        }
    }

    fn rows(
        &self,
        shape: ValueShape<'a>,
        lengths: &[usize],
        value: &Value,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let Some((length, inner)) = lengths.split_first() else {
            return self.element(shape, Some(value), encoder, depth);
        };
        match value {
            Value::Array(rows) if rows.len() == *length => {
                rows.iter().enumerate().try_for_each(|(index, row)| {
                    self.rows(shape, inner, row, encoder, depth)
                        .map_err(|error| error.in_element(index))
                })
            }
            other => Err(JsonError::wrong_length(*length, other)),
        }
    }

    /// Encodes a value, or the default of its type.
    fn element(
        &self,
        shape: ValueShape<'a>,
        value: Option<&Value>,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), JsonError> {
        match shape {
            ValueShape::BuiltIn(BuiltInType::Variant) => {
                let variant = value.map(|value| self.variant(value, depth + 1));
                encoded(variant.transpose()?.unwrap_or_default().encode(encoder))
            }
            ValueShape::BuiltIn(built_in_type) => {
                let single = match value {
                    Some(value) => self.of_type(value, built_in_type, depth + 1)?,
                    None => Variant::default_of(built_in_type),
                };
                encoded(single.encode_scalar(encoder))
            }
            ValueShape::Subtyped(shape) => {
                let value = value.unwrap_or(&Value::Null);
                let object = self.extension_object(value, Some(shape), depth + 1)?;
                encoded(Variant::from(object).encode_scalar(encoder))
            }
            ValueShape::Structure(shape) => match value {
                None | Some(Value::Null) if shape.is_standard() => {
                    self.structure(shape, &Map::new(), encoder, depth + 1)
                }
                Some(Value::Object(object)) => self.structure(shape, object, encoder, depth + 1),
                other => {
                    let found = other.unwrap_or(&Value::Null);
                    Err(JsonError::expected(&fields_of(shape), found))
                }
            },
            ValueShape::Enumeration(shape) => {
                let number = match value {
                    Some(value) => scalar::enumeration(shape, value)?,
                    None => Variant::default_of(shape.built_in_type()),
                };
                encoded(number.encode_scalar(encoder))
            }
        }
    }
}

/// Reads a structure that is written with its encoded body.
fn undecoded(name: &str, object: &Map<String, Value>) -> Result<ExtensionObject, JsonError> {
    let text = |key: &str| match object.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(JsonError::expected("a text", other).in_field(key)),
    };
    let type_id = name.parse().map_err(|_| {
        JsonError::new(format!(
            "'{name}' is neither a structure of the standard nor a NodeId"
        ))
        .in_field(TYPE)
    })?;
    let body = match (text(BODY)?, text(XML)?) {
        (Some(_), Some(_)) => {
            return Err(JsonError::new("only one of $body and $xml is allowed"));
        }
        (Some(body), None) => base64::decode(body)
            .map(ExtensionObjectBody::Binary)
            .ok_or_else(|| JsonError::new("expected base64").in_field(BODY))?,
        (None, Some(xml)) => ExtensionObjectBody::Xml(xml.clone()),
        (None, None) => ExtensionObjectBody::None,
    };
    let mut keys = object.keys();
    if let Some(key) = keys.find(|key| ![TYPE, BODY, XML].contains(&key.as_str())) {
        return Err(JsonError::new(format!(
            "unknown key '{key}'; a structure with a NodeId has $body or $xml"
        )));
    }
    Ok(ExtensionObject { type_id, body })
}

fn encoded(result: Result<(), EncodeError>) -> Result<(), JsonError> {
    result.map_err(|error| JsonError::new(error.to_string()))
}

fn missing(field: &FieldShape<'_>) -> JsonError {
    let expected = match field.value {
        Ok(shape) => type_name(shape),
        Err(data_type) => NodeId::to_string(data_type),
    };
    let array = if field.value_rank == -1 {
        ""
    } else {
        "array of "
    };
    JsonError::new(format!("is missing; it is {array}{expected}")).in_field(field.name)
}

/// Returns the name of a type, for errors.
fn type_name(shape: ValueShape<'_>) -> String {
    match shape {
        ValueShape::BuiltIn(built_in_type) => built_in_type.name().to_owned(),
        ValueShape::Structure(shape) | ValueShape::Subtyped(shape) => shape.name(),
        ValueShape::Enumeration(shape) => shape.name(),
    }
}

/// Names a structure and its fields, for errors.
fn fields_of(shape: StructureShape<'_>) -> String {
    let names: Vec<&str> = shape.field_names().take(SHOWN).collect();
    format!("an object: {} with {}", shape.name(), names.join(", "))
}

/// Largest number of fields that an error names.
const SHOWN: usize = 20;
