//! Text of TOML files that Takt writes. Texts from other files may contain anything.

use std::fmt::Write;

use crate::document::{Item, Table, Value};
use crate::shape::is_unwanted;

/// Returns a text in one line that is safe in a comment, in a table and on a terminal: characters that a text of a scenario must not
/// contain, such as line breaks, are replaced by their escapes (`\u{a}`).
#[must_use]
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for one in text.chars() {
        match is_unwanted(one) {
            true => visible.extend(one.escape_unicode()),
            false => visible.push(one),
        }
    }
    visible
}

/// Returns a text as a basic string of TOML, with its quotation marks.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for one in text.chars() {
        match one {
            '"' | '\\' => quoted.extend(['\\', one]),
            one if is_unwanted(one) => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\U{:08X}", u32::from(one));
            }
            one => quoted.push(one),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a key, which is quoted if its characters require it.
#[must_use]
pub fn key(name: &str) -> String {
    let is_bare = |one: char| one.is_ascii_alphanumeric() || one == '_' || one == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// Returns the value of a document as TOML.
pub(crate) fn value(item: &Item) -> String {
    match &item.value {
        Value::Text(text) => quoted(text),
        Value::Integer(integer) => integer.to_string(),
        Value::Float(number) => number.clone(),
        Value::Boolean(value) => value.to_string(),
        // No field has such a value, and files are checked before.
        Value::Other(what) => quoted(what),
        Value::List(items) if items.iter().any(|item| item.table().is_some()) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| format!("    {},\n", value(item)))
                .collect();
            format!("[\n{}]", items.concat())
        }
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let fields: Vec<String> = fields(table)
                .into_iter()
                .map(|(key, value)| format!("{key} = {value}"))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
    }
}

/// Returns the fields of a table, as TOML.
pub(crate) fn fields(table: &Table) -> Vec<(String, String)> {
    let fields = table.fields.iter();
    fields
        .map(|(name, item)| (key(&name.name), value(item)))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::parse;

    #[test]
    fn texts_stay_in_their_line() {
        assert_eq!(visible("a\nb\u{202E}\"c"), "a\\u{a}b\\u{202e}\"c");
        assert_eq!(quoted("a\n\"\\"), "\"a\\U0000000A\\\"\\\\\"");
        assert_eq!(key("idle_slope-2"), "idle_slope-2");
        assert_eq!(key("a.b"), "\"a.b\"");
        assert_eq!(key(""), "\"\"");
    }

    #[test]
    fn values_are_read_back() {
        let text = "a = [1, 2.50, true, \"x\"]\nb = [{ c = \"1 us\", d = { e = [[\"1 ns\", 3]] } }, {}]\n\"f g\" = -3\n";
        let table = parse(text).unwrap();
        let written: Vec<String> = fields(&table)
            .iter()
            .map(|(key, value)| format!("{key} = {value}\n"))
            .collect();
        let again = parse(&written.concat()).unwrap();
        let shown = |table: &Table| Value::Table(table.clone()).show();
        assert_eq!(shown(&again), shown(&table));
    }

    proptest! {
        #[test]
        fn any_text_is_read_back(text in any::<String>(), name in any::<String>()) {
            let written = format!("{} = {} # {}\nend = 1\n", key(&name), quoted(&text), visible(&text));
            prop_assume!(name != "end");
            let table = parse(&written).unwrap();
            prop_assert_eq!(table.text(&name), Some(text.as_str()));
            prop_assert_eq!(table.integer::<i64>("end"), Some(1));
        }
    }
}
