//! Benchmark of one request and its response: in this process, over shared memory, over TCP; ours, a foreign server's, and the
//! floor of each; Methods and callbacks of a Provider, inline and on a worker thread.
//!
//! Floors and subjects are measured in turns. Each round has fresh server processes and the opposite order of the previous round,
//! so that a temporary disturbance of the machine affects all of them. Client and server are pinned to one core or to two, and
//! have a real-time policy where the user may set it. Round trips are back to back. At one request per millisecond, all
//! mechanisms that sleep take about twice as long, because cores go idle.

mod filter;
pub mod handling;
mod options;
mod provider;
mod rounds;
mod row;
mod subjects;
mod table;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

pub use options::Options;
pub use row::Row;

use filter::Filter;
use takt_rt::child::{ChildProcess, Ending};

use crate::error::BenchError;
use crate::pair::{OPEN62541, Setting};
use crate::payload::Payload;
use crate::process;
use crate::programs;
use crate::seat::CorePair;

/// Runs the benchmark and passes each line of its result to `line`. It takes about half a minute with the default options.
///
/// # Errors
/// [`BenchError`]; [`BenchError::Interrupted`] soon after `interrupted` is set. No process is left behind.
pub fn run(
    options: &Options,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), BenchError> {
    let program = programs::own()?;
    let handling = programs::beside(handling::PROGRAM);
    let open62541 = programs::beside(OPEN62541);
    let filter = Filter::new(options.only.as_deref());
    let mut report = takt_profile::results(line, options.json);
    let setting = Setting {
        program: &program,
        open62541: open62541.as_deref(),
        cores: CorePair::choose()?,
        payloads: &Payload::ALL,
    };
    let pairs = subjects::pairs(&setting);
    let wanted = rounds::wanted(&pairs, &filter);
    if wanted.is_empty() && !handling::is_wanted(&filter) && !provider::is_wanted(&filter) {
        return Err(BenchError::NoMatch(
            options.only.clone().unwrap_or_default(),
        ));
    }
    for note in notes(&setting, handling.is_some()) {
        report.note(&note);
    }
    if handling::is_wanted(&filter) {
        let rows = handling_rows(options, handling.as_deref(), interrupted)?;
        let rows = matching(&rows, &filter);
        report.line("");
        report.line("Handling of a request, without a transport:");
        report.table(&table::handling(&rows));
        for row in &rows {
            report.row(row)?;
        }
    }
    if provider::is_wanted(&filter) {
        let rows = provider::measure(options.samples, options.rounds, interrupted)?;
        let rows = matching(&rows, &filter);
        report.line("");
        report.line("Methods and callbacks of a Provider, inline and on a worker thread:");
        report.table(&table::operations(&rows));
        for row in &rows {
            report.row(row)?;
        }
    }
    let rows = rounds::run(options, &setting, &pairs, &wanted, interrupted)?;
    if !rows.is_empty() {
        report.line("");
        report.line("Round trips:");
        report.table(&table::round_trips(&rows));
    }
    for row in &rows {
        report.row(row)?;
    }
    Ok(())
}

/// Returns the rows that match the filter, and their floors.
fn matching(rows: &[Row], filter: &Filter) -> Vec<Row> {
    let floors: Vec<String> = rows
        .iter()
        .filter(|row| filter.matches(&row.label()))
        .filter_map(|row| row.floor.clone())
        .collect();
    let is_floor = |row: &Row| floors.contains(&row.mechanism());
    let wanted = |row: &&Row| filter.matches(&row.label()) || is_floor(row);
    rows.iter().filter(wanted).cloned().collect()
}

/// Returns the rows of [`handling`], from the program that counts allocations if it exists.
fn handling_rows(
    options: &Options,
    program: Option<&Path>,
    interrupted: &AtomicBool,
) -> Result<Vec<Row>, BenchError> {
    let Some(program) = program else {
        return handling::measure(options.samples, options.rounds, None, interrupted);
    };
    let failed = |reason: String| BenchError::Process {
        what: handling::PROGRAM.to_owned(),
        reason,
    };
    let mut command = Command::new(program);
    command.args([options.samples.to_string(), options.rounds.to_string()]);
    let child = ChildProcess::start(handling::PROGRAM, &mut command, Ending::Signal);
    let finished = child.and_then(|child| child.finish(interrupted));
    let (lines, status) = finished.map_err(process::failed(handling::PROGRAM))?;
    if !status.success() {
        return Err(failed(format!("ended with {status}")));
    }
    let row = |line: &String| {
        serde_json::from_str(line).map_err(|error| failed(format!("printed {line:?}: {error}")))
    };
    lines.iter().map(row).collect()
}

/// Returns remarks for readers of the figures.
fn notes(setting: &Setting<'_>, counts_allocations: bool) -> Vec<String> {
    let mut notes = setting.notes();
    if !counts_allocations {
        notes.push(format!(
            "Allocations are not counted: {} is not beside this program.",
            handling::PROGRAM
        ));
    }
    notes
}
