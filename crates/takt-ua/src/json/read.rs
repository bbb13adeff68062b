//! Conversion of JSON to values that contain others: arrays, structures by the generated descriptions, and values with their type.

use serde_json::{Map, Value};

use super::scalar::{self, check_keys, enumeration};
use super::{BODY, JsonError, TYPE, VALUE_RANK_ANY, VALUE_RANK_SCALAR, XML};
use crate::binary::{Encode, EncodeError, Encoder};
use crate::generated::descriptions::STRUCTURES;
use crate::generated_support::{FieldDescription, FieldType, StructureDescription};
use crate::json_nesting::{self, MAX_DEPTH, NestingError};
use crate::{
    Array, BuiltInType, DataValue, DiagnosticInfo, ExtensionObject, ExtensionObjectBody, NodeId,
    Variant, base64,
};

/// Reads a value of a type.
///
/// `value_rank` selects the accepted shapes, as the ValueRank of a Variable does (OPC 10000-3, 5.6.2): -3 scalar or
/// one dimension, -2 any, -1 scalar, 0 one or more dimensions, a positive number exactly that many. Arrays are JSON
/// arrays, matrices nested ones. Numbers are checked against the range of their type.
///
/// For [`BuiltInType::Variant`] the value contains its own type; see the [module](super).
pub fn from_value(
    value: &Value,
    built_in_type: BuiltInType,
    value_rank: i32,
) -> Result<Variant, JsonError> {
    of_rank(value, built_in_type, value_rank, 0)
}

/// Reads a value that contains its own type, as in a DataValue or in an array of Variants.
pub fn variant_from_value(value: &Value) -> Result<Variant, JsonError> {
    variant(value, 0)
}

fn of_rank(
    value: &Value,
    built_in_type: BuiltInType,
    value_rank: i32,
    depth: usize,
) -> Result<Variant, JsonError> {
    if !value.is_array() {
        if value_rank >= 0 {
            return Err(JsonError::expected(
                &format!("an array of {built_in_type}, such as [...]"),
                value,
            ));
        }
        return match built_in_type {
            BuiltInType::Variant => variant(value, depth),
            _ => of_type(value, built_in_type, depth),
        };
    }
    if value_rank == VALUE_RANK_SCALAR {
        return Err(JsonError::expected(
            &format!("a single {built_in_type}"),
            value,
        ));
    }
    let array = array(value, built_in_type, depth)?;
    let rank = array.lengths().len();
    let fits = match value_rank {
        -3 => rank == 1,
        VALUE_RANK_ANY | 0 => true,
        wanted => usize::try_from(wanted).is_ok_and(|wanted| wanted == rank) || array.is_empty(),
    };
    if !fits {
        let wanted = if value_rank == -3 { 1 } else { value_rank };
        return Err(JsonError::new(format!(
            "expected an array of {wanted} dimensions, found {rank}"
        )));
    }
    Ok(array.into())
}

fn array(value: &Value, built_in_type: BuiltInType, depth: usize) -> Result<Array, JsonError> {
    json_nesting::array(
        value,
        built_in_type,
        true,
        depth,
        |value, depth, elements| {
            let element = match built_in_type {
                BuiltInType::Variant => variant(value, depth)?,
                _ => of_type(value, built_in_type, depth)?,
            };
            elements
                .push(element)
                .map_err(|error| JsonError::new(error.to_string()))
        },
    )
}

/// Reads a value that contains its own type.
fn variant(value: &Value, depth: usize) -> Result<Variant, JsonError> {
    if depth >= MAX_DEPTH {
        return Err(JsonError::too_deep());
    }
    match value {
        Value::Null => Ok(Variant::Empty),
        Value::Bool(value) => Ok((*value).into()),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Ok(number.into()),
            None if number.is_u64() => of_type(value, BuiltInType::UInt64, depth),
            None => of_type(value, BuiltInType::Double, depth),
        },
        Value::String(text) => Ok(text.as_str().into()),
        Value::Array(elements) => of_rank(value, common_type(elements), VALUE_RANK_ANY, depth + 1),
        Value::Object(object) if object.contains_key("$type") => {
            of_type(value, BuiltInType::ExtensionObject, depth)
        }
        Value::Object(object) => typed(object, value, depth),
    }
}

/// Returns the common type of elements without a type of their own.
fn common_type(elements: &[Value]) -> BuiltInType {
    let all = |matches: fn(&Value) -> bool| elements.iter().all(matches);
    if all(Value::is_boolean) {
        BuiltInType::Boolean
    } else if all(Value::is_i64) {
        BuiltInType::Int64
    } else if all(Value::is_number) {
        BuiltInType::Double
    } else if all(Value::is_string) {
        BuiltInType::String
    } else {
        BuiltInType::Variant
    }
}

/// Reads `{"type": ..., "value": ...}`.
fn typed(object: &Map<String, Value>, whole: &Value, depth: usize) -> Result<Variant, JsonError> {
    let (Some(Value::String(name)), Some(value), 2) =
        (object.get("type"), object.get("value"), object.len())
    else {
        return Err(JsonError::expected(
            "a value such as {\"type\": \"UInt16\", \"value\": 7}",
            whole,
        ));
    };
    of_type_name(name, value, depth)
}

fn of_type_name(name: &str, value: &Value, depth: usize) -> Result<Variant, JsonError> {
    let Some(built_in_type) = BuiltInType::from_name(name) else {
        let names: Vec<_> = BuiltInType::all().map(BuiltInType::name).collect();
        let message = format!(
            "'{name}' is not a type; expected one of {}",
            names.join(", ")
        );
        return Err(JsonError::new(message).in_field("type"));
    };
    of_rank(value, built_in_type, VALUE_RANK_ANY, depth + 1)
        .map_err(|error| error.in_field("value"))
}

/// Reads a value of a known type.
fn of_type(value: &Value, built_in_type: BuiltInType, depth: usize) -> Result<Variant, JsonError> {
    use BuiltInType as B;
    if depth >= MAX_DEPTH {
        return Err(JsonError::too_deep());
    }
    if let Some(read) = scalar::read(value, built_in_type) {
        return read;
    }
    match built_in_type {
        B::ExtensionObject => extension_object(value, depth + 1).map(Variant::from),
        B::DataValue => data_value(value, depth + 1).map(Variant::from),
        B::DiagnosticInfo => diagnostic_info(value, depth + 1).map(Variant::from),
        _ => variant(value, depth + 1),
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
    let value = of_type(value, built_in_type, depth).map_err(|error| error.in_field(name))?;
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

fn extension_object(value: &Value, depth: usize) -> Result<ExtensionObject, JsonError> {
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

/// Encodes the fields of a structure.
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

fn encoded(result: Result<(), EncodeError>) -> Result<(), JsonError> {
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
                .map(|value| variant(value, depth + 1))
                .transpose()?
                .unwrap_or_default();
            encoded(variant.encode(encoder))
        }
        FieldType::BuiltIn(built_in_type) => {
            let single = match value {
                Some(value) => of_type(value, built_in_type, depth + 1)?,
                None => Variant::default_of(built_in_type),
            };
            encoded(single.encode_scalar(encoder))
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
