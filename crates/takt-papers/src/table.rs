//! Tables for people: the paper's layout beside ours, and verdicts.

use takt_figures::{Column, Table, number};
use takt_scenario::CampaignBackend;

use crate::cells::{PaperCell, PaperTable};
use crate::element::PaperRow;
use crate::verdict::{PaperVerdict, PaperVerdictKind};

/// Returns the table of an element in the paper's layout: below each row of ours the paper's row.
#[must_use]
pub fn side_by_side(table: &PaperTable<'_>) -> Table {
    let element = table.element;
    let first = [Column::text(&element.heading), Column::text("").whole()];
    let columns = element.columns.iter();
    let columns = columns.map(|column| Column::number(&column.name));
    let mut shown = Table::new(first.into_iter().chain(columns));
    for (row, cells) in element.rows.iter().zip(&table.cells) {
        let name = match row.unit.name.as_str() {
            "" => row.name.clone(),
            unit => format!("{} ({unit})", row.name),
        };
        if let Some(figures) = &row.paper {
            let figures = figures.iter().map(|figure| match figure {
                Some(figure) => written(row, *figure),
                None => "N/A".to_owned(),
            });
            let head = [name.clone(), "paper".to_owned()];
            shown.row(head.into_iter().chain(figures));
        }
        let cells = cells.iter().map(|cell| cell_text(row, cell));
        shown.row([name, "ours".to_owned()].into_iter().chain(cells));
    }
    shown
}

/// Returns a cell of ours as a text.
pub(crate) fn cell_text(row: &PaperRow, cell: &PaperCell) -> String {
    match cell {
        PaperCell::Value {
            value,
            margin: Some(margin),
        } if *margin > 0.0 => format!("{} \u{b1} {}", written(row, *value), written(row, *margin)),
        PaperCell::Value { value, .. } => written(row, *value),
        PaperCell::Missing(_) => "\u{2013}".to_owned(),
    }
}

/// Returns a value in the unit of its row.
fn written(row: &PaperRow, value: f64) -> String {
    let value = value / row.unit.size;
    if value.is_nan() {
        return "no message".to_owned();
    }
    if value.is_infinite() {
        return "\u{221e}".to_owned();
    }
    match row.decimals {
        Some(decimals) => format!("{value:.decimals$}"),
        // Four significant digits, as papers have.
        None if value == 0.0 => "0".to_owned(),
        None => {
            let digits = 3.0 - value.abs().log10().floor();
            number::trimmed(value, digits.clamp(0.0, 7.0) as usize)
        }
    }
}

/// Returns the columns in the order of a row's values. Neighbours whose confidence intervals overlap have `\u{2248}` between them.
pub(crate) fn ranking(table: &PaperTable<'_>, row: &str) -> Option<String> {
    let rows = table.element.rows.iter().zip(&table.cells);
    let (row, cells) = rows.into_iter().find(|(it, _)| it.name == row)?;
    let columns = table.element.columns.iter().zip(cells);
    let mut ranked: Vec<(&str, &PaperCell, f64, f64)> = columns
        .filter_map(|(column, cell)| match cell {
            PaperCell::Value { value, margin } if !value.is_nan() => {
                Some((column.name.as_str(), cell, *value, margin.unwrap_or(0.0)))
            }
            _ => None,
        })
        .collect();
    ranked.sort_by(|one, other| one.2.total_cmp(&other.2));
    let mut text = format!("{}:", row.name);
    let mut end = f64::NEG_INFINITY;
    for (index, (name, cell, value, margin)) in ranked.into_iter().enumerate() {
        let sign = match (index, value - margin > end) {
            (0, _) => "",
            (_, true) => " <",
            (_, false) => " \u{2248}",
        };
        text.push_str(&format!("{sign} {name} ({})", cell_text(row, cell)));
        end = value + margin;
    }
    Some(format!("{text} {}", row.unit.name).trim_end().to_owned())
}

/// Returns the verdicts on the findings of elements, with the claims of the papers.
#[must_use]
pub(crate) fn findings_table(verdicts: &[(String, Vec<PaperVerdict<'_>>)]) -> Table {
    let mut table = Table::new([
        Column::text("finding"),
        Column::text("claim of the paper"),
        Column::text("backend").whole(),
        Column::text("verdict"),
        Column::text("reason"),
    ]);
    for (element, verdicts) in verdicts {
        table.text(element);
        for verdict in verdicts {
            let finding = verdict.finding;
            table.row([
                finding.name.clone(),
                format!("{} ({})", finding.claim, finding.source),
                backend(verdict),
                verdict_text(verdict),
                verdict.reason.clone(),
            ]);
        }
    }
    table
}

/// Returns the verdicts without the claims, for a terminal.
#[must_use]
pub fn verdicts_table(verdicts: &[(String, Vec<PaperVerdict<'_>>)]) -> Table {
    let mut table = Table::new([
        Column::text("finding"),
        Column::text("backend").whole(),
        Column::text("verdict"),
        Column::text("reason"),
    ]);
    for (element, verdicts) in verdicts {
        table.text(element);
        for verdict in verdicts {
            table.row([
                verdict.finding.name.clone(),
                backend(verdict),
                verdict_text(verdict),
                verdict.reason.clone(),
            ]);
        }
    }
    table
}

fn backend(verdict: &PaperVerdict<'_>) -> String {
    let backend = verdict.backend.as_deref();
    backend.unwrap_or(CampaignBackend::Bounds.name()).to_owned()
}

/// Returns a verdict with its sign.
pub(crate) fn verdict_text(verdict: &PaperVerdict<'_>) -> String {
    let sign = match (verdict.is_unexpected, verdict.kind) {
        // This sign stands out on the page.
        (true, _) => "\u{2717} ",
        (false, PaperVerdictKind::Reproduced) => "\u{2713} ",
        (false, _) => "",
    };
    let unexpected = match verdict.is_unexpected {
        true => ", unexpectedly",
        false => "",
    };
    format!("{sign}{}{unexpected}", verdict.kind.name())
}
