//! Conversion of JSON to values: shapes, and values that contain their own type.

use serde_json::{Map, Value};

use super::scalar::scalar;
use super::{JsonError, VALUE_RANK_ANY, VALUE_RANK_SCALAR};
use crate::json_nesting::{self, MAX_DEPTH, NestingError};
use crate::{Array, BuiltInType, Variant};

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
            _ => scalar(value, built_in_type, depth),
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
                _ => scalar(value, built_in_type, depth)?,
            };
            elements
                .push(element)
                .map_err(|error| JsonError::new(error.to_string()))
        },
    )
}

/// Reads a value that contains its own type.
pub(super) fn variant(value: &Value, depth: usize) -> Result<Variant, JsonError> {
    if depth >= MAX_DEPTH {
        return Err(JsonError::too_deep());
    }
    match value {
        Value::Null => Ok(Variant::Empty),
        Value::Bool(value) => Ok((*value).into()),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Ok(number.into()),
            None if number.is_u64() => scalar(value, BuiltInType::UInt64, depth),
            None => scalar(value, BuiltInType::Double, depth),
        },
        Value::String(text) => Ok(text.as_str().into()),
        Value::Array(elements) => of_rank(value, common_type(elements), VALUE_RANK_ANY, depth + 1),
        Value::Object(object) if object.contains_key("$type") => {
            scalar(value, BuiltInType::ExtensionObject, depth)
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

pub(super) fn of_type_name(name: &str, value: &Value, depth: usize) -> Result<Variant, JsonError> {
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
