//! Comparison of the directory of a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use takt_analysis::SentStamp;
use takt_analysis::{AnalysisOptions, DelaySample};
use takt_lab::run_directory::{RunCase, RunDescription, RunDirectoryError, SCENARIO};
use takt_scenario::{Scenario, ScenarioError, ScenarioFile};

use super::case::ComparedCase;
use super::comparable::NotComparable;
use super::resolution::Resolution;
use super::times::RoundTripKind;
use super::violation::Violation;

/// Options of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparisonOptions {
    /// Largest number of messages to leave out at each end. No more than a tenth of a run's messages are left out at each end, as
    /// in *Assessment of OPC UA PubSub at Scale*, IV-B: 20 000 of 200 000.
    pub trim: u64,
}

impl Default for ComparisonOptions {
    fn default() -> Self {
        Self {
            trim: AnalysisOptions::TRIM,
        }
    }
}

/// Reason why a run cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// The directory has no description, or a damaged one.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// The copy of the scenario cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the copy.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The copy of the scenario has mistakes.
    #[error("{}: {error}", path.display())]
    Scenario {
        /// Path of the copy.
        path: PathBuf,
        /// Mistakes.
        #[source]
        error: Box<ScenarioError>,
    },
}

/// Measured delay with its place.
#[derive(Debug, Clone, Copy)]
pub struct RunSample<'a> {
    /// Directory of the run.
    pub run: &'a Path,
    /// Case.
    pub case: &'a RunCase,
    /// Application.
    pub application: &'a str,
    /// Delay.
    pub delay: &'a DelaySample,
}

/// Comparison of a run.
#[derive(Debug)]
pub struct ComparedRun {
    /// Directory.
    pub directory: PathBuf,
    /// Description.
    pub description: RunDescription,
    /// Description of the scenario.
    pub about: String,
    /// Reasons why measured times say nothing about bounds. Without any, a measurement above a bound is an error.
    pub not_comparable: Vec<NotComparable>,
    /// Cases.
    pub cases: Vec<ComparedCase>,
}

impl ComparedRun {
    /// Reads a run, and computes all bounds and simulations. `progress` gets the number of the next case, from 0, and that of all;
    /// `sink` gets each measured delay.
    ///
    /// # Errors
    /// [`ComparisonError`]. A case that cannot be read is no error: [`ComparedCase::damage`] has the reason.
    pub fn read(
        directory: &Path,
        options: &ComparisonOptions,
        progress: &mut dyn FnMut(usize, usize),
        sink: &mut dyn FnMut(&RunSample<'_>),
    ) -> Result<Self, ComparisonError> {
        let description = RunDescription::read(directory)?;
        let path = directory.join(SCENARIO);
        let name = path.display().to_string();
        let mistaken = |error| ComparisonError::Scenario {
            path: path.clone(),
            error: Box::new(error),
        };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => return Err(ComparisonError::Io { path, error }),
        };
        let text = ScenarioFile::text(bytes, &name).map_err(mistaken)?;
        let file = ScenarioFile::parse(&text, &name).map_err(mistaken)?;
        let mut cases = Vec::with_capacity(description.cases.len());
        let mut not_comparable = NotComparable::of(&description);
        for (index, case) in description.cases.iter().enumerate() {
            progress(index, description.cases.len());
            let scenario: Scenario = scenario(&file, case).map_err(mistaken)?;
            for reason in NotComparable::of_links(&description, case, &scenario) {
                if !not_comparable.contains(&reason) {
                    not_comparable.push(reason);
                }
            }
            let mut of_case = |application: &str, delay: &DelaySample| {
                sink(&RunSample {
                    run: directory,
                    case,
                    application,
                    delay,
                });
            };
            cases.push(ComparedCase::of(
                directory,
                case,
                &scenario,
                options.trim,
                (Resolution::of(&description), description.clocks(case)),
                &mut of_case,
            ));
        }
        Ok(Self {
            directory: directory.to_owned(),
            about: file.scenario().description.clone(),
            not_comparable,
            description,
            cases,
        })
    }

    /// Returns true if measured times may be compared with bounds.
    #[must_use]
    pub fn is_comparable(&self) -> bool {
        self.not_comparable.is_empty()
    }

    /// Returns the round trips and ways of which a measured or simulated delay is above the sound bound. Measurements that are not comparable
    /// count as none.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let is_comparable = self.is_comparable();
        let mut violations = Vec::new();
        for (number, case) in (1..).zip(&self.cases) {
            for application in &case.applications {
                for (name, delay) in application.delays() {
                    if is_comparable && delay.above_bound > 0 {
                        let violation =
                            Violation::measured(number, case, application, &name, delay);
                        violations.push(violation);
                    }
                    if delay.is_simulation_above() {
                        let violation =
                            Violation::simulated(number, case, application, &name, delay);
                        violations.push(violation);
                    }
                }
            }
        }
        violations
    }

    /// Returns the time that captures have of sent frames, in all cases: a run has one kind of devices.
    #[must_use]
    pub fn sent_stamp(&self) -> SentStamp {
        let mut ran = self.cases.iter().filter(|it| !it.device.is_empty());
        ran.next().map(|it| it.sent_stamp).unwrap_or_default()
    }

    /// Returns the resolution of measured times: that of the first case, because a run has one kind of clocks and captures.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        let first = self.cases.first().map(|it| it.resolution);
        first.unwrap_or_else(|| Resolution::of(&self.description))
    }

    /// Returns true if a file of a case cannot be read, or not to its end.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        let mut cases = self.cases.iter();
        cases.any(|it| it.damage.is_some() || it.applications.iter().any(|it| it.is_damaged))
    }

    /// Returns true if any application has a measured round trip of a kind.
    #[must_use]
    pub fn has(&self, kind: RoundTripKind) -> bool {
        let mut applications = self.cases.iter().flat_map(|it| &it.applications);
        applications.any(|it| it.round_trip(kind).delay.measured.is_some())
    }
}

/// Returns the scenario of a case.
fn scenario(file: &ScenarioFile, case: &RunCase) -> Result<Scenario, ScenarioError> {
    let file = file.with_settings(&case.settings)?;
    Ok(file.scenario().clone())
}
