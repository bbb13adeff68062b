//! Sweeps: several scenarios from one document.

use std::ops::Range;

use crate::document::{Item, Key, Table, Value};
use crate::error::Problem;
use crate::fields::SCENARIO;
use crate::shape::{Field, Kind, Shape};

/// A field and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// Path of the field in the document, `topology.hops`.
    pub parameter: String,
    /// Values, as they are written.
    pub values: Vec<String>,
}

impl Problem {
    pub(crate) fn at(self, span: Range<usize>) -> Self {
        Self { span, ..self }
    }
}

/// Kind of tables that a path has led to so far.
#[derive(Clone, Copy)]
enum Place {
    /// Tables with these fields.
    Fields(&'static Shape),
    /// Tables with names of the user's choice, which have these fields.
    Names(&'static Shape),
}

/// Returns the kind of the table in a field, or of the tables in its list.
fn held(kind: &'static Kind) -> Option<Place> {
    match kind {
        Kind::Table(shape) => Some(Place::Fields(shape)),
        Kind::Named(shape) => Some(Place::Names(shape)),
        Kind::List(kind) => held(kind),
        Kind::OneOf(kinds) => kinds.iter().find_map(held),
        _ => None,
    }
}

/// Table that a path leads to.
pub(crate) struct FoundTable<'t> {
    pub(crate) table: &'t mut Table,
    /// True if the path passes an item that was asked for.
    pub(crate) is_inside: bool,
}

/// Returns the tables that a path leads to, and the name of the field in them.
pub(crate) fn find<'t, 'p>(
    document: &'t mut Table,
    path: &'p str,
) -> Result<(Vec<&'t mut Table>, &'p str), Problem> {
    let (found, field) = find_through(document, path, |_| false)?;
    Ok((found.into_iter().map(|it| it.table).collect(), field))
}

/// Does the same, and notes whether the path passes an item for which `is_asked` is true, before the field itself.
pub(crate) fn find_through<'t, 'p>(
    document: &'t mut Table,
    path: &'p str,
    is_asked: impl Fn(&Item) -> bool,
) -> Result<(Vec<FoundTable<'t>>, &'p str), Problem> {
    let (places, field) = path.rsplit_once('.').unwrap_or(("", path));
    let mut tables = vec![FoundTable {
        table: document,
        is_inside: false,
    }];
    let mut place = Place::Fields(&SCENARIO);
    let mut steps = places.split('.').filter(|step| !step.is_empty());
    while let Some(step) = steps.next() {
        let next_place = leads_to(place, step, path)?;
        // Finds the element of the list that the step leads to, if there is one.
        let is_list = |found: &FoundTable<'_>| {
            matches!(
                found.table.get(step),
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
        for FoundTable { table, is_inside } in tables {
            let is_inside = is_inside || table.get(step).is_some_and(&is_asked);
            let tables = below(table, place, step, which, path)?;
            next.extend(
                tables
                    .into_iter()
                    .map(|table| FoundTable { table, is_inside }),
            );
        }
        (tables, place) = (next, next_place);
    }
    if let Place::Names(shape) = place {
        let what = format!("name a field of {}", shape.name);
        return Err(lost(path, what));
    }
    leads_to_field(place, field, path)?;
    Ok((tables, field))
}

fn lost(path: &str, what: String) -> Problem {
    Problem::new(format!("invalid path `{path}`: {what}"), 0..0)
}

/// Returns the field that a step names; `None` if the step is a name of the user's choice.
fn leads_to_field(place: Place, step: &str, path: &str) -> Result<Option<&'static Field>, Problem> {
    let Place::Fields(shape) = place else {
        return Ok(None);
    };
    let found = shape.field(step).map(Some);
    found.ok_or_else(|| {
        let names = shape.fields().map(|field| field.name);
        let what = format!("`{step}` is not a field of {}", shape.name);
        lost(path, what).did_you_mean(step, names)
    })
}

/// Returns the kind of tables behind a step.
fn leads_to(place: Place, step: &str, path: &str) -> Result<Place, Problem> {
    match (place, leads_to_field(place, step, path)?) {
        (Place::Names(shape), _) => Ok(Place::Fields(shape)),
        (_, Some(field)) => {
            held(&field.kind).ok_or_else(|| lost(path, format!("`{step}` has no fields")))
        }
        (place, None) => Ok(place),
    }
}

/// Follows one step of a path, or two if the first leads to a list.
fn below<'t>(
    table: &'t mut Table,
    place: Place,
    step: &str,
    which: Option<&str>,
    path: &str,
) -> Result<Vec<&'t mut Table>, Problem> {
    let names: Vec<String> = table
        .fields
        .iter()
        .map(|(key, _)| key.name.clone())
        .collect();
    // An optional table can be missing.
    let is_optional = match place {
        Place::Fields(shape) => shape
            .field(step)
            .is_some_and(|field| matches!(field.kind, Kind::Table(_))),
        Place::Names(_) => false,
    };
    if is_optional && table.get(step).is_none() {
        let value = Value::Table(Table::default());
        set(table, step, &Item { span: 0..0, value });
    }
    let Some(item) = table.get_mut(step) else {
        let problem = lost(path, format!("there is no `{step}`"));
        return Err(problem.did_you_mean(step, names.iter().map(String::as_str)));
    };
    match (&mut item.value, which) {
        (Value::Table(table), None) => Ok(vec![table]),
        (Value::List(items), Some(which)) => {
            let names = items.iter().filter_map(|item| item.table()?.text("name"));
            let names: Vec<String> = names.map(str::to_owned).collect();
            let found = of_list(items, which);
            if found.is_empty() {
                let problem = lost(path, format!("there is no `{which}` in `{step}`"));
                return Err(problem.did_you_mean(which, names.iter().map(String::as_str)));
            }
            Ok(found)
        }
        (Value::List(_), None) => {
            let what = format!(
                "`{step}` is a list; select an element by its name or its number from 0, or all with `*`"
            );
            Err(lost(path, what))
        }
        _ => Err(lost(path, format!("`{step}` has no fields here"))),
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

/// Sets the value of a field.
pub(crate) fn set(table: &mut Table, field: &str, value: &Item) {
    match table.get_mut(field) {
        Some(place) => *place = value.clone(),
        // The text does not have the field, so its mistakes are shown at the value.
        None => table.fields.push((
            Key {
                span: value.span.clone(),
                name: field.to_owned(),
            },
            value.clone(),
        )),
    }
}
