//! `takt lab bundle DIRECTORY`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Report};
use serde_json::json;
use takt_figures::Report as Rows;
use takt_lab::bundle::{BundleError, PrivateNames, RunBundle};
use takt_report::{ComparedRun, ComparisonOptions, Requirement, RunReport};

use crate::arguments::LabBundleArguments;
use crate::{explain, output};

pub(super) fn run(arguments: &LabBundleArguments) -> miette::Result<()> {
    let directory = &arguments.directory;
    let mut bundle = RunBundle::of(directory).map_err(|error| explained(&error))?;
    let options = ComparisonOptions::default();
    // Verdicts are those of the packed files: nothing else of the directory can come into them, and whoever unpacks the archive gets
    // the same.
    let unpacked = tempfile::tempdir().into_diagnostic()?;
    bundle
        .unpack(unpacked.path())
        .map_err(|error| explained(&error))?;
    let run = ComparedRun::read(unpacked.path(), &options, &mut |_, _| {}, &mut |_| {});
    let mut run = run.map_err(|error| {
        explain::with_help(error, "`takt report` of this directory tells more.")
    })?;
    drop(unpacked);
    // The page shows the path.
    run.directory = PathBuf::from("run");
    let runs = [run];
    let mut rows = String::new();
    let mut lines = Rows::new(|line: String| rows.extend([line.as_str(), "\n"]), true);
    takt_report::print(&runs[0], &Requirement::ALL, &mut lines).into_diagnostic()?;
    drop(lines);
    bundle.add("verdicts.jsonl", rows.into_bytes());
    let page = RunReport::of(&runs, &Requirement::ALL, false).html();
    bundle.add("report.html", page.into_bytes());

    let names = PrivateNames::of_this_host().without(&arguments.allow);
    let archive = bundle.archive(&names).map_err(|error| explained(&error))?;
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => default_file(directory),
    };
    // A file that is there may be another run, or no bundle at all.
    let created = File::create_new(&file).and_then(|mut file| file.write_all(&archive));
    created.map_err(|error| {
        let help = "Name another file with --to, and check for free space.";
        explain::with_help(format!("cannot write {}: {error}", file.display()), help)
    })?;
    let count = bundle.names().count();
    let left_out = bundle.left_out();
    output::tell(
        arguments.json,
        || {
            json!({
                "file": file.display().to_string(),
                "bytes": archive.len(),
                "files": bundle.names().collect::<Vec<_>>(),
                "packetsLeftOut": left_out,
            })
        },
        format_args!(
            "{}: {count} files, {} bytes; {left_out} packets of captures are not of the run and were left out",
            file.display(),
            archive.len()
        ),
    );
    Ok(())
}

/// Returns the directory's own name with `.tar` behind it, in the current directory.
fn default_file(directory: &Path) -> PathBuf {
    let whole = directory.canonicalize();
    let whole = whole.unwrap_or_else(|_| directory.to_owned());
    let mut name = whole.file_name().unwrap_or("run".as_ref()).to_owned();
    name.push(".tar");
    PathBuf::from(name)
}

fn explained(error: &BundleError) -> Report {
    let help = match error {
        BundleError::RunDirectory(_) => {
            "Name the directory of a run: that of `takt lab run` or `takt lab collect`."
        }
        BundleError::Name { name, .. } => {
            return explain::with_help(
                error,
                format!(
                    "Nothing was packed. Rename it in the scenario, and run again. If `{name}` is a word of the run and no \
                     name there: --allow {name}."
                ),
            );
        }
        BundleError::Archive { .. } => "Run with fewer messages, or with a shorter name.",
        _ => "`takt report` of this directory tells whether the run is complete.",
    };
    explain::with_help(error, help)
}
