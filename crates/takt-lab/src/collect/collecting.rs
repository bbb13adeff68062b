//! Check of all files, before the directory of the run is made.

use std::path::{Path, PathBuf};

use takt_analysis::{FileSurvey, RunFileFormat};

use super::captures::{self, RunCapture};
use super::causality;
use super::error::CollectError;
use super::request::CollectRequest;
use super::traces::{self, RunTrace, TracePair};
use super::written;
use crate::link_facts::link_faults;
use crate::run_directory::RunDescription;

/// Run that was collected.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectedRun {
    /// Description in its directory.
    pub description: RunDescription,
    /// Parts of the run that cannot be true or make a quantity doubtful, for people.
    pub doubts: Vec<String>,
}

/// Makes the directory of a run from its files.
///
/// # Errors
/// [`CollectError`]; nothing was written then, except if writing itself failed.
pub fn collect(
    request: &CollectRequest<'_>,
    directory: &Path,
) -> Result<CollectedRun, CollectError> {
    let (mut traces, mut captures) = (Vec::new(), Vec::new());
    // A file that is named twice counts once, at the port of the loopback.
    let named = request.files.iter().chain(request.card_stamps);
    let mut different: Vec<&PathBuf> = Vec::new();
    for path in named {
        if !request.at_loopback.contains(path) && !different.contains(&path) {
            different.push(path);
        }
    }
    let named = different.into_iter().map(|path| (path, is_named(path)));
    let given = request.at_loopback.iter().map(|path| (path, true));
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
                has_card_stamps: request.card_stamps.contains(path),
                step_nanos: survey.step_nanos,
                senders: survey.senders,
            }),
        }
    }
    let scenario = traces::check_scenario(request, &traces)?;
    let mut pairs = TracePair::of(traces, &scenario, request.is_synchronized)?;
    let captures = captures::assign(captures, &pairs)?;
    let mut doubts = causality::check(&mut pairs, &captures)?;
    let description = written::write(request, directory, &scenario, &pairs, &captures)?;
    let cases = description.cases.iter();
    doubts.extend(cases.flat_map(|case| link_faults(&description, case, &scenario)));
    Ok(CollectedRun {
        description,
        doubts,
    })
}

/// Returns true for a capture that has the name of one at the port of the loopback, as `takt analyze` takes it.
fn is_named(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("loopback")
}
