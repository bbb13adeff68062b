//! `takt analyze`: quantities of a run from its trace files and captures.

mod csv;
mod json;
mod quantity;
mod run_case;
mod table;

use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;
use takt_analysis::{
    AnalysisError, AnalysisOptions, CapturePort, RunAnalysis, RunFileFormat, SentStamp,
    files_of_run,
};
use takt_figures::Report;

use crate::arguments::AnalyzeArguments;
use crate::{explain, output};

pub fn run(arguments: &AnalyzeArguments) -> miette::Result<()> {
    let files = files(arguments)?;
    let options = AnalysisOptions {
        trim: arguments.trim,
        synchronized: arguments.synchronized,
    };
    let run = analyze(arguments, &files, &options)?;
    if let Some(path) = &arguments.csv {
        csv::write(path, &run)?;
    }
    let mut report = Report::new(output::line, arguments.json);
    if arguments.json {
        report.row(&json::of(&run)).into_diagnostic()?;
    }
    // With JSON, only the remarks are left of it: they go to the log.
    table::print(&run, &mut report);
    let mut damage = run.files.iter();
    match damage.find_map(|file| Some((file, file.damage.as_ref()?))) {
        Some((file, damage)) => Err(explain::with_help(
            format!("{} was not read to its end: {damage}", file.path.display()),
            "The records before the damage were counted. Losses are unknown.",
        )),
        None => Ok(()),
    }
}

/// Analyzes the files, and writes their delays into the Parquet file that is wanted.
fn analyze(
    arguments: &AnalyzeArguments,
    files: &[(PathBuf, CapturePort)],
    options: &AnalysisOptions,
) -> miette::Result<RunAnalysis> {
    #[cfg(feature = "parquet")]
    if let Some(path) = &arguments.parquet {
        let mut delays = crate::delay_file::Delays::create(path)?;
        let run = RunAnalysis::observed(files, options, &mut delays);
        let run = run.map_err(|error| explained(&error))?;
        delays.finish()?;
        return Ok(run);
    }
    #[cfg(not(feature = "parquet"))]
    let _ = arguments;
    RunAnalysis::of(files, options).map_err(|error| explained(&error))
}

/// Returns the files of the arguments and of directories in them, with the ports of captures.
fn files(arguments: &AnalyzeArguments) -> miette::Result<Vec<(PathBuf, CapturePort)>> {
    let mut files: Vec<(PathBuf, CapturePort)> = Vec::new();
    let mut is_case = false;
    for path in &arguments.files {
        if !path.is_dir() {
            files.push((path.clone(), CapturePort::default()));
            continue;
        }
        match run_case::files(path, arguments.application.as_deref())? {
            Some(known) => {
                is_case = true;
                files.extend(known);
            }
            None => files.extend(files_of_run(path).map_err(|error| explained(&error))?),
        }
    }
    if let (Some(name), false) = (&arguments.application, is_case) {
        return Err(explain::with_help(
            format!(
                "--application {name}: only the directory of a case of `takt lab run` has applications"
            ),
            "Choose the senders in captures with --publisher-id and --loopback-id.",
        ));
    }
    for path in &arguments.at_loopback {
        let port = CapturePort {
            is_loopback: true,
            ..taken(&mut files, path)?
        };
        files.push((path.clone(), port));
    }
    for path in &arguments.card_stamps {
        let port = CapturePort {
            has_card_stamps: true,
            sent_stamp: SentStamp::FirstBit,
            ..taken(&mut files, path)?
        };
        files.push((path.clone(), port));
    }
    for (_, port) in &mut files {
        let given = &arguments.publisher_id;
        port.publisher_id = given.clone().or_else(|| port.publisher_id.take());
        let given = &arguments.loopback_id;
        port.loopback_id = given.clone().or_else(|| port.loopback_id.take());
    }
    Ok(files)
}

/// Takes a capture that an option names out of the files, and returns what is known of its port: it may be among them already, in a
/// directory of the arguments.
fn taken(files: &mut Vec<(PathBuf, CapturePort)>, path: &Path) -> miette::Result<CapturePort> {
    let format = RunFileFormat::of(path).map_err(|error| explained(&error))?;
    if format == Some(RunFileFormat::Trace) {
        return Err(explain::with_help(
            format!("{} is a trace, not a capture", path.display()),
            "Name captures of tcpdump with --card-stamps and --at-loopback, and the trace without an option.",
        ));
    }
    let whole = path.canonicalize().ok();
    let is_it =
        |known: &Path| known == path || (whole.is_some() && known.canonicalize().ok() == whole);
    let found = files.iter().find(|(known, _)| is_it(known));
    let port = found.map(|(_, port)| port.clone()).unwrap_or_default();
    files.retain(|(known, _)| !is_it(known));
    Ok(port)
}

fn explained(error: &AnalysisError) -> miette::Report {
    let help = match error {
        AnalysisError::TooShort { messages, .. } => {
            let most = messages.saturating_sub(1) / 2;
            return explain::with_help(
                error,
                format!(
                    "--trim 0 counts all messages; with this run, --trim may be {most} at most."
                ),
            );
        }
        AnalysisError::SeveralSenders { .. } => {
            "Choose with --publisher-id and --loopback-id, or capture with a filter."
        }
        AnalysisError::SamePoint { .. } => {
            "Analyze each run alone. For a capture at the port of the loopback, use --at-loopback FILE."
        }
        AnalysisError::NoMessages => {
            "`takt publish SCENARIO --trace FILE` and `takt loopback SCENARIO --trace FILE` write traces. In captures, \
             the first field of a message must be an integer, and the message must not be encrypted."
        }
        _ => "docs/analysis.md describes the files.",
    };
    explain::with_help(error, help)
}
