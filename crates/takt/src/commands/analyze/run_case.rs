//! Files of a case of the lab: the run's description names those of each application.

use std::path::{Path, PathBuf};

use takt_analysis::CapturePort;
use takt_lab::run_directory::{DESCRIPTION, RunApplication, RunCase, RunDescription};

use crate::explain;

/// Returns the files of an application, if the directory is a case of a run, or a run with one case. `application` is its name; the only
/// one needs none.
pub(super) fn files(
    directory: &Path,
    application: Option<&str>,
) -> miette::Result<Option<Vec<(PathBuf, CapturePort)>>> {
    let Some((run, case)) = place(directory) else {
        return Ok(None);
    };
    let unreadable =
        |error| explain::with_help(error, "docs/lab.md describes the directory of a run.");
    let description = RunDescription::read(&run).map_err(unreadable)?;
    let case = match &case {
        Some(name) => description.cases.iter().find(|it| it.directory == *name),
        None => Some(only_case(&description.cases, directory)?),
    };
    let Some(case) = case else {
        return Ok(None);
    };
    if let Some(failure) = &case.failure {
        return Err(explain::with_help(
            format!("the case has no result: {failure}"),
            "Run it again with `takt lab run`.",
        ));
    }
    let chosen = choose(&case.applications, application)?;
    Ok(Some(chosen.files(&run.join(&case.directory))))
}

/// Returns the directory of the run, and the name of the case below it.
fn place(directory: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    if directory.join(DESCRIPTION).is_file() {
        return Some((directory.to_owned(), None));
    }
    // A path such as `.` has no parent in its text.
    let directory = directory.canonicalize().ok()?;
    let run = directory.parent()?;
    let case = directory.file_name()?;
    let is_run = run.join(DESCRIPTION).is_file();
    is_run.then(|| (run.to_owned(), Some(PathBuf::from(case))))
}

fn only_case<'a>(cases: &'a [RunCase], directory: &Path) -> miette::Result<&'a RunCase> {
    match cases {
        [only] => Ok(only),
        _ => Err(explain::with_help(
            format!("the run has {} cases", cases.len()),
            format!("Analyze one of them, such as {}/001.", directory.display()),
        )),
    }
}

fn choose<'a>(
    applications: &'a [RunApplication],
    name: Option<&str>,
) -> miette::Result<&'a RunApplication> {
    let names = || {
        let names = applications.iter().map(|it| it.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    match (name, applications) {
        (None, [only]) => Ok(only),
        (None, _) => Err(explain::with_help(
            format!("the case has {} applications", applications.len()),
            format!("Choose one with --application: {}.", names()),
        )),
        (Some(name), _) => {
            let found = applications.iter().find(|it| it.name == name);
            found.ok_or_else(|| {
                explain::with_help(
                    format!("the case has no application {name}"),
                    format!("It has {}.", names()),
                )
            })
        }
    }
}
