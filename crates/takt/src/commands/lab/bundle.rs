//! `takt lab bundle DIRECTORY`.

use std::fs::Permissions;
use std::io::BufWriter;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Report};
use serde_json::json;
use takt_figures::Report as Rows;
use takt_lab::bundle::{BundleError, BundleWorkplace, PrivateNames, RunBundle};
use takt_lab::uml::KernelCache;
use takt_report::{ComparedRun, ComparisonOptions, Requirement, RunReport};

use super::signals::EndAtSignal;
use crate::arguments::LabBundleArguments;
use crate::{explain, output};

pub(super) fn run(arguments: &LabBundleArguments) -> miette::Result<()> {
    let directory = &arguments.directory;
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => default_file(directory),
    };
    // A file that is there may be another run, or no bundle at all.
    if file.exists() {
        return Err(unwritten(&file, &std::io::ErrorKind::AlreadyExists.into()));
    }
    let beside = file.parent().filter(|it| !it.as_os_str().is_empty());
    let notes = KernelCache::of_environment().ok();
    let notes = notes.map(|cache| cache.bundles());
    let signals = EndAtSignal::install()?;
    let staging = BundleWorkplace::new(beside.unwrap_or(Path::new(".")), notes.as_deref());
    let staging = staging.map_err(|error| unwritten(&file, &error))?;
    let (removal, archive) = (staging.removal(), file.clone());
    let ended = move || {
        removal();
        archive.exists()
    };
    signals.start(ended, "nothing was packed")?;
    signals.outcome(packed(arguments, &staging, &file))
}

/// Packs the run, and prints the result.
fn packed(
    arguments: &LabBundleArguments,
    staging: &BundleWorkplace,
    file: &Path,
) -> miette::Result<()> {
    let directory = &arguments.directory;
    let mut bundle = RunBundle::of(directory, staging.path()).map_err(|error| explained(&error))?;
    let options = ComparisonOptions::default();
    // Verdicts are those of the packed files: nothing else of the directory can come into them, and whoever unpacks the archive gets
    // the same.
    let run = ComparedRun::read(staging.path(), &options, &mut |_, _| {}, &mut |_| {});
    let mut run = run.map_err(|error| {
        explain::with_help(error, "`takt report` of this directory tells more.")
    })?;
    // The page shows the path.
    run.directory = PathBuf::from("run");
    let runs = [run];
    let mut rows = String::new();
    let mut lines = Rows::new(|line: String| rows.extend([line.as_str(), "\n"]), true);
    takt_report::print(&runs[0], &Requirement::ALL, &mut lines).into_diagnostic()?;
    drop(lines);
    let page = RunReport::of(&runs, &Requirement::ALL, false).html();
    let added = bundle.add("verdicts.jsonl", rows.as_bytes());
    let added = added.and_then(|()| bundle.add("report.html", page.as_bytes()));
    added.map_err(|error| explained(&error))?;

    let names = PrivateNames::of_this_host().without(&arguments.allow);
    bundle.check(&names).map_err(|error| explained(&error))?;
    let length = written(&bundle, staging.path(), file)?;
    let files: Vec<String> = bundle.names().collect();
    let count = files.len();
    let left_out = bundle.left_out();
    output::tell(
        arguments.json,
        || {
            json!({
                "file": file.display().to_string(),
                "bytes": length,
                "files": files,
                "packetsLeftOut": left_out,
            })
        },
        format_args!(
            "{}: {count} files, {length} bytes; {left_out} packets of captures are not of the run and were left out",
            file.display()
        ),
    );
    Ok(())
}

/// Writes the archive, or nothing: half an archive would look like one.
fn written(bundle: &RunBundle, staging: &Path, file: &Path) -> miette::Result<u64> {
    let unwritten = |error: &std::io::Error| unwritten(file, error);
    let archive = tempfile::Builder::new()
        // As of any other file: the umask takes some away.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(staging)
        .map_err(|error| unwritten(&error))?;
    let mut output = BufWriter::new(archive);
    let length = bundle.archive(&mut output).map_err(|error| match error {
        BundleError::Write(error) => unwritten(&error),
        error => explained(&error),
    })?;
    let archive = output
        .into_inner()
        .map_err(|error| unwritten(error.error()))?;
    let named = archive.persist_noclobber(file);
    named.map_err(|error| unwritten(&error.error))?;
    Ok(length)
}

fn unwritten(file: &Path, error: &std::io::Error) -> Report {
    let help = "Name another file with --to, and check for free space.";
    explain::with_help(format!("cannot write {}: {error}", file.display()), help)
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
