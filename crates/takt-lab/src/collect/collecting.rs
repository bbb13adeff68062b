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
use crate::unfinished_directory::UnfinishedDirectory;

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
/// [`CollectError`]; nothing stays in the directory then.
pub fn collect(
    request: &CollectRequest<'_>,
    directory: &UnfinishedDirectory,
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
            RunFileFormat::Trace => {
                check_options(request, path)?;
                traces.push(RunTrace::of(path, &survey)?);
            }
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

/// Refuses a trace among the files that are said to be captures: it would be taken as any trace.
fn check_options(request: &CollectRequest<'_>, trace: &Path) -> Result<(), CollectError> {
    let mut captures = request.card_stamps.iter().chain(request.at_loopback);
    match captures.any(|it| it == trace) {
        true => Err(CollectError::TraceAsCapture(trace.to_owned())),
        false => Ok(()),
    }
}

/// Returns true for a capture that has the name of one at the port of the loopback, as `takt analyze` takes it.
fn is_named(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("loopback")
}

#[cfg(test)]
mod tests {
    use takt_scenario::ScenarioFile;

    use super::*;

    #[test]
    fn options_for_captures_name_no_traces() {
        let text = "version = 1\nname = \"two\"\ntopology = { kind = \"p2p\", rate = \"1 Gbit/s\" }\n\
            [[applications]]\nname = \"control\"\npublisher = \"host1\"\nloopback = \"host2\"\n\
            cycle = \"1 ms\"\npayload = \"59 B\"\n";
        let scenario = ScenarioFile::parse(text, "two.toml").unwrap();
        let [card, loopback, other] = ["card", "loopback", "other"].map(PathBuf::from);
        let request = CollectRequest {
            scenario: &scenario,
            text,
            files: &[],
            at_loopback: std::slice::from_ref(&loopback),
            card_stamps: std::slice::from_ref(&card),
            is_synchronized: false,
        };
        let refused = |path: &Path| check_options(&request, path).unwrap_err().to_string();
        assert_eq!(refused(&card), "card is a trace, not a capture");
        assert_eq!(refused(&loopback), "loopback is a trace, not a capture");
        check_options(&request, &other).unwrap();
    }
}
