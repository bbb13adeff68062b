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
    Some,
    All,
}

/// Returns whether the fields of a path are marked.
fn marked(document: &mut Table, path: &str) -> Result<Marked, Problem> {
    let (tables, field) = sweep::find(document, path)?;
    let is_marked = |table: &&&mut Table| table.get(field).is_some_and(|item| item.span == MARK);
    let count = tables.iter().filter(is_marked).count();
    Ok(match count {
        0 => Marked::None,
        count if count == tables.len() => Marked::All,
        _ => Marked::Some,
    })
}

/// Marks the fields of a path. Returns those that were marked before.
pub(crate) fn mark(document: &mut Table, path: &str) -> Result<Marked, Problem> {
    let before = marked(document, path)?;
    let (tables, field) = sweep::find(document, path)?;
    for table in tables {
        match table.get_mut(field) {
            // The rest of the path of another field can lead through the value.
            Some(item) => item.span = MARK,
            None => sweep::set(table, field, &value("")),
        }
    }
    Ok(before)
}

/// Returns a value with the mark.
fn value(text: &str) -> Item {
    Item {
        span: MARK,
        ..document::scalar(text)
    }
}

/// Sets fields of a document, and removes the sweeps of these fields.
pub(crate) fn apply(document: &mut Table, settings: &[(String, String)]) -> Result<(), Problem> {
    for (index, (path, text)) in settings.iter().enumerate() {
        if marked(document, path)? != Marked::None {
            return Err(twice(path, &settings[..index]));
        }
        let (tables, field) = sweep::find(document, path)?;
        for table in tables {
            sweep::set(table, field, &value(text));
        }
    }
    remove_sweeps(document)?;
    // Marks are of this call: a later one may set the fields again.
    for (path, text) in settings {
        let (tables, field) = sweep::find(document, path)?;
        for table in tables {
            sweep::set(table, field, &document::scalar(text));
        }
    }
    Ok(())
}

/// Returns the mistake that a path leads to a field with a value already.
fn twice(path: &str, earlier: &[(String, String)]) -> Problem {
    let last = |path: &str| path.rsplit('.').next().map(str::to_owned);
    let same = earlier.iter().find(|(other, _)| other == path);
    // Another path to the same field ends with the same name.
    let same = same.or_else(|| earlier.iter().find(|(it, _)| last(it) == last(path)));
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
