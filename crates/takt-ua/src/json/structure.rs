//! Conversion of structures to and from JSON by the generated descriptions, without code per type.

use serde_json::{Map, Value};

use super::{JsonError, read, scalar, write};
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, Encoder};
use crate::generated::descriptions::STRUCTURES;
use crate::generated_support::{
    EnumerationDescription, FieldDescription, FieldType, StructureDescription,
};
use crate::json_nesting::{MAX_DEPTH, NestingError};
use crate::{
    BuiltInType, ExtensionObject, ExtensionObjectBody, NodeId, Structure, Variant, base64,
};

/// Key of the structure's name, or of the NodeId of its encoding.
const TYPE: &str = "$type";
/// Key of the undecoded body of an unknown structure.
const BODY: &str = "$body";
/// Key of a body in the XML DataEncoding.
const XML: &str = "$xml";

/// Returns the compact JSON form of a structure: an object of its fields, named as in the standard. Null if the
/// descriptions do not know the structure, which is impossible for generated structures.
pub fn structure_to_value<T: Structure>(structure: &T) -> Value {
    let bytes = structure.encode_to_vec();
    StructureDescription::of_type(T::TYPE_ID)
        .and_then(|description| decode(description, &mut Decoder::new(&bytes), 0).ok())
        .map_or(Value::Null, Value::Object)
}

pub(super) fn extension_object_to_value(object: &ExtensionObject, depth: usize) -> Value {
    if object.is_null() {
        return Value::Null;
    }
    if let Some(value) = known(object, depth) {
        return value;
    }
    let mut value = Map::from_iter([(TYPE.into(), object.type_id.to_string().into())]);
    match &object.body {
        ExtensionObjectBody::None => None,
        ExtensionObjectBody::Binary(bytes) => {
            value.insert(BODY.into(), base64::encode(bytes).into())
        }
        ExtensionObjectBody::Xml(text) => value.insert(XML.into(), text.as_str().into()),
    };
    value.into()
}

/// Returns the fields if the type is known and the body is exactly one value of it.
fn known(object: &ExtensionObject, depth: usize) -> Option<Value> {
    let ExtensionObjectBody::Binary(bytes) = &object.body else {
        return None;
    };
    let id = object.type_id.standard_id()?;
    let description =
        StructureDescription::of_encoding(id).filter(|known| known.binary_encoding_id == id)?;
    let mut decoder = Decoder::new(bytes);
    let fields = decode(description, &mut decoder, depth + 1).ok()?;
    let mut value = Map::from_iter([(TYPE.into(), description.name.into())]);
    value.extend(fields);
    (decoder.remaining() == 0).then(|| value.into())
}

fn decode(
    description: &StructureDescription,
    decoder: &mut Decoder<'_>,
    depth: usize,
) -> Result<Map<String, Value>, DecodeError> {
    if depth >= MAX_DEPTH {
        return Err(decoder.error(DecodeErrorKind::DepthExceeded));
    }
    let mut present = if description.has_optional_fields() {
        decoder.u32()?
    } else {
        0
    };
    let mut object = Map::new();
    for field in description.fields {
        if field.is_optional {
            let skip = present & 1 == 0;
            present >>= 1;
            if skip {
                continue;
            }
        }
        let value = if field.is_array {
            let count = decoder.array_length(1)?.unwrap_or(0);
            (0..count)
                .map(|_| decode_field(field, decoder, depth))
                .collect::<Result<Vec<_>, _>>()?
                .into()
        } else {
            decode_field(field, decoder, depth)?
        };
        object.insert(field.name.into(), value);
    }
    Ok(object)
}

fn decode_field(
    field: &FieldDescription,
    decoder: &mut Decoder<'_>,
    depth: usize,
) -> Result<Value, DecodeError> {
    match field.field_type {
        FieldType::BuiltIn(BuiltInType::Variant) => {
            Ok(write::typed(&Variant::decode(decoder)?, depth + 1))
        }
        FieldType::BuiltIn(built_in_type) => Ok(write::variant(
            &Variant::decode_scalar(built_in_type, decoder)?,
            depth + 1,
        )),
        FieldType::Structure(type_id) => match StructureDescription::of_type(type_id) {
            Some(description) => decode(description, decoder, depth + 1).map(Value::Object),
            None => Err(decoder.error(DecodeErrorKind::InvalidValue(
                "a structure has no description",
            ))),
        },
        FieldType::Enumeration(type_id) => {
            let value = decoder.i32()?;
            let name =
                EnumerationDescription::of_type(type_id).and_then(|known| known.name_of(value));
            Ok(name.map_or_else(|| value.into(), Value::from))
        }
    }
}

pub(super) fn extension_object_from_value(
    value: &Value,
    depth: usize,
) -> Result<ExtensionObject, JsonError> {
    let Value::Object(object) = value else {
        if value.is_null() {
            return Ok(ExtensionObject::NULL);
        }
        return Err(JsonError::expected("an object with a $type", value));
    };
    let Some(Value::String(name)) = object.get(TYPE) else {
        return Err(JsonError::expected(
            "an object with a $type, such as \"EUInformation\"",
            value,
        ));
    };
    let text = |key: &str| match object.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(JsonError::expected("a text", other).in_field(key)),
    };
    if let Some(description) = STRUCTURES.iter().find(|known| known.name == name) {
        let mut bytes = Vec::new();
        encode(
            description,
            object,
            &mut Encoder::growing(&mut bytes, usize::MAX),
            depth + 1,
        )?;
        let type_id = NodeId::numeric(0, description.binary_encoding_id);
        return Ok(ExtensionObject {
            type_id,
            body: ExtensionObjectBody::Binary(bytes),
        });
    }
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
    if let Some(key) = object
        .keys()
        .find(|key| ![TYPE, BODY, XML].contains(&key.as_str()))
    {
        return Err(JsonError::new(format!(
            "unknown key '{key}'; a structure with a NodeId has $body or $xml"
        )));
    }
    Ok(ExtensionObject { type_id, body })
}

fn encode(
    description: &StructureDescription,
    object: &Map<String, Value>,
    encoder: &mut Encoder<'_>,
    depth: usize,
) -> Result<(), JsonError> {
    if depth >= MAX_DEPTH {
        return Err(JsonError::too_deep());
    }
    let known = |key: &str| key == TYPE || description.fields.iter().any(|field| field.name == key);
    if let Some(key) = object.keys().find(|key| !known(key)) {
        let names: Vec<_> = description.fields.iter().map(|field| field.name).collect();
        let message = format!(
            "{} has no field '{key}'; it has {}",
            description.name,
            names.join(", ")
        );
        return Err(JsonError::new(message));
    }
    if description.has_optional_fields() {
        let optional = description
            .fields
            .iter()
            .filter(|field| field.is_optional)
            .enumerate();
        let mask = optional.fold(0_u32, |mask, (bit, field)| {
            mask | u32::from(object.contains_key(field.name))
                .checked_shl(bit as u32)
                .unwrap_or(0)
        });
        encoded(encoder.u32(mask))?;
    }
    for field in description.fields {
        let value = object.get(field.name);
        if field.is_optional && value.is_none() {
            continue;
        }
        encode_value(field, value, encoder, depth).map_err(|error| error.in_field(field.name))?;
    }
    Ok(())
}

fn encoded(result: Result<(), crate::binary::EncodeError>) -> Result<(), JsonError> {
    result.map_err(|error| JsonError::new(error.to_string()))
}

fn encode_value(
    field: &FieldDescription,
    value: Option<&Value>,
    encoder: &mut Encoder<'_>,
    depth: usize,
) -> Result<(), JsonError> {
    if !field.is_array {
        return encode_field(field, value, encoder, depth);
    }
    match value {
        None | Some(Value::Null) => encoded(encoder.array_length(Some(0))),
        Some(Value::Array(elements)) => {
            encoded(encoder.array_length(Some(elements.len())))?;
            for (index, element) in elements.iter().enumerate() {
                encode_field(field, Some(element), encoder, depth)
                    .map_err(|error| error.in_element(index))?;
            }
            Ok(())
        }
        Some(other) => Err(JsonError::expected("an array", other)),
    }
}

/// Encodes a value, or the default of its type.
fn encode_field(
    field: &FieldDescription,
    value: Option<&Value>,
    encoder: &mut Encoder<'_>,
    depth: usize,
) -> Result<(), JsonError> {
    match field.field_type {
        FieldType::BuiltIn(BuiltInType::Variant) => {
            let variant = value
                .map(|value| read::variant(value, depth + 1))
                .transpose()?
                .unwrap_or_default();
            encoded(variant.encode(encoder))
        }
        FieldType::BuiltIn(built_in_type) => {
            let scalar = match value {
                Some(value) => scalar::scalar(value, built_in_type, depth + 1)?,
                None => Variant::default_of(built_in_type),
            };
            encoded(scalar.encode_scalar(encoder))
        }
        FieldType::Structure(type_id) => {
            let empty = Map::new();
            let object = match value {
                None | Some(Value::Null) => &empty,
                Some(Value::Object(object)) => object,
                Some(other) => return Err(JsonError::expected("an object", other)),
            };
            match StructureDescription::of_type(type_id) {
                Some(description) => encode(description, object, encoder, depth + 1),
                None => Err(JsonError::new("a structure has no description")),
            }
        }
        FieldType::Enumeration(type_id) => encoded(encoder.i32(enumeration(type_id, value)?)),
    }
}

fn enumeration(type_id: u32, value: Option<&Value>) -> Result<i32, JsonError> {
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
