//! The TOML document as a tree in which every part has its position in the text.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Problem;

/// A value and its position.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    /// A floating-point number, as it is written.
    Float(String),
    Boolean(bool),
    /// Dates, which no field has, and integers that are too great.
    Other(&'static str),
    List(Vec<Item>),
    Table(Table),
}

/// Fields in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    pub(crate) fields: Vec<(Key, Item)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) span: Range<usize>,
    pub(crate) name: String,
}

/// Returns the tree of a text, or all errors in its TOML.
pub(crate) fn parse(text: &str) -> Result<Table, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(read_table(table.get_ref()));
    }
    let problems = errors.into_iter().map(|error| {
        let span = error.span().unwrap_or(0..0);
        Problem::new(error.message().trim_end(), span)
    });
    Err(problems.collect())
}

/// Returns a value that is not in the text: a number, true or false, or any other text as it is.
pub(crate) fn scalar(text: &str) -> Item {
    let value = match text {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        // `inf` and `nan` are names: no field takes such a number.
        text => match (text.parse(), text.parse::<f64>()) {
            (Ok(integer), _) => Value::Integer(integer),
            (_, Ok(number)) if number.is_finite() => Value::Float(text.to_owned()),
            _ => Value::Text(text.to_owned()),
        },
    };
    Item { span: 0..0, value }
}

fn read_table(table: &DeTable<'_>) -> Table {
    let mut fields: Vec<(Key, Item)> = table
        .iter()
        .map(|(key, value)| {
            let name = key.get_ref().clone().into_owned();
            let span = key.span();
            (Key { span, name }, read(value))
        })
        .collect();
    // The parser may sort a table by names. The order here is that of the file.
    fields.sort_by_key(|(key, _)| key.span.start);
    Table { fields }
}

fn read(value: &Spanned<DeValue<'_>>) -> Item {
    let read = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map_or(Value::Other("an integer that is too large"), Value::Integer),
        // Quantities are exact, and an `f64` would round the decimals.
        DeValue::Float(float) => Value::Float(float.as_str().to_owned()),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(list) => Value::List(list.iter().map(read).collect()),
        DeValue::Table(table) => Value::Table(read_table(table)),
    };
    Item {
        span: value.span(),
        value: read,
    }
}

impl Value {
    /// Returns a description of the value's type, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a number with a point",
            Self::Boolean(_) => "true or false",
            Self::Other(what) => what,
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// Returns the value as it would be written on one line.
    pub(crate) fn show(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(integer) => integer.to_string(),
            Self::Float(text) => text.clone(),
            Self::Boolean(value) => value.to_string(),
            Self::Other(what) => (*what).to_owned(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.value.show()).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Table(table) => {
                let fields = table.fields.iter();
                let fields: Vec<String> = fields
                    .map(|(key, item)| format!("{} = {}", key.name, item.value.show()))
                    .collect();
                format!("{{ {} }}", fields.join(", "))
            }
        }
    }
}

impl Item {
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> &[Item] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Returns a quantity from a text or from a number.
    pub(crate) fn quantity<T: std::str::FromStr>(&self) -> Option<T> {
        match &self.value {
            Value::Text(text) => text.parse().ok(),
            Value::Float(number) => number.parse().ok(),
            Value::Integer(number) => number.to_string().parse().ok(),
            _ => None,
        }
    }
}

impl Table {
    pub(crate) fn get(&self, name: &str) -> Option<&Item> {
        let found = self.fields.iter().find(|(key, _)| key.name == name);
        found.map(|(_, item)| item)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Item> {
        let found = self.fields.iter_mut().find(|(key, _)| key.name == name);
        found.map(|(_, item)| item)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.get(name)?.table()
    }

    /// Returns the tables of an array of tables, each with its position. Empty if there is none.
    pub(crate) fn tables(&self, name: &str) -> impl Iterator<Item = (&Item, &Table)> {
        let items = self.get(name).map(Item::list).unwrap_or_default();
        items.iter().filter_map(|item| Some((item, item.table()?)))
    }

    pub(crate) fn quantity<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.quantity()
    }

    /// Returns an integer; `check` has verified its range.
    pub(crate) fn integer<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        match self.get(name)?.value {
            Value::Integer(integer) => integer.try_into().ok(),
            _ => None,
        }
    }

    pub(crate) fn boolean(&self, name: &str) -> Option<bool> {
        match self.get(name)?.value {
            Value::Boolean(value) => Some(value),
            _ => None,
        }
    }
}
