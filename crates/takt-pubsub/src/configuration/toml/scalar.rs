//! Values written as text: durations, NodeIds, names of enumeration values.

use std::fmt::Display;
use std::str::FromStr;

use takt_ua::generated_support::EnumerationDescription;
use takt_ua::{LocalizedText, UaString};
use toml::Value;

use super::value::{TomlValue, toml_value};

/// Value with a text form: NodeId, Guid, QualifiedName.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Text<T>(pub(super) T);

impl<T: FromStr<Err: Display> + Display> TomlValue for Text<T> {
    fn read(value: &Value) -> Result<Self, String> {
        let text = value.as_str().ok_or("expected a text")?;
        text.parse()
            .map(Self)
            .map_err(|error: T::Err| error.to_string())
    }

    fn write(&self) -> Value {
        self.0.to_string().into()
    }
}

toml_value!(Text<T> where [T: FromStr<Err: Display> + Display]);

/// Duration in milliseconds: a number, or a text with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Milliseconds(pub(super) f64);

/// Units, the number of them in a millisecond, and the number of milliseconds in one of them.
const UNITS: [(&str, f64, f64); 6] = [
    ("ns", 1.0, 1e6),
    ("us", 1.0, 1e3),
    ("ms", 1.0, 1.0),
    ("min", 60e3, 1.0),
    // After the units that end with it.
    ("s", 1e3, 1.0),
    ("h", 3600e3, 1.0),
];

impl TomlValue for Milliseconds {
    fn read(value: &Value) -> Result<Self, String> {
        let text = match value {
            Value::Integer(number) => return Ok(Self(*number as f64)),
            Value::Float(number) => return Ok(Self(*number)),
            Value::String(text) => text.trim(),
            _ => "",
        };
        let unit = UNITS.iter().find(|(unit, _, _)| text.ends_with(unit));
        let read = unit.and_then(|(unit, factor, divisor)| {
            let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
            // A factor such as 1e-6 is not exact, so a unit below the millisecond has a divisor.
            Some(Self(number * factor / divisor))
        });
        read.ok_or_else(|| {
            "expected a time: \"10ms\", \"250us\", \"1.5s\", or a number of milliseconds".to_owned()
        })
    }

    fn write(&self) -> Value {
        if self.0.is_finite() {
            format!("{}ms", self.0).into()
        } else {
            self.0.into()
        }
    }
}

toml_value!(Milliseconds);

/// Value of the enumeration with this TypeId: its name, or its number if it has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Enumeration<const TYPE_ID: u32>(pub(super) i32);

impl<const TYPE_ID: u32> TomlValue for Enumeration<TYPE_ID> {
    fn read(value: &Value) -> Result<Self, String> {
        let known = EnumerationDescription::of_type(TYPE_ID);
        let found = match value {
            Value::String(name) => known.and_then(|known| known.value_of(name)),
            Value::Integer(number) => i32::try_from(*number).ok(),
            _ => None,
        };
        found.map(Self).ok_or_else(|| {
            let values = known.map_or(&[][..], |known| known.values);
            let names: Vec<_> = values.iter().map(|(_, name)| *name).collect();
            format!("expected one of {}", names.join(", "))
        })
    }

    fn write(&self) -> Value {
        let name = EnumerationDescription::of_type(TYPE_ID).and_then(|known| known.name_of(self.0));
        name.map_or_else(|| i64::from(self.0).into(), Value::from)
    }
}

toml_value!(Enumeration<TYPE_ID> where [const TYPE_ID: u32]);

/// LocalizedText: its text, or `{ locale = "de", text = "..." }`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Localized(pub(super) LocalizedText);

impl TomlValue for Localized {
    fn read(value: &Value) -> Result<Self, String> {
        let fault = || "expected a text, or { locale = \"en\", text = \"...\" }".to_owned();
        let mut read = LocalizedText::default();
        match value {
            Value::String(text) => read.text = text.as_str().into(),
            Value::Table(table) => {
                for (key, value) in table {
                    let text = value.as_str().ok_or_else(fault)?;
                    match key.as_str() {
                        "locale" => read.locale = text.into(),
                        "text" => read.text = text.into(),
                        _ => return Err(fault()),
                    }
                }
            }
            _ => return Err(fault()),
        }
        Ok(Self(read))
    }

    fn write(&self) -> Value {
        let LocalizedText { locale, text } = &self.0;
        if locale.is_null() && !text.is_null() {
            return text.as_str().into();
        }
        let members = [("locale", locale), ("text", text)];
        let said = members.into_iter().filter_map(|(key, value)| {
            let value = value.as_option()?;
            Some((key.to_owned(), Value::from(value)))
        });
        Value::Table(said.collect())
    }
}

toml_value!(Localized);

/// String whose default is not null: an empty table means null.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Nullable(pub(super) UaString);

impl TomlValue for Nullable {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(Self(text.as_str().into())),
            Value::Table(table) if table.is_empty() => Ok(Self::default()),
            _ => Err("expected a text".to_owned()),
        }
    }

    fn write(&self) -> Value {
        match self.0.as_option() {
            Some(text) => text.into(),
            None => Value::Table(toml::Table::new()),
        }
    }
}

toml_value!(Nullable);

pub(super) fn read_string(text: Option<String>) -> UaString {
    text.map(UaString::from).unwrap_or_default()
}

pub(super) fn write_string(text: &UaString) -> Option<String> {
    text.as_option().map(str::to_owned)
}

pub(super) fn read_strings(texts: Vec<String>) -> Vec<UaString> {
    texts.into_iter().map(UaString::from).collect()
}

pub(super) fn write_strings(texts: &[UaString]) -> Vec<String> {
    texts.iter().map(|text| text.as_str().to_owned()).collect()
}

/// Returns true if the value is the default and is left out.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Value of `enabled`, which is true by default.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct Enabled(pub(super) bool);

impl Default for Enabled {
    fn default() -> Self {
        Self(true)
    }
}
