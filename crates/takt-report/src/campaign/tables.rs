//! Tables of a campaign: quantities over each swept field, with 95 % intervals.

use takt_campaign::{CampaignSummary, MergedRow};
use takt_figures::number::measured;
use takt_figures::{Column, Table};
use takt_statistics::Estimate;

use super::charts::QuantityGroup;
use super::dimensions::CampaignDimension;

/// Largest number of rows of a table in the page.
const MOST_ROWS: usize = 200;

/// Table with what it leaves out.
pub(super) struct CampaignTable {
    pub(super) table: Table,
    /// Number of rows that it lacks.
    pub(super) left_out: usize,
}

/// Returns the table of a group of quantities over a field, whose values change fastest. Without a field, it has the rows in their order.
pub(super) fn over(
    summary: &CampaignSummary,
    group: &QuantityGroup,
    field: Option<&CampaignDimension>,
    all: &[CampaignDimension],
) -> CampaignTable {
    let mut dimensions: Vec<&CampaignDimension> =
        all.iter().filter(|it| Some(*it) != field).collect();
    dimensions.extend(field);
    let members = group.members.iter();
    let quantities = members.filter_map(|index| summary.quantities.get(*index));
    let quantities: Vec<_> = quantities.collect();
    let is_time = quantities.iter().any(|it| it.quantity.ends_with("_ns"));
    let number = |name: &str| match is_time {
        true => Column::number(name).unit("\u{b5}s"),
        false => Column::number(name),
    };
    let factor = if is_time { 1e3 } else { 1.0 };
    let mut columns: Vec<Column> = dimensions.iter().map(|it| column(it)).collect();
    columns.extend(["statistic", "backend"].map(Column::text));
    columns.push(Column::number("n"));
    columns.extend(
        [
            "mean",
            "\u{b1} 95 %",
            "median",
            "from",
            "to",
            "least",
            "greatest",
        ]
        .map(number),
    );
    let mut rows: Vec<(Vec<usize>, &str, &MergedRow)> = Vec::new();
    for quantity in &quantities {
        let name = quantity.quantity.as_str();
        for row in &quantity.rows {
            let place = |dimension: &&CampaignDimension| {
                let value = dimension.of(row);
                let place = dimension.values.iter().position(|it| *it == value);
                place.unwrap_or(0)
            };
            rows.push((dimensions.iter().map(place).collect(), name, row));
        }
    }
    // Within a combination, the order is that of the quantities and backends.
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    let mut table = Table::new(columns);
    for (_, name, row) in rows.iter().take(MOST_ROWS) {
        let mut cells: Vec<String> = dimensions.iter().map(|it| it.of(row)).collect();
        let statistic = name.rsplit('.').next().unwrap_or(name);
        cells.push(statistic.trim_end_matches("_ns").replace('_', " "));
        cells.push(row.backend.clone());
        cells.extend(match row.is_infinite(name) {
            true => infinite(row),
            false => numbers(row, factor),
        });
        table.row(cells);
    }
    CampaignTable {
        table,
        left_out: rows.len().saturating_sub(MOST_ROWS),
    }
}

fn column(dimension: &CampaignDimension) -> Column {
    let is_number = |text: &String| text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match dimension.values.iter().all(is_number) {
        true => Column::number(&dimension.name),
        false => Column::text(&dimension.name),
    }
}

/// Returns the same cells as [`numbers`] for an infinite bound.
fn infinite(row: &MergedRow) -> Vec<String> {
    let rows = row.rows.to_string();
    let cells = [
        &rows, "\u{221e}", "-", "\u{221e}", "-", "-", "\u{221e}", "\u{221e}",
    ];
    cells.map(str::to_owned).to_vec()
}

/// Returns number of values, mean with its interval, median with its interval, least and greatest value.
fn numbers(row: &MergedRow, factor: f64) -> Vec<String> {
    let shown = |value: f64| match value.is_finite() {
        true => measured(value / factor),
        false => "-".to_owned(),
    };
    let of = |estimate: Option<Estimate>, value: fn(Estimate) -> f64| {
        estimate.map_or_else(|| "-".to_owned(), |it| shown(value(it)))
    };
    // An interval of one value says nothing.
    let several = row.median.filter(|it| it.count > 1);
    let end = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), shown);
    vec![
        row.mean.map_or(0, |it| it.count).to_string(),
        of(row.mean, |it| it.value),
        of(row.mean, |it| (it.high - it.low) / 2.0),
        of(row.median, |it| it.value),
        of(several, |it| it.low),
        of(several, |it| it.high),
        end(row.least),
        end(row.most),
    ]
}
