//! `takt report`: bound, simulation and measurement of runs in one HTML file.

use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;
use serde_json::json;
use takt_figures::{Progress, Report};
use takt_report::{
    ComparedRun, ComparisonError, ComparisonOptions, ReportFailure, ReportFileError, Requirement,
    RunReport, RunSample,
};

use crate::arguments::ReportArguments;
use crate::{explain, output};

pub(super) fn run(arguments: &ReportArguments) -> miette::Result<()> {
    let mut report = Report::new(output::line, arguments.json);
    if arguments.requirements {
        report.table(&takt_report::requirements());
        for requirement in Requirement::ALL {
            let row = json!({
                "name": requirement.name,
                "title": requirement.title,
                "source": requirement.source,
            });
            report.row(&row).into_diagnostic()?;
        }
        return Ok(());
    }
    let runs = read(arguments)?;
    let files = RunReport::of(&runs, &arguments.required, arguments.all);
    let page = page(arguments);
    files.write(&page).map_err(not_written)?;
    if let Some(directory) = &arguments.pictures {
        files.write_pictures(directory).map_err(not_written)?;
    }
    for run in &runs {
        takt_report::print(run, &arguments.required, &mut report).into_diagnostic()?;
    }
    report.line(page.display().to_string());
    finish(&runs)
}

/// Reads all runs, and writes their samples into the Parquet file that is wanted.
fn read(arguments: &ReportArguments) -> miette::Result<Vec<ComparedRun>> {
    #[cfg(feature = "parquet")]
    let mut samples = arguments
        .parquet
        .as_deref()
        .map(crate::delay_file::Delays::create)
        .transpose()?;
    let mut sink = |sample: &RunSample<'_>| {
        #[cfg(feature = "parquet")]
        if let Some(samples) = &mut samples {
            samples.add(sample);
        }
        #[cfg(not(feature = "parquet"))]
        let _ = sample;
    };
    let options = ComparisonOptions {
        trim: arguments.trim,
    };
    let mut runs = Vec::with_capacity(arguments.directories.len());
    for directory in &arguments.directories {
        runs.push(read_run(directory, &options, &mut sink)?);
    }
    #[cfg(feature = "parquet")]
    if let Some(samples) = samples {
        samples.finish()?;
    }
    Ok(runs)
}

fn read_run(
    directory: &Path,
    options: &ComparisonOptions,
    sink: &mut dyn FnMut(&RunSample<'_>),
) -> miette::Result<ComparedRun> {
    let mut display = None;
    let mut progress = |case: usize, of: usize| {
        let of = u32::try_from(of).unwrap_or(u32::MAX);
        let display = display.get_or_insert_with(|| Progress::new("case", of));
        // `show` adds 1.
        display.show(u32::try_from(case).unwrap_or(u32::MAX - 1));
    };
    let run = ComparedRun::read(directory, options, &mut progress, sink);
    drop(display);
    run.map_err(|error| {
        let help = match &error {
            ComparisonError::Directory(_) => {
                "Name the directory of a run: that with run.json, which `takt lab run` makes. `takt analyze` takes single files."
            }
            ComparisonError::Io { .. } | ComparisonError::Scenario { .. } => {
                "The directory needs the copy of its scenario, with its histograms beside it. Run it again with `takt lab run`."
            }
        };
        explain::with_help(error, help)
    })
}

/// Returns the path of the page.
fn page(arguments: &ReportArguments) -> PathBuf {
    match (&arguments.file, arguments.directories.as_slice()) {
        (Some(file), _) => file.clone(),
        (None, [only]) => only.join("report.html"),
        (None, _) => PathBuf::from("report.html"),
    }
}

fn not_written(error: ReportFileError) -> miette::Report {
    let help = match &error {
        ReportFileError::Page { .. } => {
            "Use --to with a file in an existing directory with enough free space."
        }
        ReportFileError::Directory { .. } => "Use --pictures with another directory.",
        ReportFileError::Picture(_) => {
            "Use --pictures with a directory that this user may write to, and check for free space."
        }
    };
    explain::with_help(error, help)
}

/// Returns an error if a measurement or a simulation is above its bound, or if files cannot be read.
fn finish(runs: &[ComparedRun]) -> miette::Result<()> {
    let Some(failure) = ReportFailure::of(runs) else {
        return Ok(());
    };
    let help = match &failure {
        ReportFailure::AboveBound { .. } => {
            "The report begins with them. Either an assumption of the bound does not hold in the run (late threads, wrong clocks, \
             other traffic), or the bound is wrong."
        }
        ReportFailure::Damaged { .. } => {
            "The report begins with the reasons. Run the scenario again with `takt lab run`."
        }
    };
    Err(explain::with_help(failure, help))
}
