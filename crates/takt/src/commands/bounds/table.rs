//! Bounds as tables.

use takt_calculus::{Extended, FlowBound, QueueBound, Rational};
use takt_scenario::BoundsModel;

use super::Row;
use crate::output;

/// Without a sweep: flows, ports and assumptions. Of sweeps, a row for each combination and flow.
pub(super) fn print(rows: &[Row]) {
    let Some(first) = rows.first() else {
        return;
    };
    let analyses: Vec<&str> = first
        .bounds
        .flows
        .first()
        .map(|flow| {
            flow.answers
                .iter()
                .map(|(analysis, _)| analysis.name())
                .collect()
        })
        .unwrap_or_default();
    let title = [
        first.scenario.name.as_str(),
        first.scenario.description.as_str(),
    ];
    output::line(title.join(": ").trim_end_matches(": "));
    let model = match first.model {
        BoundsModel::Sound => "sound",
        BoundsModel::Paper => "paper (not sound: see the assumptions)",
    };
    output::line(format!("times in \u{b5}s; model {model}\n"));
    let mut heading: Vec<String> = first
        .settings
        .iter()
        .map(|(parameter, _)| last(parameter))
        .collect();
    heading.push("flow".to_owned());
    heading.extend(["delay", "jitter"].map(str::to_owned));
    if analyses.len() > 1 {
        heading.extend(analyses.iter().map(|name| (*name).to_owned()));
    }
    heading.push("reason".to_owned());
    let mut lines = vec![heading];
    for row in rows {
        for flow in &row.bounds.flows {
            let mut line: Vec<String> = row
                .settings
                .iter()
                .map(|(_, value)| value.clone())
                .collect();
            line.extend(flow_cells(flow, analyses.len() > 1));
            lines.push(line);
        }
    }
    print_aligned(&lines);
    for (name, reason) in not_applicable(rows) {
        output::line(format!("- {name}: {reason}"));
    }
    if rows.len() == 1 {
        output::line("");
        print_ports(&first.bounds.queues);
    }
    output::line("\nAssumed, and not checked:");
    for assumption in &first.bounds.assumptions {
        output::line(format!("* {assumption}"));
    }
    output::line("docs/bounds.md derives the bounds.");
}

/// Why analyses say nothing of a flow, each reason once.
fn not_applicable(rows: &[Row]) -> std::collections::BTreeSet<(&'static str, String)> {
    let flows = rows.iter().flat_map(|row| &row.bounds.flows);
    let answers = flows.flat_map(|flow| &flow.answers);
    answers
        .filter_map(|(analysis, answer)| Some((analysis.name(), answer.clone().err()?)))
        .collect()
}

fn flow_cells(flow: &FlowBound, with_analyses: bool) -> Vec<String> {
    let kind = if flow.round_trip { " (round trip)" } else { "" };
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

fn print_ports(queues: &[QueueBound]) {
    let heading = ["port", "class", "delay", "backlog", "utilisation", "reason"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for queue in queues {
        lines.push(vec![
            queue.port_name.clone(),
            queue.class_name.clone(),
            time(&queue.delay),
            bytes(&queue.backlog)
                .map_or_else(|| "infinite".to_owned(), |bytes| format!("{bytes} B")),
            percent(&queue.utilisation),
            queue
                .infinite
                .as_ref()
                .map_or_else(String::new, |why| why.reason.clone()),
        ]);
    }
    print_aligned(&lines);
}

/// The name of the field that a path leads to.
fn last(parameter: &str) -> String {
    parameter.rsplit('.').next().unwrap_or(parameter).to_owned()
}

/// Microseconds with three digits behind the point, truncated.
fn time(time: &Extended) -> String {
    let Some(time) = time.finite() else {
        return "infinite".to_owned();
    };
    let nanos = (time * Rational::from(1_000_000_000)).floor().to_string();
    let padded = format!("{nanos:0>4}");
    let (whole, fraction) = padded.split_at(padded.len() - 3);
    format!("{whole}.{fraction}")
}

/// Whole bytes on the wire, rounded up; `None` if infinite.
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
            format!("{whole}.{tenth} %")
        }
    }
}

/// Columns as wide as their widest cell; those with numbers to the right.
fn print_aligned(lines: &[Vec<String>]) {
    let columns = lines.first().map_or(0, Vec::len);
    let cells = |column: usize| lines.iter().filter_map(move |line| line.get(column));
    let width = |column: usize| {
        cells(column)
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let is_number = |cell: &String| {
        cell.starts_with(|c: char| c.is_ascii_digit() || c == '-') || cell == "infinite"
    };
    // The last column is a reason, which may begin with a number as well.
    let right: Vec<bool> = (0..columns)
        .map(|column| column + 1 < columns && cells(column).skip(1).all(is_number))
        .collect();
    for line in lines {
        let mut text = String::new();
        for ((cell, width), right) in line.iter().zip(&widths).zip(&right) {
            let padded = if *right {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            };
            text.push_str(&padded);
            text.push_str("  ");
        }
        output::line(text.trim_end());
    }
}
