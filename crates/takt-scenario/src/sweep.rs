//! Sweeps: one document, many scenarios.

use std::ops::Range;

use crate::document::{Item, Key, Table, Value};
use crate::error::Problem;
use crate::fields::SCENARIO;
use crate::shape::{Field, Kind};

/// A field and the values that it has in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// The path of the field in the document, `topology.hops`.
    pub parameter: String,
    /// Its values, as they are written.
    pub values: Vec<String>,
}

impl Problem {
    pub(crate) fn at(self, span: Range<usize>) -> Self {
        Self { span, ..self }
    }
}

/// The tables that a path leads to, and the name of the field in them.
pub(crate) fn find<'t, 'p>(
    document: &'t mut Table,
    path: &'p str,
) -> Result<(Vec<&'t mut Table>, &'p str), Problem> {
    let (places, field) = path.rsplit_once('.').unwrap_or(("", path));
    let mut tables = vec![document];
    let mut steps = places.split('.').filter(|step| !step.is_empty());
    while let Some(step) = steps.next() {
        // The element of the list that the step leads to, if it does.
        let is_list = |table: &&mut Table| {
            matches!(
                table.get(step),
                Some(Item {
                    value: Value::List(_),
                    ..
                })
            )
        };
        let which = if tables.iter().any(is_list) {
            steps.next()
        } else {
            None
        };
        let mut next = Vec::new();
        for table in tables {
            next.extend(below(table, step, which, path)?);
        }
        tables = next;
    }
    Ok((tables, field))
}

/// One step of a path, or two where the first leads to a list.
fn below<'t>(
    table: &'t mut Table,
    step: &str,
    which: Option<&str>,
    path: &str,
) -> Result<Vec<&'t mut Table>, Problem> {
    let lost = |what: String, meant: &str, names: &[String]| {
        let problem = Problem::new(format!("`{path}` leads nowhere: {what}"), 0..0);
        problem.did_you_mean(meant, names.iter().map(String::as_str))
    };
    let names: Vec<String> = table
        .fields
        .iter()
        .map(|(key, _)| key.name.clone())
        .collect();
    // A part of the file that is not there, and need not be.
    let optional = |field: &&Field| field.name == step && matches!(field.kind, Kind::Table(_));
    if table.get(step).is_none() && SCENARIO.fields.iter().any(|field| optional(&field)) {
        let value = Value::Table(Table::default());
        set(table, step, &Item { span: 0..0, value });
    }
    let Some(item) = table.get_mut(step) else {
        return Err(lost(format!("there is no `{step}`"), step, &names));
    };
    match (&mut item.value, which) {
        (Value::Table(table), None) => Ok(vec![table]),
        (Value::List(items), Some(which)) => {
            let names = items.iter().filter_map(|item| item.table()?.text("name"));
            let names: Vec<String> = names.map(str::to_owned).collect();
            let found = of_list(items, which);
            if found.is_empty() {
                return Err(lost(
                    format!("there is no `{which}` in `{step}`"),
                    which,
                    &names,
                ));
            }
            Ok(found)
        }
        (Value::List(_), None) => {
            let what = format!(
                "`{step}` is a list; say which by its name, its number from 0, or `*` for all"
            );
            Err(lost(what, "", &[]))
        }
        _ => Err(lost(format!("`{step}` has no fields"), "", &[])),
    }
}

fn of_list<'t>(items: &'t mut [Item], which: &str) -> Vec<&'t mut Table> {
    let number: Option<usize> = which.parse().ok();
    let mut found = Vec::new();
    for (index, item) in items.iter_mut().enumerate() {
        let Value::Table(table) = &mut item.value else {
            continue;
        };
        if which == "*" || number == Some(index) || table.text("name") == Some(which) {
            found.push(table);
        }
    }
    found
}

/// Sets a field.
pub(crate) fn set(table: &mut Table, field: &str, value: &Item) {
    match table.get_mut(field) {
        Some(place) => *place = value.clone(),
        None => table.fields.push((
            Key {
                span: value.span.clone(),
                name: field.to_owned(),
            },
            value.clone(),
        )),
    }
}
