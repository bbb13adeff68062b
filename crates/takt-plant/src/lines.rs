//! Lines of the values in a TOML file.

use std::collections::HashMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Step of a path to a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'a> {
    /// Field of a table.
    Key(&'a str),
    /// Element of a list, from 0.
    Index(usize),
}

/// A value, and the values in it, each with its line from 1. Empty for a file without lines, such as a binary one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    line: usize,
    fields: HashMap<String, Lines>,
    elements: Vec<Lines>,
}

impl Lines {
    /// Returns the lines of a text; empty if it is not TOML.
    pub(crate) fn of_toml(text: &str) -> Self {
        let ends: Vec<usize> = text
            .bytes()
            .enumerate()
            .filter_map(|(place, byte)| (byte == b'\n').then_some(place))
            .collect();
        let line = |place: usize| 1 + ends.partition_point(|end| *end < place);
        match DeTable::parse(text) {
            Ok(table) => Self::of_table(table.get_ref(), 1, &line),
            Err(_) => Self::default(),
        }
    }

    fn of_table(table: &DeTable<'_>, begin: usize, line: &dyn Fn(usize) -> usize) -> Self {
        let fields = table.iter().map(|(key, value)| {
            let lines = Self::of_value(value, line(key.span().start), line);
            (key.get_ref().clone().into_owned(), lines)
        });
        Self {
            line: begin,
            fields: fields.collect(),
            elements: Vec::new(),
        }
    }

    fn of_value(value: &Spanned<DeValue<'_>>, begin: usize, line: &dyn Fn(usize) -> usize) -> Self {
        match value.get_ref() {
            DeValue::Table(table) => Self::of_table(table, begin, line),
            DeValue::Array(list) => {
                let elements = list
                    .iter()
                    .map(|element| Self::of_value(element, line(element.span().start), line));
                Self {
                    line: begin,
                    fields: HashMap::new(),
                    elements: elements.collect(),
                }
            }
            _ => Self {
                line: begin,
                ..Self::default()
            },
        }
    }

    /// Returns the line of a value, or of the innermost table that would have it; `None` without lines.
    pub(crate) fn line(&self, path: &[Step<'_>]) -> Option<usize> {
        let mut lines = self;
        for step in path {
            let next = match step {
                Step::Key(name) => lines.fields.get(*name),
                Step::Index(index) => lines.elements.get(*index),
            };
            let Some(next) = next else {
                break;
            };
            lines = next;
        }
        (lines.line > 0).then_some(lines.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_lines() {
        let text = "a = 1\n[[b]]\nc = 2\n[[b]]\n[[b.d]]\ne = [\n  1,\n  2]\n[f]\ng = { h = 1 }\n";
        let lines = Lines::of_toml(text);
        use Step::{Index, Key};
        assert_eq!(lines.line(&[Key("a")]), Some(1));
        assert_eq!(lines.line(&[Key("b"), Index(0)]), Some(2));
        assert_eq!(lines.line(&[Key("b"), Index(0), Key("c")]), Some(3));
        assert_eq!(lines.line(&[Key("b"), Index(1)]), Some(4));
        let e = [Key("b"), Index(1), Key("d"), Index(0), Key("e")];
        assert_eq!(lines.line(&e), Some(6));
        assert_eq!(lines.line(&[&e[..], &[Index(1)]].concat()), Some(8));
        assert_eq!(lines.line(&[Key("f"), Key("g"), Key("h")]), Some(10));
        // What is missing has the line of its table.
        assert_eq!(lines.line(&[Key("b"), Index(0), Key("x")]), Some(2));
        assert_eq!(Lines::default().line(&[Key("a")]), None);
        assert_eq!(Lines::of_toml("= 1").line(&[]), None);
    }
}
