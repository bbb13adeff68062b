//! Results of a run for people: a table of all cases, and losses by place.

use std::collections::BTreeMap;
use std::path::Path;

use takt_analysis::SentStamp;
use takt_figures::{Column, Table};
use takt_lab::run_directory::{RunCase, RunDescription};
use takt_lab::{ApplicationSummary, CaseRecord, RoundTripQuantiles, summarize};

use crate::explain::{shell_path, shell_word};
use crate::output;

/// Prints the results of all cases, and the commands that show more.
pub(super) fn print(directory: &Path, description: &RunDescription) {
    let several = description
        .cases
        .iter()
        .any(|case| case.applications.len() > 1);
    let mut columns = vec![Column::number("case")];
    columns.extend(several.then(|| Column::text("application")));
    columns.extend(["sent", "returned", "lost"].map(Column::number));
    for kind in ["application", "wire"] {
        let group = format!("{kind} (\u{b5}s)");
        let quantities = ["median", "p99", "max"].map(Column::number);
        columns.extend(quantities.map(|column| column.group(&group)));
    }
    let mut table = Table::new(columns);
    let mut remarks = Vec::new();
    let applications = description.cases.iter().flat_map(|case| &case.applications);
    let mut one_way: Vec<&str> = Vec::new();
    for application in applications.filter(|it| it.one_way) {
        if !one_way.contains(&application.name.as_str()) {
            one_way.push(&application.name);
        }
    }
    if !one_way.is_empty() {
        let names = one_way.join(", ");
        remarks.push(format!(
            "one way, from T1 to T4 and from T2 to T3, and \"returned\" is the number that arrived: {names}"
        ));
    }
    for (number, case) in (1..).zip(&description.cases) {
        if case.failure.is_some() {
            continue;
        }
        let summaries = match summarize(&directory.join(&case.directory), case) {
            Ok(summaries) => summaries,
            Err(error) => {
                remarks.push(format!("case {number}: {error}"));
                continue;
            }
        };
        for summary in &summaries {
            let mut cells = vec![number.to_string()];
            cells.extend(several.then(|| summary.name.clone()));
            cells.extend([summary.sent.to_string(), summary.returned.to_string()]);
            cells.push(summary.lost().map_or_else(dash, |lost| lost.to_string()));
            for quantiles in [summary.application, summary.wire] {
                cells.extend(shown(quantiles));
            }
            table.row(cells);
            remarks.extend(losses(number, summary));
        }
        remarks.extend(counts(number, directory, case));
    }
    output::line("");
    output::line(format_args!(
        "round trip of the application (T1 to T8) and on the wire (T2 to T7){}",
        stamp(directory, description)
    ));
    table.lines(None).iter().for_each(output::line);
    remarks.iter().for_each(output::line);
    let first = description.cases.iter().find(|case| case.failure.is_none());
    if let Some(first) = first {
        let case = directory.join(&first.directory);
        let application = match first.applications.first() {
            Some(first) if several => format!(" --application {}", shell_word(&first.name)),
            _ => String::new(),
        };
        output::line("");
        output::line(format_args!(
            "takt analyze {} --synchronized --trim 0{application}",
            shell_path(&case)
        ));
        output::line(format_args!("takt report {}", shell_path(directory)));
    }
}

/// Returns the time that T2 is, in words.
fn stamp(directory: &Path, description: &RunDescription) -> &'static str {
    let mut ran = description.cases.iter().filter(|it| it.failure.is_none());
    let record = ran.find_map(|case| CaseRecord::read(&directory.join(&case.directory)).ok());
    match record.map(|record| record.sent_stamp) {
        Some(SentStamp::FirstBit) => "; T2 is the first bit",
        Some(SentStamp::Driver) => "; T2 is when the driver gets the frame",
        Some(SentStamp::Unknown) | None => "",
    }
}

fn dash() -> String {
    "-".to_owned()
}

fn shown(quantiles: Option<RoundTripQuantiles>) -> [String; 3] {
    match quantiles {
        None => [dash(), dash(), dash()],
        Some(quantiles) => [quantiles.median, quantiles.p99, quantiles.max]
            .map(|nanos| format!("{:.1}", nanos as f64 / 1e3)),
    }
}

/// Returns the losses of an application by place.
fn losses(number: usize, summary: &ApplicationSummary) -> Vec<String> {
    let losses = summary.losses.iter().flatten();
    let losses = losses.filter(|loss| loss.count > 0);
    losses
        .map(|loss| {
            format!(
                "case {number}, {}: {} lost from {:?} to {:?}",
                summary.name, loss.count, loss.after, loss.before
            )
        })
        .collect()
}

/// Returns the number of frames at each port for the flows that do not have the same one everywhere.
fn losses_by_port(number: usize, record: &CaseRecord) -> Vec<String> {
    let mut flows: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    for capture in &record.captures {
        for (flow, frames) in &capture.flows {
            let ports = flows.entry(flow).or_default();
            ports.push((&capture.port, *frames));
        }
    }
    let differ = |ports: &[(&str, u64)]| ports.windows(2).any(|pair| pair[0].1 != pair[1].1);
    let flows = flows.into_iter().filter(|(_, ports)| differ(ports));
    flows
        .map(|(flow, mut ports)| {
            // Most frames first: the order of the way.
            ports.sort_by_key(|(_, frames)| std::cmp::Reverse(*frames));
            let ports = ports
                .iter()
                .map(|(port, frames)| format!("{port} {frames}"));
            let ports = ports.collect::<Vec<_>>().join(", ");
            format!("case {number}, {flow}: frames by port: {ports}")
        })
        .collect()
}

/// Returns the counts that are no round trips: cross traffic, frames that captures lack, remarks.
fn counts(number: usize, directory: &Path, case: &RunCase) -> Vec<String> {
    let record = match CaseRecord::read(&directory.join(&case.directory)) {
        Ok(record) => record,
        Err(error) => return vec![format!("case {number}: {error}")],
    };
    let mut lines = Vec::new();
    for flow in &record.cross_traffic {
        let late = match flow.late {
            0 => String::new(),
            late => format!(", {late} not sent in time"),
        };
        lines.push(format!(
            "case {number}, {}: {} frames sent, {} refused, {} arrived{late}",
            flow.name, flow.sent, flow.refused, flow.received
        ));
    }
    lines.extend(losses_by_port(number, &record));
    for end in record.ends.iter().filter(|end| end.overruns > 0) {
        lines.push(format!(
            "case {number}, {}: cycles that the {} skipped: {}",
            end.application, end.end, end.overruns
        ));
    }
    for end in record.ends.iter().filter(|end| end.clock_steps > 0) {
        lines.push(format!(
            "case {number}, {}: times that the clock of the {} was set: {}",
            end.application, end.end, end.clock_steps
        ));
    }
    for capture in record.captures.iter().filter(|it| it.lost > 0) {
        lines.push(format!(
            "case {number}: the capture {} lacks {} frames",
            capture.file, capture.lost
        ));
    }
    // They are the same in all cases.
    if number == 1 {
        lines.extend(record.remarks);
    }
    lines
}

#[cfg(test)]
mod tests {
    use takt_lab::CaptureRecord;

    use super::*;

    #[test]
    fn ports_are_shown_where_frames_were_lost() {
        let capture = |port: &str, load: u64| CaptureRecord {
            port: port.to_owned(),
            flows: vec![("control".to_owned(), 9), ("load".to_owned(), load)],
            ..CaptureRecord::default()
        };
        let mut record = CaseRecord {
            captures: vec![capture("b \u{2192} c", 7), capture("a \u{2192} b", 7)],
            ..CaseRecord::default()
        };
        assert!(losses_by_port(2, &record).is_empty());
        record.captures.push(capture("c \u{2192} b", 5));
        assert_eq!(
            losses_by_port(2, &record),
            ["case 2, load: frames by port: b \u{2192} c 7, a \u{2192} b 7, c \u{2192} b 5"]
        );
    }
}
