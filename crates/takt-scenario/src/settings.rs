//! Values for fields of a document, given beside its text.

use std::ops::Range;

use crate::document::{self, Item, Table, Value};
use crate::error::Problem;
use crate::sweep;

/// Position of the fields that are marked. No text has this position.
const MARK: Range<usize> = usize::MAX..usize::MAX;

/// Fields of a path that were marked before, by the same path or by another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marked {
    None,
    /// Some of the fields, or fields in them.
    Some,
    /// All of the fields, or tables and lists that they are in.
    All,
}

fn is_marked(item: &Item) -> bool {
    item.span == MARK
}

/// Returns true if an item or a field in it is marked.
fn has_mark(item: &Item) -> bool {
    let is_inside = match &item.value {
        Value::Table(table) => table.fields.iter().any(|(_, item)| has_mark(item)),
        Value::List(items) => items.iter().any(has_mark),
        _ => false,
    };
    is_inside || is_marked(item)
}

/// Returns whether the fields of a path are marked. A field that is in a marked table or list is marked as well.
fn marked(document: &mut Table, path: &str) -> Result<Marked, Problem> {
    let (found, field) = sweep::find_through(document, path, is_marked)?;
    let whole = found
        .iter()
        .filter(|it| it.is_inside || it.table.get(field).is_some_and(is_marked))
        .count();
    let has_part = found
        .iter()
        .any(|it| it.table.get(field).is_some_and(has_mark));
    Ok(match whole {
        0 if !has_part => Marked::None,
        count if count == found.len() => Marked::All,
        _ => Marked::Some,
    })
}

/// Marks the fields of a path. Returns those that were marked before.
pub(crate) fn mark(document: &mut Table, path: &str) -> Result<Marked, Problem> {
    let before = marked(document, path)?;
    let (tables, field) = sweep::find(document, path)?;
    // The path of another field can lead through the value, so that it stays, and a table takes the place of one that is missing.
    let missing = Item {
        span: MARK,
        value: Value::Table(Table::default()),
    };
    for table in tables {
        match table.get_mut(field) {
            Some(item) => item.span = MARK,
            None => sweep::set(table, field, &missing),
        }
    }
    Ok(before)
}

/// Removes all marks below a table.
fn unmark(table: &mut Table) {
    fn of_item(item: &mut Item) {
        if is_marked(item) {
            item.span = 0..0;
        }
        match &mut item.value {
            Value::Table(table) => unmark(table),
            Value::List(items) => items.iter_mut().for_each(of_item),
            _ => {}
        }
    }
    table.fields.iter_mut().for_each(|(_, item)| of_item(item));
}

/// Sets fields of a document, and removes the sweeps of these fields.
pub(crate) fn apply(document: &mut Table, settings: &[(String, String)]) -> Result<(), Problem> {
    for (index, (path, _)) in settings.iter().enumerate() {
        if mark(document, path)? != Marked::None {
            return Err(twice(document, path, &settings[..index]));
        }
    }
    remove_sweeps(document)?;
    // The values replace the marks, which are of this call: a later one may set the fields again.
    for (path, text) in settings {
        let (tables, field) = sweep::find(document, path)?;
        for table in tables {
            sweep::set(table, field, &document::scalar(text));
        }
    }
    Ok(())
}

/// Returns the mistake that a path leads to a field that has a value already, or to a part of it, or to a table that it is in.
fn twice(document: &Table, path: &str, earlier: &[(String, String)]) -> Problem {
    let overlaps = |other: &str| {
        let mut copy = document.clone();
        unmark(&mut copy);
        let is_marked = mark(&mut copy, other).and_then(|_| marked(&mut copy, path));
        is_marked.is_ok_and(|it| it != Marked::None)
    };
    let same = earlier.iter().find(|(other, _)| other == path);
    let same = same.or_else(|| earlier.iter().find(|(other, _)| overlaps(other)));
    let message = match same {
        Some((other, _)) if other != path => {
            format!("the field `{path}` is given twice: `{other}` sets it as well")
        }
        _ => format!("the field `{path}` is given twice"),
    };
    Problem::new(message, 0..0).with_help("give it one value")
}

/// Removes the sweeps of marked fields.
fn remove_sweeps(document: &mut Table) -> Result<(), Problem> {
    // `find` adds optional tables that are missing, so it works on a copy.
    let mut copy = document.clone();
    let Some(Value::List(sweeps)) = document.get_mut("sweeps").map(|it| &mut it.value) else {
        return Ok(());
    };
    let mut overlap = None;
    sweeps.retain(|sweep| {
        let Some(path) = sweep.table().and_then(|sweep| sweep.text("parameter")) else {
            return true;
        };
        // A wrong path is reported when the document is read.
        match marked(&mut copy, path).unwrap_or(Marked::None) {
            Marked::None => true,
            Marked::All => false,
            Marked::Some => {
                overlap = Some(path.to_owned());
                true
            }
        }
    });
    match overlap {
        None => Ok(()),
        Some(path) => {
            let message = format!(
                "the sweep of `{path}` sets other elements than those that are given a value"
            );
            Err(Problem::new(message, 0..0).with_help(format!("give a value for `{path}`")))
        }
    }
}
