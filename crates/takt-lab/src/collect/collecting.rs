//! Check of all files, before the directory of the run is made.

use std::path::Path;

use takt_analysis::{FileSurvey, RunFileFormat};

use super::captures::{self, RunCapture};
use super::error::CollectError;
use super::request::CollectRequest;
use super::traces::{self, RunTrace, TracePair};
use super::written;
use crate::run_directory::RunDescription;

/// Makes the directory of a run from its files, and returns its description.
///
/// # Errors
/// [`CollectError`]; nothing was written then, except if writing itself failed.
pub fn collect(
    request: &CollectRequest<'_>,
    directory: &Path,
) -> Result<RunDescription, CollectError> {
    let (mut traces, mut captures) = (Vec::new(), Vec::new());
    let named = request.files.iter().map(|path| (path, is_named(path)));
    let given = request.at_loopback.iter().map(|path| (path, true));
    // A file that is named twice counts once, at the port of the loopback.
    let named = named.filter(|(path, _)| !request.at_loopback.contains(path));
    for (path, is_loopback) in named.chain(given) {
        let survey = FileSurvey::of(path)?;
        if let Some(damage) = survey.damage {
            let path = path.clone();
            return Err(CollectError::Damaged { path, damage });
        }
        match survey.format {
            RunFileFormat::Trace => traces.push(RunTrace::of(path, &survey)?),
            RunFileFormat::Capture => captures.push(RunCapture {
                path: path.clone(),
                is_loopback,
                senders: survey.senders,
            }),
        }
    }
    let scenario = traces::check_scenario(request, &traces)?;
    let pairs = TracePair::of(traces, &scenario, request.is_synchronized)?;
    let captures = captures::assign(captures, &pairs)?;
    written::write(request, directory, &scenario, &pairs, &captures)
}

/// Returns true for a capture that has the name of one at the port of the loopback, as `takt analyze` takes it.
fn is_named(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("loopback")
}
