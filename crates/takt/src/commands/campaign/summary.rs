//! `takt campaign summary`.

use miette::IntoDiagnostic;
use serde_json::Value;
use takt_campaign::{CampaignSummary, MergedQuantity, MergedRow, varied_settings};
use takt_figures::{Column, Report, Table};
use takt_scenario::names::parameter_name;
use takt_statistics::Estimate;

use super::advice;
use crate::arguments::CampaignSummaryArguments;
use crate::output::printable;
use crate::{explain, output};

pub(super) fn run(arguments: &CampaignSummaryArguments) -> miette::Result<()> {
    let summary = CampaignSummary::read(&arguments.directory, &arguments.quantities)
        .map_err(|error| advice::explained(&error))?;
    // Those of the file can belong to a backend that the run left out.
    let is_asked = !arguments.quantities.is_empty();
    if let Some(unknown) = summary.absent.first().filter(|_| is_asked) {
        return Err(explain::with_help(
            format!("no row has the quantity `{unknown}`"),
            format!("Its quantities are {}.", summary.known.join(", ")),
        ));
    }
    let mut report = Report::new(output::line, arguments.json);
    report.line(format!(
        "{}: {} rows",
        printable(&summary.description.name),
        summary.rows
    ));
    if summary.failed > 0 {
        report.line(format!("{} of them have no quantities", summary.failed));
    }
    let mut rows = summary.quantities.iter().flat_map(|it| &it.rows);
    if let Some(measured) = rows.find(|row| row.measured) {
        let backend = &measured.backend;
        report.line(format!(
            "rows of {backend} were measured on a host: another run gives other times"
        ));
    }
    for absent in &summary.absent {
        let absent = printable(absent);
        report.line(format!("no row has the quantity `{absent}` of the file"));
    }
    for quantity in &summary.quantities {
        for row in &quantity.rows {
            let row = row.object(&quantity.quantity);
            report.row(&row).into_diagnostic()?;
        }
        report.line("");
        print(quantity, &mut report);
    }
    Ok(())
}

/// Prints a quantity: a row for each case and backend.
fn print(quantity: &MergedQuantity, report: &mut Report<impl FnMut(String)>) {
    let (name, unit, factor) = match quantity.quantity.strip_suffix("_ns") {
        Some(name) => (name, Some("\u{b5}s"), 1000.0),
        None => (quantity.quantity.as_str(), None, 1.0),
    };
    report.line(printable(name));
    let rows = &quantity.rows;
    let Some(first) = rows.first() else {
        return;
    };
    let is_constant =
        |value: &dyn Fn(&MergedRow) -> Value| rows.iter().all(|it| value(it) == value(first));
    // Columns that tell nothing take the width of those that do.
    let settings = varied_settings(rows);
    let has_scenarios = !is_constant(&|row: &MergedRow| row.scenario.clone().into());
    let number = |name: &str| match unit {
        Some(unit) => Column::number(name).unit(unit),
        None => Column::number(name),
    };
    let mut columns: Vec<Column> = has_scenarios
        .then(|| Column::text("scenario"))
        .into_iter()
        .collect();
    columns.extend(settings.iter().map(|name| {
        let mut values = rows
            .iter()
            .filter_map(|row| row.settings.get(name.as_str())?.as_str());
        let name = parameter_name(name);
        match values.all(|it| it.starts_with(|c: char| c.is_ascii_digit() || c == '-')) {
            true => Column::number(name),
            false => Column::text(name),
        }
    }));
    columns.push(Column::text("backend"));
    columns.push(Column::number("n"));
    columns.extend(["mean", "\u{b1} 95 %", "median", "from", "to"].map(number));
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells: Vec<String> = has_scenarios
            .then(|| row.scenario.clone())
            .into_iter()
            .collect();
        let setting = |name: &String| {
            let value = row.settings.get(name.as_str()).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        cells.extend(settings.iter().map(setting));
        cells.push(row.backend.clone());
        let is_infinite = row.is_infinite(&quantity.quantity);
        let count = row.mean.map_or(usize::from(is_infinite), |it| it.count);
        cells.push(count.to_string());
        let shown = |value: f64| match value.is_finite() {
            true => format!("{:.3}", value / factor),
            false => String::new(),
        };
        let cell = |estimate: Option<Estimate>, value: fn(Estimate) -> f64| {
            estimate.map_or(String::new(), |it| shown(value(it)))
        };
        cells.push(match is_infinite {
            true => "\u{221e}".to_owned(),
            false => cell(row.mean, |it| it.value),
        });
        cells.push(cell(row.mean, |it| (it.high - it.low) / 2.0));
        // One value is its own median; an interval of one value says nothing.
        let several = row.median.filter(|it| it.count > 1);
        cells.push(cell(row.median, |it| it.value));
        cells.push(cell(several, |it| it.low));
        cells.push(cell(several, |it| it.high));
        table.row(cells);
    }
    report.table(&table);
}
