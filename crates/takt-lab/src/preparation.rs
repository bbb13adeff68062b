//! Preparation of a run: its directory, with everything that the executor needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use takt_scenario::{Scenario, ScenarioFile};

use crate::backend::Backend;
use crate::clock_agreement::ClockAgreement;
use crate::error::LabError;
use crate::network::NetworkPlan;
use crate::run_directory::{DESCRIPTION, NOT_RUN, RunCase, RunDescription, SCENARIO};
use crate::unfinished_directory::UnfinishedDirectory;

/// Most messages of each application by default.
const MOST_MESSAGES: u64 = 20_000;

/// Longest time of a case by default, in picoseconds: 10 s.
const LONGEST_CASE: u64 = 10_000_000_000_000;

/// Run that is wanted.
#[derive(Debug, Clone)]
pub struct RunRequest<'a> {
    /// Scenario file, with its path as its name.
    pub scenario: &'a ScenarioFile,
    /// Text of the file.
    pub text: &'a str,
    /// Values of fields for all cases. Sweeps of these fields do not take place.
    pub settings: &'a [(String, String)],
    /// Published messages of each application; by default as many as the scenario simulates, at most 20 000, and at most 10 s.
    pub messages: Option<u64>,
    /// Backend.
    pub backend: Backend,
    /// True if ports get the queueing disciplines of the scenario.
    pub disciplines: bool,
}

/// Run that is ready to be prepared: all combinations of swept values, with networks that can be built.
#[derive(Debug)]
pub struct PreparedRun {
    text: String,
    file: ScenarioFile,
    description: RunDescription,
    scenarios: Vec<Scenario>,
    /// Names of the histograms of all cases.
    histograms: Vec<String>,
}

impl PreparedRun {
    /// Checks everything without a change of the system.
    ///
    /// # Errors
    /// [`LabError`]: mistakes of the scenario, a network that cannot be built, or a histogram outside of the scenario's folder.
    pub fn new(request: &RunRequest<'_>) -> Result<Self, LabError> {
        let file = request.scenario;
        let variants = file.with_settings(request.settings)?.variants()?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        let started = started.map_or(0, |time| time.as_secs());
        let host = BTreeMap::new();
        let scenario = &file.scenario().name;
        let mut description = RunDescription::new(scenario, request.backend.name(), host, started);
        description.disciplines = request.disciplines;
        description.settings = request.settings.to_vec();
        for (index, variant) in variants.iter().enumerate() {
            NetworkPlan::of(&variant.scenario)?;
            let swept = variant.settings.iter().cloned();
            description.cases.push(RunCase {
                directory: format!("{:03}", index + 1).into(),
                settings: request.settings.iter().cloned().chain(swept).collect(),
                messages: request
                    .messages
                    .unwrap_or_else(|| usual_messages(&variant.scenario)),
                seed: Some(variant.scenario.simulation.seed),
                synchronized: true,
                clocks: Some(ClockAgreement::One),
                // Each case that runs replaces it. After a run that was killed, it tells which cases are missing.
                failure: Some(NOT_RUN.to_owned()),
                is_of_scenario: false,
                applications: Vec::new(),
            });
        }
        let histograms = variants.iter().flat_map(|it| it.histogram_files.clone());
        let histograms: Vec<String> = histograms.collect();
        check_places(histogram_names(file, &histograms))?;
        Ok(Self {
            text: request.text.to_owned(),
            file: file.clone(),
            description,
            histograms,
            scenarios: variants.into_iter().map(|it| it.scenario).collect(),
        })
    }

    /// Returns the description of the run.
    #[must_use]
    pub const fn description(&self) -> &RunDescription {
        &self.description
    }

    /// Returns the scenarios of the cases.
    #[must_use]
    pub fn scenarios(&self) -> &[Scenario] {
        &self.scenarios
    }

    /// Adds a fact about the machine for people.
    pub fn note(&mut self, name: &str, value: impl Into<String>) {
        self.description.host.insert(name.to_owned(), value.into());
    }

    /// Writes the directory of the run: the description, the scenario and its histograms.
    ///
    /// # Errors
    /// [`LabError::Occupied`], [`LabError::NotEmpty`], or a file cannot be written; nothing stays then.
    pub fn write(&self, directory: &Path) -> Result<(), LabError> {
        let unfinished = UnfinishedDirectory::new(directory);
        copy_scenario(&unfinished, &self.file, &self.text, &self.histograms)?;
        for case in &self.description.cases {
            let path = directory.join(&case.directory);
            fs::create_dir_all(&path).map_err(|error| io_error(&path, error))?;
        }
        // The description comes last, because a directory that has one counts as a run.
        unfinished.finish(
            || Ok(self.description.write(directory)?),
            |error| io_error(directory, error),
        )
    }
}

/// Returns the names of the histograms of a scenario as it is written, and of its cases, each once.
fn histogram_names<'a>(scenario: &'a ScenarioFile, of_cases: &'a [String]) -> BTreeSet<&'a str> {
    let of_cases = of_cases.iter().map(String::as_str);
    scenario
        .histogram_files()
        .into_iter()
        .chain(of_cases)
        .collect()
}

/// Fails if a histogram is not in the folder of the scenario. A path with `..` or from the root would be written outside of a run's
/// directory.
fn check_places<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), LabError> {
    let is_outside = |name: &&str| {
        let path = Path::new(name);
        path.components().count() != 1 || path.file_name().is_none()
    };
    match names.into_iter().find(is_outside) {
        None => Ok(()),
        Some(name) => Err(LabError::HistogramPlace(name.to_owned())),
    }
}

/// Makes the directory of a run, with the scenario and its histograms: those of the file, and those of the cases.
///
/// # Errors
/// [`LabError::Occupied`], [`LabError::NotEmpty`], [`LabError::HistogramPlace`], or a file cannot be written.
pub(crate) fn copy_scenario(
    unfinished: &UnfinishedDirectory,
    scenario: &ScenarioFile,
    text: &str,
    histograms: &[String],
) -> Result<(), LabError> {
    let names = histogram_names(scenario, histograms);
    check_places(names.iter().copied())?;
    let directory = unfinished.path();
    if directory.join(DESCRIPTION).exists() {
        return Err(LabError::Occupied(directory.to_owned()));
    }
    // Files that are there might be the sources: a copy of a file onto itself empties it.
    let has_files = fs::read_dir(directory).is_ok_and(|mut files| files.next().is_some());
    if has_files {
        return Err(LabError::NotEmpty(directory.to_owned()));
    }
    let begun = unfinished.begin();
    begun.map_err(|error| io_error(directory, error))?;
    let copy = directory.join(SCENARIO);
    let written = unfinished.step(|| fs::write(&copy, text));
    written.map_err(|error| io_error(&copy, error))?;
    for name in names {
        let copy = directory.join(name);
        // The text that the scenario was read with: the file may have changed since then.
        let text = scenario.histogram_text(name).unwrap_or_default();
        let written = unfinished.step(|| fs::write(&copy, text.as_bytes()));
        written.map_err(|error| io_error(&copy, error))?;
    }
    Ok(())
}

/// Returns the usual number of messages of each application.
fn usual_messages(scenario: &Scenario) -> u64 {
    let cycles = scenario.applications.iter().map(|it| it.cycle.0);
    let longest = cycles.max().unwrap_or(1).max(1);
    let in_time = LONGEST_CASE / longest;
    let wanted = scenario.simulation.cycles.min(MOST_MESSAGES);
    wanted.min(in_time).max(1)
}

fn io_error(path: &Path, error: io::Error) -> LabError {
    LabError::Io {
        path: path.to_owned(),
        error,
    }
}
