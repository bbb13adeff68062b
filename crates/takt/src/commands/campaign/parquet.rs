//! The rows of a campaign as a Parquet file, with the feature `parquet`.

use std::path::Path;

use serde_json::Value;
use takt_campaign::{CampaignError, ROWS, RowColumns, for_each_row};
use takt_parquet::{CellKind, ParquetCell, ParquetTable, ParquetTableError};

use super::advice;
use crate::explain;

/// Writes the rows of a complete campaign.
pub(super) fn write(directory: &Path, file: &Path) -> miette::Result<()> {
    let rows = directory.join(ROWS);
    let explained = |error: CampaignError| advice::explained(&error);
    let columns = RowColumns::of_file(&rows).map_err(explained)?;
    let headings = columns.headings();
    // A column of numbers is one of integers if all of them are: counts, seeds.
    let mut kinds: Vec<Option<CellKind>> = vec![None; headings.len()];
    for_each_row(&rows, |row| {
        for (kind, cell) in kinds.iter_mut().zip(columns.cells(row)) {
            *kind = match (*kind, kind_of(&cell)) {
                (Some(CellKind::Integer), Some(CellKind::Number)) => Some(CellKind::Number),
                (known, found) => known.or(found),
            };
        }
        Ok(())
    })
    .map_err(explained)?;
    let kinds: Vec<CellKind> = kinds
        .into_iter()
        .map(|kind| kind.unwrap_or(CellKind::Text))
        .collect();
    let named: Vec<(String, CellKind)> = headings.into_iter().zip(kinds.iter().copied()).collect();
    let mut table = ParquetTable::create(file, "rows", &named).map_err(refused)?;
    let mut outcome = Ok(());
    for_each_row(&rows, |row| {
        if outcome.is_ok() {
            let cells = columns.cells(row);
            let cells = cells.iter().zip(&kinds);
            outcome = table.add(cells.map(|(cell, kind)| cell_of(cell, *kind)));
        }
        Ok(())
    })
    .map_err(explained)?;
    outcome.map_err(refused)?;
    table.finish().map_err(refused)
}

fn kind_of(cell: &Value) -> Option<CellKind> {
    match cell {
        Value::Null => None,
        Value::Number(number) if number.as_i64().is_some() => Some(CellKind::Integer),
        Value::Number(_) => Some(CellKind::Number),
        _ => Some(CellKind::Text),
    }
}

fn cell_of(cell: &Value, kind: CellKind) -> ParquetCell<'_> {
    let found = match kind {
        CellKind::Text => cell.as_str().map(ParquetCell::Text),
        CellKind::Integer => cell.as_i64().map(ParquetCell::Integer),
        CellKind::Number => cell.as_f64().map(ParquetCell::Number),
    };
    found.unwrap_or(ParquetCell::Null)
}

fn refused(error: ParquetTableError) -> miette::Report {
    explain::with_help(
        error,
        "The campaign is complete. Use --parquet with a file in an existing directory with enough free space; --resume computes no \
         row again.",
    )
}
