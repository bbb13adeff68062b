//! The rows as a CSV file: one column for each field, setting and quantity.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde_json::Value;
use takt_figures::{CsvError, CsvFile};

use crate::error::CampaignError;
use crate::folder::partial;
use crate::row::CampaignRow;

/// First columns.
const FIELDS: [&str; 6] = [
    "case",
    "scenario",
    "backend",
    "repetition",
    "seed",
    "failure",
];

/// Names of the columns of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowColumns {
    /// Names of settings, in the order in which they occur.
    pub settings: Vec<String>,
    /// Names of quantities, in the order in which they occur.
    pub values: Vec<String>,
}

impl RowColumns {
    /// Returns the columns of the rows in a file.
    ///
    /// # Errors
    /// The file cannot be read, or has other lines.
    pub fn of_file(rows: &Path) -> Result<Self, CampaignError> {
        let mut columns = Self::default();
        let (mut settings, mut values) = (HashSet::new(), HashSet::new());
        for_each_row(rows, |row| {
            add(&mut columns.settings, &mut settings, row.settings.keys());
            add(&mut columns.values, &mut values, row.values.keys());
            Ok(())
        })?;
        Ok(columns)
    }

    /// Returns the headings of all columns. Names of settings and quantities begin with their kind, so no name occurs twice.
    #[must_use]
    pub fn headings(&self) -> Vec<String> {
        let fields = FIELDS.iter().map(|name| (*name).to_owned());
        let settings = self.settings.iter().map(|name| format!("settings.{name}"));
        let values = self.values.iter().map(|name| format!("values.{name}"));
        fields.chain(settings).chain(values).collect()
    }

    /// Returns the cells of a row; null where it has none.
    #[must_use]
    pub fn cells(&self, row: &CampaignRow) -> Vec<Value> {
        let fields = [
            row.case.clone().into(),
            row.scenario.clone().into(),
            row.backend.clone().into(),
            row.repetition.into(),
            row.seed.into(),
            row.failure.clone().into(),
        ];
        let settings = self.settings.iter().map(|name| row.settings.get(name));
        let values = self.values.iter().map(|name| row.values.get(name));
        let others = settings.chain(values);
        let others = others.map(|cell| cell.cloned().unwrap_or_default());
        fields.into_iter().chain(others).collect()
    }
}

fn add<'a>(
    names: &mut Vec<String>,
    known: &mut HashSet<String>,
    more: impl Iterator<Item = &'a String>,
) {
    for name in more {
        if !known.contains(name) {
            known.insert(name.clone());
            names.push(name.clone());
        }
    }
}

/// Calls a function with each row of a file.
///
/// # Errors
/// The file cannot be read, a line is no row, or the function fails.
pub fn for_each_row(
    path: &Path,
    mut each: impl FnMut(&CampaignRow) -> Result<(), CampaignError>,
) -> Result<(), CampaignError> {
    let failed = |error: io::Error| CampaignError::io(path, error);
    let file = BufReader::new(File::open(path).map_err(failed)?);
    for (number, line) in file.lines().enumerate() {
        let line = line.map_err(failed)?;
        let row = serde_json::from_str(&line).map_err(|error| CampaignError::Damaged {
            path: path.to_owned(),
            reason: format!("line {}: {error}", number + 1),
        })?;
        each(&row)?;
    }
    Ok(())
}

/// Writes the rows of a file as a table.
pub(crate) fn write_table(rows: &Path, table: &Path) -> Result<(), CampaignError> {
    let columns = RowColumns::of_file(rows)?;
    let partial = partial(table);
    let failed = |error: CsvError| {
        // It would take space that the next try needs.
        let _ = fs::remove_file(&partial);
        CampaignError::io(table, error.error)
    };
    let headings = columns.headings();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut csv = CsvFile::create(&partial, &headings).map_err(failed)?;
    for_each_row(rows, |row| {
        csv.row(columns.cells(row).iter().map(text));
        csv.check().map_err(failed)
    })?;
    csv.finish().map_err(failed)?;
    fs::rename(&partial, table).map_err(|error| CampaignError::io(table, error))
}

/// Returns a cell as text.
fn text(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
