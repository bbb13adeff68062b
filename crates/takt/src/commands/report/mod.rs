//! `takt report`: bound, simulation and measurement of runs in one HTML file.

mod boxes;
mod details;
mod entries;
mod json;
mod page;
mod pictures;
mod tables;

use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;
use takt_comparison::{
    ComparedRun, ComparisonError, ComparisonOptions, Requirement, RoundTripKind, RunSample,
};
use takt_figures::{Column, Progress, Report, Table};

use crate::arguments::ReportArguments;
use crate::{explain, output};
use entries::Entries;

pub(super) fn run(arguments: &ReportArguments) -> miette::Result<()> {
    let mut report = Report::new(output::line, arguments.json);
    if arguments.requirements {
        report.table(&requirements());
        return Ok(());
    }
    let runs = read(arguments)?;
    let composed = page::compose(&runs, &arguments.required, arguments.all);
    let file = file(arguments);
    std::fs::write(&file, composed.page.html()).map_err(|error| {
        explain::with_help(
            format!("cannot write {}: {error}", file.display()),
            "Use --to with a file in an existing directory with enough free space.",
        )
    })?;
    if let Some(directory) = &arguments.pictures {
        std::fs::create_dir_all(directory).map_err(|error| {
            explain::with_help(
                format!("cannot make {}: {error}", directory.display()),
                "Use --pictures with another directory.",
            )
        })?;
        for picture in &composed.pictures {
            pictures::write(directory, picture)?;
        }
    }
    for run in &runs {
        print(run, arguments, &mut report)?;
    }
    report.line(file.display().to_string());
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

/// Returns the name of the file to write.
fn file(arguments: &ReportArguments) -> PathBuf {
    match (&arguments.file, arguments.directories.as_slice()) {
        (Some(file), _) => file.clone(),
        (None, [only]) => only.join("report.html"),
        (None, _) => PathBuf::from("report.html"),
    }
}

/// Returns the table of all requirements.
fn requirements() -> Table {
    let columns = ["name", "requirement", "source"];
    let mut table = Table::new(columns.map(Column::text));
    for requirement in Requirement::ALL {
        table.row([requirement.name, requirement.title, requirement.source]);
    }
    table
}

/// Prints the comparison of a run.
fn print(
    run: &ComparedRun,
    arguments: &ReportArguments,
    report: &mut Report<impl FnMut(String)>,
) -> miette::Result<()> {
    let entries = Entries::of(run);
    report.note(&format!(
        "{}: {}",
        run.description.scenario,
        page::origin(run)
    ));
    for reason in &run.not_comparable {
        report.note(&format!("not comparable: {reason}"));
    }
    for kind in RoundTripKind::ALL {
        report.line(format!("\nround trip ({})", kind.name()));
        report.table(&tables::round_trips(run, &entries, kind));
    }
    for requirement in &arguments.required {
        report.line(format!("\n{} ({})", requirement.title, requirement.source));
        report.table(&tables::requirement(&entries, requirement));
    }
    report.line("");
    for entry in &entries.all {
        for trip in &entry.application.round_trips {
            let row = json::of(run, entry, trip, &arguments.required);
            report.row(&row).into_diagnostic()?;
        }
    }
    Ok(())
}

/// Returns an error if a measurement is above its bound, or if files cannot be read.
fn finish(runs: &[ComparedRun]) -> miette::Result<()> {
    let violations: usize = runs.iter().map(ComparedRun::violations).sum();
    if violations > 0 {
        let what = match violations {
            1 => "a measurement is above its sound bound".to_owned(),
            count => format!("{count} measurements are above their sound bounds"),
        };
        return Err(explain::with_help(
            what,
            "The report begins with them. Either an assumption of the bound does not hold in the run (late threads, wrong clocks, \
             other traffic), or the bound is wrong.",
        ));
    }
    let damaged = runs.iter().find(|run| run.is_damaged());
    damaged.map_or(Ok(()), |run| {
        Err(explain::with_help(
            format!(
                "files of {} are missing or damaged",
                run.directory.display()
            ),
            "The report begins with the reasons. Run the scenario again with `takt lab run`.",
        ))
    })
}
