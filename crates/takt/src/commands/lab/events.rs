//! Output of a run for programs: one JSON object in each line. Times are in nanoseconds.

use std::path::Path;

use serde_json::{Map, Value, json};
use takt_lab::run_directory::{RunCase, RunDescription};
use takt_lab::{ApplicationSummary, CaseRecord, RoundTripQuantiles, RunObserver, summarize};

use crate::output;

/// Returns the event of a run that begins.
pub(super) fn started(scenario: &str, backend: &str, directory: &Path, cases: usize) -> Value {
    json!({
        "event": "started",
        "scenario": scenario,
        "backend": backend,
        "directory": directory.display().to_string(),
        "cases": cases,
    })
}

/// Returns the event of a run that has ended.
pub(super) fn ended(directory: &Path, failed: usize) -> Value {
    json!({
        "event": "ended",
        "directory": directory.display().to_string(),
        "failed": failed,
    })
}

/// Events of the cases of a run that have ended.
pub(super) struct CaseEvents<'a> {
    directory: &'a Path,
    /// Number of cases that were printed.
    printed: usize,
}

impl<'a> CaseEvents<'a> {
    pub(super) const fn new(directory: &'a Path) -> Self {
        Self {
            directory,
            printed: 0,
        }
    }

    /// Prints the cases that have ended since the last call.
    pub(super) fn print_new(&mut self) {
        // The file is replaced while cases run. One that cannot be read now is read again later.
        let Ok(description) = RunDescription::read(self.directory) else {
            return;
        };
        let cases = description.cases.iter().skip(self.printed);
        for case in cases.take_while(|case| case.has_ended()) {
            self.printed += 1;
            output::line(object(self.printed, self.directory, case));
        }
    }
}

impl RunObserver for CaseEvents<'_> {
    fn ends(&mut self, index: usize, _: usize, case: &RunCase) {
        self.printed = index + 1;
        output::line(object(self.printed, self.directory, case));
    }
}

fn object(number: usize, directory: &Path, case: &RunCase) -> Value {
    let directory = directory.join(&case.directory);
    let settings: Map<String, Value> = case
        .settings
        .iter()
        .map(|(field, value)| (field.clone(), value.as_str().into()))
        .collect();
    let mut remarks = Vec::new();
    let (mut applications, mut cross_traffic) = (Vec::new(), Vec::new());
    if case.failure.is_none() {
        match summarize(&directory, case) {
            Ok(summaries) => applications = summaries.iter().map(application).collect(),
            Err(error) => remarks.push(error.to_string()),
        }
        match CaseRecord::read(&directory) {
            Ok(record) => {
                cross_traffic = cross_traffic_of(&record);
                remarks.extend(record.remarks);
            }
            Err(error) => remarks.push(error.to_string()),
        }
    }
    json!({
        "event": "case",
        "case": number,
        "directory": directory.display().to_string(),
        "settings": settings,
        "messages": case.messages,
        "failure": case.failure,
        "applications": applications,
        "crossTraffic": cross_traffic,
        "remarks": remarks,
    })
}

fn application(summary: &ApplicationSummary) -> Value {
    let losses = summary.losses.iter().flatten();
    let losses = losses.filter(|loss| loss.count > 0);
    let losses = losses.map(|loss| {
        json!({
            "after": format!("{:?}", loss.after),
            "before": format!("{:?}", loss.before),
            "count": loss.count,
        })
    });
    json!({
        "application": summary.name,
        "sent": summary.sent,
        "returned": summary.returned,
        "lost": summary.lost(),
        "losses": losses.collect::<Vec<_>>(),
        "applicationRoundTripNs": summary.application.map(quantiles),
        "wireRoundTripNs": summary.wire.map(quantiles),
    })
}

fn quantiles(quantiles: RoundTripQuantiles) -> Value {
    json!({"median": quantiles.median, "p99": quantiles.p99, "max": quantiles.max})
}

fn cross_traffic_of(record: &CaseRecord) -> Vec<Value> {
    let flows = record.cross_traffic.iter().map(|flow| {
        json!({
            "name": flow.name,
            "sent": flow.sent,
            "refused": flow.refused,
            "received": flow.received,
            "late": flow.late,
        })
    });
    flows.collect()
}
