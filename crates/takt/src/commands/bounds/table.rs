//! Bounds as tables.

use takt_calculus::{Extended, FlowBound, QueueBound, Rational};
use takt_figures::{Column, Report, Table};
use takt_scenario::BoundsModel;
use takt_scenario::names::parameter_name;

use super::row::{Row, whole};
use super::summary::Shown;
use crate::output::printable;

/// Unit of times.
const MICROS: &str = "\u{b5}s";

/// Prints flows and assumptions, with a row for each combination of swept values and flow. Without sweeps it also prints the
/// ports. Of a long table only the rows with the longest delays are printed, unless `all` are wanted.
pub(super) fn print(rows: &[Row], all: bool, report: &mut Report<impl FnMut(String)>) {
    let Some(first) = rows.first() else {
        return;
    };
    let title = [
        first.scenario.name.as_str(),
        first.scenario.description.as_str(),
    ];
    // A description may have several lines.
    report.line(printable(title.join(": ").trim_end_matches(": ")));
    let given = first.given.iter();
    report.lines(given.map(|(path, value)| printable(&format!("with {path} = {value}"))));
    let model = match first.model {
        BoundsModel::Sound => "sound",
        BoundsModel::Paper => "paper (not sound: see the assumptions)",
    };
    report.line(format!("model {model}"));
    report.line("");
    let bounds = || {
        rows.iter()
            .flat_map(|row| row.bounds.flows.iter().map(move |flow| (row, flow)))
    };
    let flows = Shown::new(bounds(), all, |(_, flow)| flow.delay.clone());
    report.table(&flow_table(rows, first, &flows.rows));
    if let Some(note) = flows.note("flows, the longest delays first") {
        let unbounded = bounds().filter(|(_, flow)| flow.delay == Extended::Infinity);
        let unbounded = unbounded.count();
        report.line(format!("{note}. {unbounded} flows have no bound."));
    }
    let reasons = Shown::new(not_applicable(rows), all, |_| ());
    for (name, reason) in &reasons.rows {
        report.line(format!("- {name}: {reason}"));
    }
    report.lines(reasons.note("reasons").map(|note| format!("- {note}")));
    if rows.len() == 1 {
        report.line("");
        let ports = Shown::new(&first.bounds.queues, all, |queue| queue.delay.clone());
        report.table(&port_table(&ports.rows, first.model));
        report.lines(ports.note("ports and classes, the longest delays first"));
    }
    report.line("");
    report.line("Assumptions, which are not checked:");
    for assumption in &first.bounds.assumptions {
        report.line(format!("* {assumption}"));
    }
    let mut broken: Vec<_> = rows.iter().flat_map(|row| &row.bounds.broken).collect();
    broken.sort_unstable();
    broken.dedup();
    if !broken.is_empty() {
        report.line("");
        report.line(
            "Linux in software breaks these assumptions, so that a frame can be later there:",
        );
        report.lines(broken.iter().map(|it| format!("* {it}")));
    }
    report.line("docs/bounds.md derives the bounds.");
}

fn flow_table(rows: &[Row], first: &Row, shown: &[(&Row, &FlowBound)]) -> Table {
    let answers = first
        .bounds
        .flows
        .first()
        .map(|flow| flow.answers.as_slice());
    let answers = answers.filter(|answers| answers.len() > 1);
    let settings = first.settings.iter().enumerate();
    // Swept numbers are aligned at their last digits.
    let settings = settings.map(|(index, (parameter, _))| {
        let mut values = rows.iter().filter_map(|row| row.settings.get(index));
        let name = parameter_name(parameter);
        match values.all(|(_, value)| value.starts_with(|c: char| c.is_ascii_digit() || c == '-')) {
            true => Column::number(name),
            false => Column::text(name),
        }
    });
    let mut columns: Vec<Column> = settings.collect();
    columns.push(Column::text("flow"));
    columns.extend(["delay", "jitter"].map(|name| Column::number(name).unit(MICROS)));
    let analyses = answers.into_iter().flatten();
    columns.extend(analyses.map(|(analysis, _)| Column::number(analysis.name()).unit(MICROS)));
    columns.push(Column::text("reason"));
    let mut table = Table::new(columns);
    for (row, flow) in shown {
        let settings = || row.settings.iter().map(|(_, value)| value.clone());
        table.row(settings().chain(flow_cells(flow, answers.is_some(), row.model)));
        if let Some(delay) = &flow.application_round_trip
            && !flow.is_unknown()
        {
            let name = format!("{} (application round trip)", flow.name);
            table.row(settings().chain([name, time(delay, row.model)]));
        }
    }
    table
}

/// Returns the reasons why analyses do not apply to a flow, each of them once.
fn not_applicable(rows: &[Row]) -> std::collections::BTreeSet<(&'static str, String)> {
    let flows = rows.iter().flat_map(|row| &row.bounds.flows);
    let answers = flows.flat_map(|flow| &flow.answers);
    answers
        .filter_map(|(analysis, answer)| Some((analysis.name(), answer.clone().err()?)))
        .collect()
}

fn flow_cells(flow: &FlowBound, with_analyses: bool, model: BoundsModel) -> Vec<String> {
    let time = |delay: &Extended| time(delay, model);
    let kind = if flow.round_trip {
        " (wire round trip)"
    } else {
        ""
    };
    let mut cells = vec![format!("{}{kind}", flow.name)];
    if flow.is_unknown() {
        cells.extend(["-".to_owned(), "-".to_owned()]);
    } else {
        cells.extend([time(&flow.delay), time(&flow.jitter)]);
    }
    if with_analyses {
        let answers = flow.answers.iter();
        cells.extend(
            answers.map(|(_, answer)| answer.as_ref().map_or_else(|_| "-".to_owned(), time)),
        );
    }
    cells.push(match &flow.infinite {
        _ if flow.is_unknown() => "no analysis applies".to_owned(),
        Some(why) => why.to_string(),
        None => String::new(),
    });
    cells
}

fn port_table(queues: &[&QueueBound], model: BoundsModel) -> Table {
    let mut table = Table::new([
        Column::text("port"),
        Column::text("class"),
        Column::number("delay").unit(MICROS),
        Column::number("backlog").unit("B"),
        Column::number("utilisation").unit("%"),
        Column::text("reason"),
    ]);
    for queue in queues {
        let backlog = bytes(&queue.backlog);
        let reason = queue.infinite.as_ref().map(|why| why.reason.clone());
        table.row([
            queue.port_name.clone(),
            queue.class_name.clone(),
            time(&queue.delay, model),
            backlog.map_or_else(|| "infinite".to_owned(), |bytes| bytes.to_string()),
            percent(&queue.utilisation),
            reason.unwrap_or_default(),
        ]);
    }
    table
}

/// Returns microseconds with three digits after the point.
fn time(time: &Extended, model: BoundsModel) -> String {
    let Some(nanos) = whole(time, 1_000_000_000, model) else {
        return "infinite".to_owned();
    };
    // Four digits at least: one before the point, and three behind it.
    let padded = format!("{nanos:0>4}");
    let (whole, fraction) = padded.split_at(padded.len() - 3);
    format!("{whole}.{fraction}")
}

/// Returns data in whole bytes on the wire, rounded up; `None` if infinite.
pub(super) fn bytes(bits: &Extended) -> Option<u64> {
    let bytes = bits.finite()? / Rational::from(8);
    bytes.ceil().to_string().parse().ok()
}

fn percent(share: &Extended) -> String {
    match share.finite() {
        None => "infinite".to_owned(),
        Some(share) => {
            let tenths = (share * Rational::from(1000)).floor().to_string();
            let padded = format!("{tenths:0>2}");
            let (whole, tenth) = padded.split_at(padded.len() - 1);
            format!("{whole}.{tenth}")
        }
    }
}
