//! The fields of a document. One table of them checks documents, makes the JSON Schema, and is compared with the documentation.

use std::ops::Range;

use crate::document::{Item, Table, Value};
use crate::error::{Problem, near};
use crate::quantity::{Credit, Drift, Duration, Length, Rate, Share, SignedDuration, Size};

/// A kind of table.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Name of such a table, with its article.
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Groups of fields of which exactly one must be there. The code that reads the table reports violations.
    pub(crate) one_of: &'static [&'static [&'static str]],
    pub(crate) fields: &'static [Field],
    /// Fields that only tables of one kind have. The code that reads the table reports those of another kind.
    pub(crate) of_kinds: &'static [FieldsOfKind],
}

/// Fields that only one kind of a table has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldsOfKind {
    pub(crate) kind: &'static str,
    pub(crate) fields: &'static [Field],
}

/// A field of a table.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) description: &'static str,
}

/// Describes a field that must be given.
pub(crate) const fn need(name: &'static str, kind: Kind, description: &'static str) -> Field {
    Field {
        name,
        kind,
        required: true,
        description,
    }
}

/// Describes a field that may be left out.
pub(crate) const fn may(name: &'static str, kind: Kind, description: &'static str) -> Field {
    Field {
        name,
        kind,
        required: false,
        description,
    }
}

/// Type of a field's value.
#[derive(Debug)]
pub(crate) enum Kind {
    Text,
    /// A text of several lines.
    Prose,
    /// A text that is not empty.
    Name,
    Duration,
    /// A duration that is not 0.
    Interval,
    SignedDuration,
    /// A rate that is not 0.
    Rate,
    /// A rate, or 0.
    TrafficRate,
    Size,
    Credit,
    Length,
    Share,
    Drift,
    Integer(i64, i64),
    Boolean,
    Choice(&'static [&'static str]),
    List(&'static Kind),
    /// A list of two elements.
    Pair(&'static Kind),
    Table(&'static Shape),
    /// Tables with names of the user's choice.
    Named(&'static Shape),
    /// A value of one of several types; each type occurs once.
    OneOf(&'static [Kind]),
    /// A value of any type, for a swept field.
    Any,
}

/// A number of things.
pub(crate) const COUNT: Kind = Kind::Integer(1, i64::MAX);

/// Priority code point (IEEE 802.1Q, 6.9.3).
pub(crate) const PCP: Kind = Kind::Integer(0, 7);

/// VLAN identifier (IEEE 802.1Q, 9.6).
pub(crate) const VLAN: Kind = Kind::Integer(1, 4094);

impl Kind {
    /// Returns a description of the expected value, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Text | Self::Prose | Self::Name => "a text".to_owned(),
            Self::Duration | Self::Interval => "a time such as \"250 us\"".to_owned(),
            Self::SignedDuration => "a time such as \"-20 us\"".to_owned(),
            Self::Rate => "a rate such as \"1 Gbit/s\"".to_owned(),
            Self::TrafficRate => "a rate such as \"1 Gbit/s\", or \"0 bit/s\"".to_owned(),
            Self::Size => "a size such as \"1481 B\"".to_owned(),
            Self::Credit => "a credit such as \"-1503 B\"".to_owned(),
            Self::Length => "a length such as \"10 m\"".to_owned(),
            Self::Share => "a share such as \"-3%\" or 0.3".to_owned(),
            Self::Drift => "a drift such as \"1.5 ppm\"".to_owned(),
            Self::Integer(least, i64::MAX) => format!("an integer from {least} on"),
            Self::Integer(least, most) if least == most => format!("the integer {least}"),
            Self::Integer(least, most) => format!("an integer from {least} to {most}"),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(names) => format!("one of \"{}\"", names.join("\", \"")),
            Self::List(kind) => format!("a list of {}", kind.describe_elements()),
            Self::Pair(kind) => format!("a list of two {}", kind.describe_elements()),
            Self::Table(shape) => format!("a table: {}", shape.name),
            Self::Named(shape) => format!("named tables, each {}", shape.name),
            Self::OneOf(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(Self::describe).collect();
                kinds.join(", or ")
            }
            Self::Any => "anything".to_owned(),
        }
    }

    /// Returns a description of a list's elements.
    fn describe_elements(&self) -> String {
        match self {
            Self::Text | Self::Prose | Self::Name => "texts".to_owned(),
            Self::Any => "values of any kind".to_owned(),
            Self::Table(shape) => format!("tables, each {}", shape.name),
            kind => format!("elements, each {}", kind.describe()),
        }
    }

    /// Returns true if a value has the right type, independently of its contents.
    fn has_type(&self, value: &Value) -> bool {
        match self {
            Self::Share => matches!(value, Value::Text(_) | Value::Integer(_) | Value::Float(_)),
            Self::Integer(..) => matches!(value, Value::Integer(_)),
            Self::Boolean => matches!(value, Value::Boolean(_)),
            Self::List(_) | Self::Pair(_) => matches!(value, Value::List(_)),
            Self::Table(_) | Self::Named(_) => matches!(value, Value::Table(_)),
            Self::OneOf(kinds) => kinds.iter().any(|kind| kind.has_type(value)),
            Self::Any => true,
            _ => matches!(value, Value::Text(_)),
        }
    }

    fn check(&self, item: &Item, problems: &mut Vec<Problem>) {
        let span = item.span.clone();
        if !self.has_type(&item.value) {
            let message = format!(
                "expected {}, not {}",
                self.describe(),
                item.value.describe()
            );
            problems.push(Problem::new(message, span));
            return;
        }
        match self {
            Self::Boolean | Self::Any => {}
            Self::Text => check_characters(item.text().unwrap_or_default(), "", span, problems),
            Self::Prose => {
                check_characters(item.text().unwrap_or_default(), "\n\t\r", span, problems)
            }
            Self::Name => {
                check_characters(item.text().unwrap_or_default(), "", span.clone(), problems);
                if item.text().is_some_and(|name| name.trim().is_empty()) {
                    problems.push(Problem::new("a name must not be empty", span));
                }
            }
            Self::Duration => check_quantity::<Duration>(item, problems),
            Self::Interval => check_positive(item, problems, |value: Duration| value.0),
            Self::SignedDuration => check_quantity::<SignedDuration>(item, problems),
            Self::Rate => check_positive(item, problems, |value: Rate| value.0),
            Self::TrafficRate => check_quantity::<Rate>(item, problems),
            Self::Size => check_quantity::<Size>(item, problems),
            Self::Credit => check_quantity::<Credit>(item, problems),
            Self::Length => check_quantity::<Length>(item, problems),
            Self::Share => check_quantity::<Share>(item, problems),
            Self::Drift => check_quantity::<Drift>(item, problems),
            Self::Integer(least, most) => match item.value {
                Value::Integer(value) if (*least..=*most).contains(&value) => {}
                _ => {
                    let written = item.value.show();
                    let message = format!("expected {}, not {written}", self.describe());
                    problems.push(Problem::new(message, span));
                }
            },
            Self::Choice(names) => {
                check_choice(item, names, &self.describe(), problems);
            }
            Self::List(kind) | Self::Pair(kind) => item
                .list()
                .iter()
                .for_each(|item| kind.check(item, problems)),
            Self::Table(shape) => {
                if let Some(table) = item.table() {
                    shape.check(table, span, problems);
                }
            }
            Self::Named(shape) => {
                for (key, item) in item.table().into_iter().flat_map(|table| &table.fields) {
                    check_characters(&key.name, "", key.span.clone(), problems);
                    match item.table() {
                        Some(table) => shape.check(table, key.span.clone(), problems),
                        None => {
                            let message =
                                format!("expected {}, not {}", shape.name, item.value.describe());
                            problems.push(Problem::new(message, item.span.clone()));
                        }
                    }
                }
            }
            Self::OneOf(kinds) => match kinds.iter().find(|kind| kind.has_type(&item.value)) {
                Some(Self::Choice(names)) => {
                    check_choice(item, names, &self.describe(), problems);
                }
                Some(kind) => kind.check(item, problems),
                None => {}
            },
        }
    }
}

/// Reports control characters, apart from those of the layout: a text may be part of a command, and is shown on terminals.
fn check_characters(text: &str, layout: &str, span: Range<usize>, problems: &mut Vec<Problem>) {
    let found = text
        .chars()
        .find(|one| !layout.contains(*one) && is_unwanted(*one));
    if let Some(found) = found {
        let message = format!(
            "a text must not contain the character {}",
            found.escape_default()
        );
        let problem = Problem::new(message, span);
        problems.push(problem.with_help("write it in one line, without control characters"));
    }
}

/// Returns true for control characters, line separators, and characters that change the order of others.
pub(crate) fn is_unwanted(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Checks a choice. The message does not repeat the names, since `expected` contains them.
fn check_choice(item: &Item, names: &[&str], expected: &str, problems: &mut Vec<Problem>) {
    let written = item.text().unwrap_or_default();
    if !names.contains(&written) {
        let message = format!("`{written}` is not {expected}");
        let problem = Problem::new(message, item.span.clone());
        problems.push(match near(written, names.iter().copied()) {
            Some(name) => problem.with_help(format!("did you mean `{name}`?")),
            None => problem,
        });
    }
}

fn check_quantity<T>(item: &Item, problems: &mut Vec<Problem>)
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    if item.quantity::<T>().is_none()
        && let Err(error) = item.value.show().parse::<T>()
    {
        problems.push(Problem::new(error.to_string(), item.span.clone()));
    }
}

fn check_positive<T>(item: &Item, problems: &mut Vec<Problem>, number: impl Fn(T) -> u64)
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    check_quantity::<T>(item, problems);
    if item.quantity().map(number) == Some(0) {
        let message = format!("`{}` must be more than 0", item.value.show());
        problems.push(Problem::new(message, item.span.clone()));
    }
}

impl Shape {
    /// Reports unknown, missing and invalid fields. `place` is the beginning of the table.
    pub(crate) fn check(&self, table: &Table, place: Range<usize>, problems: &mut Vec<Problem>) {
        // Fields for which a misspelt name was probably meant: they are not reported as missing.
        let mut meant = Vec::new();
        for (key, item) in &table.fields {
            match self.field(&key.name) {
                Some(field) => field.kind.check(item, problems),
                None => {
                    meant.extend(near(&key.name, self.fields().map(|field| field.name)));
                    let message = format!("`{}` is not a field of {}", key.name, self.name);
                    let names = self.fields().map(|field| field.name);
                    let problem = Problem::new(message, key.span.clone());
                    problems.push(problem.did_you_mean(&key.name, names));
                }
            }
        }
        for field in self.fields().filter(|field| field.required) {
            if table.get(field.name).is_none() && !meant.contains(&field.name) {
                let message = format!(
                    "{} needs `{}`, {}",
                    self.name,
                    field.name,
                    field.kind.describe()
                );
                problems.push(Problem::new(message, place.clone()));
            }
        }
    }

    /// Returns the fields of all kinds of the table.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        let of_kinds = self.of_kinds.iter().flat_map(|kind| kind.fields);
        self.fields.iter().chain(of_kinds)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields().find(|field| field.name == name)
    }
}
