//! Values of any type: conversion of TOML to the compact JSON form of `takt_ua::json` and back, with the same rules.
//!
//! TOML has no null: an empty table stands for it.

use takt_ua::json::{VALUE_RANK_ANY, VALUE_RANK_SCALAR, from_value, structure_to_value, to_value};
use takt_ua::{BuiltInType, ByteString, ExtensionObject, ExtensionObjectBody, Structure, Variant};
use toml::Value;

type Json = serde_json::Value;

/// Type that is written as a TOML value.
pub(super) trait TomlValue: Sized {
    fn read(value: &Value) -> Result<Self, String>;
    fn write(&self) -> Value;
}

/// Implements reading and writing with serde; errors then have the place of the value in the file.
macro_rules! toml_value {
    ($name:ident $(<$($parameter:ident),*> where [$($generics:tt)*])?) => {
        impl<'de $(, $($generics)*)?> serde::Deserialize<'de> for $name $(<$($parameter),*>)? {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = <toml::Value as serde::Deserialize>::deserialize(deserializer)?;
                <Self as $crate::configuration::toml::value::TomlValue>::read(&value)
                    .map_err(serde::de::Error::custom)
            }
        }

        impl $(<$($generics)*>)? serde::Serialize for $name $(<$($parameter),*>)? {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let value = $crate::configuration::toml::value::TomlValue::write(self);
                serde::Serialize::serialize(&value, serializer)
            }
        }
    };
}
pub(super) use toml_value;

pub(super) fn to_json(value: &Value) -> Json {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        // JSON has no such numbers; they are texts there.
        Value::Float(number) if !number.is_finite() => number_text(*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(value) => (*value).into(),
        Value::Datetime(time) => time.to_string().into(),
        Value::Array(elements) => elements.iter().map(to_json).collect::<Vec<_>>().into(),
        Value::Table(table) if table.is_empty() => Json::Null,
        Value::Table(table) => {
            let members = table
                .iter()
                .map(|(key, value)| (key.clone(), to_json(value)));
            Json::Object(members.collect())
        }
    }
}

fn number_text(number: f64) -> &'static str {
    match number {
        number if number.is_nan() => "NaN",
        number if number < 0.0 => "-Infinity",
        _ => "Infinity",
    }
}

pub(super) fn from_json(value: &Json) -> Value {
    match value {
        // TOML has no null: an empty table stands for it.
        Json::Null => Value::Table(toml::Table::new()),
        Json::Bool(value) => Value::Boolean(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Integer(whole),
            // A number beyond a TOML integer is a text, from which numbers may be read.
            (None, _) if number.is_u64() => Value::String(number.to_string()),
            (None, Some(number)) => Value::Float(number),
            (None, None) => Value::String(number.to_string()),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(elements) => Value::Array(elements.iter().map(from_json).collect()),
        Json::Object(members) => {
            let said = members.iter().filter(|(_, value)| !says_nothing(value));
            let table = said.map(|(key, value)| (key.clone(), from_json(value)));
            Value::Table(table.collect())
        }
    }
}

/// Returns true if the value is left out of a structure: null and an empty array are the defaults of fields.
fn says_nothing(value: &Json) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// Reads a value whose type is `expected` unless it names another: `5`, `{ UInt32 = 5 }`, `{ Double = [1.0, 2.0] }`.
pub(super) fn read_variant(value: &Value, expected: BuiltInType) -> Result<Variant, String> {
    let typed = |value: &Value, built_in_type| {
        // An array of tables is an array of structures.
        from_value(&to_json(value), built_in_type, VALUE_RANK_ANY)
            .map_err(|error| error.to_string())
    };
    let Value::Table(table) = value else {
        return typed(value, expected);
    };
    let mut members = table.iter();
    match (members.next(), members.next()) {
        (None, _) => Ok(Variant::Empty),
        (Some((name, value)), None) => match BuiltInType::from_name(name) {
            Some(built_in_type) => typed(value, built_in_type),
            None => Err(format!(
                "'{name}' is not a built-in type; a value with its type is written as {{ UInt32 = 5 }}"
            )),
        },
        _ if expected == BuiltInType::ExtensionObject => typed(value, expected),
        _ => Err("a value is a number, a text, true or false, an array, or a table such as { UInt32 = 5 }".to_owned()),
    }
}

/// Writes a value; without its type only if that is `expected`.
pub(super) fn write_variant(value: &Variant, expected: BuiltInType) -> Value {
    let Some(built_in_type) = value.built_in_type() else {
        return Value::Table(toml::Table::new());
    };
    let plain = from_json(&to_value(value));
    if built_in_type == expected && !plain.is_table() {
        return plain;
    }
    Value::Table(toml::Table::from_iter([(
        built_in_type.name().to_owned(),
        plain,
    )]))
}

/// Value without a given type: Boolean, Int64, Double or String, according to its form.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnyValue(pub(super) Variant);

impl TomlValue for AnyValue {
    fn read(value: &Value) -> Result<Self, String> {
        let expected = match value {
            Value::Integer(_) => BuiltInType::Int64,
            Value::Float(_) => BuiltInType::Double,
            Value::Boolean(_) => BuiltInType::Boolean,
            Value::Array(_) => {
                return Err("an array needs its type, as in { Double = [1.0, 2.0] }".to_owned());
            }
            _ => BuiltInType::String,
        };
        read_variant(value, expected).map(Self)
    }

    fn write(&self) -> Value {
        use BuiltInType as B;
        let look = match self.0.built_in_type() {
            Some(found @ (B::Int64 | B::Double | B::Boolean | B::String)) if !self.0.is_array() => {
                found
            }
            _ => B::Variant,
        };
        let written = write_variant(&self.0, look);
        let same = Self::read(&written).is_ok_and(|read| read == *self);
        if same {
            written
        } else {
            write_variant(&self.0, B::Variant)
        }
    }
}

toml_value!(AnyValue);

/// PublisherId: a number is a UInt16.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PublisherIdValue(pub(super) Variant);

impl TomlValue for PublisherIdValue {
    fn read(value: &Value) -> Result<Self, String> {
        let expected = match value {
            Value::Integer(_) => BuiltInType::UInt16,
            _ => BuiltInType::String,
        };
        let hint = |error| match value {
            Value::Integer(_) => format!("{error}; a larger one is written as {{ UInt64 = ... }}"),
            _ => error,
        };
        read_variant(value, expected).map(Self).map_err(hint)
    }

    fn write(&self) -> Value {
        match &self.0 {
            Variant::UInt16(_) => write_variant(&self.0, BuiltInType::UInt16),
            other => write_variant(other, BuiltInType::String),
        }
    }
}

toml_value!(PublisherIdValue);

/// ExtensionObject: a table with the structure's name as `$type` and its fields, named as in the standard.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnyStructure(pub(super) ExtensionObject);

impl TomlValue for AnyStructure {
    fn read(value: &Value) -> Result<Self, String> {
        let read = from_value(
            &to_json(value),
            BuiltInType::ExtensionObject,
            VALUE_RANK_SCALAR,
        );
        match read {
            Ok(Variant::ExtensionObject(object)) => Ok(Self(*object)),
            Ok(_) => Err("expected a table with a $type".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn write(&self) -> Value {
        let written = from_json(&to_value(&Variant::from(self.0.clone())));
        if Self::read(&written).is_ok_and(|read| read == *self) {
            return written;
        }
        // A body that is not encoded as usual is kept unchanged.
        let mut table = toml::Table::new();
        table.insert("$type".to_owned(), self.0.type_id.to_string().into());
        match &self.0.body {
            ExtensionObjectBody::None => None,
            ExtensionObjectBody::Binary(bytes) => {
                // The compact JSON form of a ByteString is base64.
                let body = to_value(&Variant::from(ByteString::from(bytes.clone())));
                table.insert("$body".to_owned(), from_json(&body))
            }
            ExtensionObjectBody::Xml(text) => table.insert("$xml".to_owned(), text.clone().into()),
        };
        Value::Table(table)
    }
}

toml_value!(AnyStructure);

/// Structure of a known type: a table of its fields, named as in the standard.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct StructureTable<T>(pub(super) T);

impl<T: Structure> TomlValue for StructureTable<T> {
    fn read(value: &Value) -> Result<Self, String> {
        let mut object = match to_json(value) {
            Json::Object(object) => object,
            Json::Null => serde_json::Map::new(),
            _ => return Err(format!("expected a table: a {}", T::NAME)),
        };
        object.insert("$type".to_owned(), T::NAME.into());
        let AnyStructure(object) = match from_value(
            &object.into(),
            BuiltInType::ExtensionObject,
            VALUE_RANK_SCALAR,
        ) {
            Ok(Variant::ExtensionObject(object)) => AnyStructure(*object),
            Ok(_) => return Err(format!("expected a {}", T::NAME)),
            Err(error) => return Err(error.to_string()),
        };
        object
            .decode_as()
            .map(Self)
            .map_err(|error| error.to_string())
    }

    fn write(&self) -> Value {
        from_json(&structure_to_value(&self.0))
    }
}

toml_value!(StructureTable<T> where [T: Structure]);

pub(super) fn read_structures<T>(tables: Vec<StructureTable<T>>) -> Vec<T> {
    tables.into_iter().map(|table| table.0).collect()
}

pub(super) fn write_structures<T: Clone>(structures: &[T]) -> Vec<StructureTable<T>> {
    structures.iter().cloned().map(StructureTable).collect()
}
