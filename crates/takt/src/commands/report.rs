//! `takt report`: bound, simulation and measurement of runs, and results of campaigns, in one HTML file.

use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;
use serde_json::json;
use takt_figures::{Progress, Report};
use takt_report::{
    ComparedRun, ComparisonError, ComparisonOptions, ReportFailure, ReportFileError,
    ReportedCampaign, Requirement, RunReport, RunSample,
};

use crate::arguments::ReportArguments;
use crate::commands::campaign::advice as campaign_advice;
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
    let (of_campaigns, of_runs): (Vec<&PathBuf>, Vec<&PathBuf>) = arguments
        .directories
        .iter()
        .partition(|it| ReportedCampaign::is_in(it));
    if of_campaigns.is_empty() && !arguments.quantities.is_empty() {
        return Err(explain::with_help(
            "--quantity chooses quantities of campaigns, and there is none",
            "Leave it out, or name the directory of a campaign: that with campaign.json.",
        ));
    }
    let runs = read(arguments, &of_runs)?;
    let campaigns = of_campaigns.iter();
    let campaigns = campaigns.map(|it| campaign(it, &arguments.quantities));
    let campaigns = campaigns.collect::<miette::Result<Vec<_>>>()?;
    let (required, all) = (&arguments.required, arguments.all);
    let files = RunReport::with_campaigns(&runs, &campaigns, required, all);
    let page = page(arguments);
    files.write(&page).map_err(not_written)?;
    if let Some(directory) = &arguments.pictures {
        files.write_pictures(directory).map_err(not_written)?;
    }
    for run in &runs {
        takt_report::print(run, &arguments.required, &mut report).into_diagnostic()?;
    }
    for campaign in &campaigns {
        takt_report::print_campaign(campaign, &arguments.required, &mut report)
            .into_diagnostic()?;
    }
    report.line(page.display().to_string());
    finish(&runs)
}

/// Reads all runs, and writes their samples into the Parquet file that is wanted.
fn read(arguments: &ReportArguments, directories: &[&PathBuf]) -> miette::Result<Vec<ComparedRun>> {
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
    let mut runs = Vec::with_capacity(directories.len());
    for directory in directories {
        runs.push(read_run(directory, &options, &mut sink)?);
    }
    #[cfg(feature = "parquet")]
    if let Some(samples) = samples {
        samples.finish()?;
    }
    Ok(runs)
}

/// Reads the result of a campaign.
fn campaign(directory: &Path, quantities: &[String]) -> miette::Result<ReportedCampaign> {
    let campaign = ReportedCampaign::read(directory, quantities);
    let campaign = campaign.map_err(|error| campaign_advice::explained(&error))?;
    match campaign.summary.absent.first() {
        Some(unknown) if quantities.contains(unknown) => Err(explain::with_help(
            format!("no row has the quantity `{unknown}`"),
            format!("Its quantities are {}.", campaign.summary.known.join(", ")),
        )),
        _ => Ok(campaign),
    }
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
                "Name the directory of a run: that with run.json, which `takt lab run` makes; or of a campaign: that with campaign.json. \
                 `takt analyze` takes single files."
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
