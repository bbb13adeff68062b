//! Directory of a run: its description, and the files of each case.
//!
//! ```text
//! RUN/
//!   run.json                 RunDescription
//!   scenario.toml            the scenario file as it was read; histograms beside it
//!   001/                     one directory per case, in the order of RunDescription::cases
//!     control.publisher.trace, control.loopback.trace      trace points, one pair per application
//!     host1-to-host2.pcapng                                captures, one per port
//!     case.json                                            CaseRecord: counts of ends, ports and cross traffic
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::clock_agreement::ClockAgreement;

/// Name of the file with the [`RunDescription`].
pub const DESCRIPTION: &str = "run.json";

/// Name of the copy of the scenario file.
pub const SCENARIO: &str = "scenario.toml";

/// Name of the backend of a run made by hand.
pub const BY_HAND: &str = "hosts";

/// Version of the layout of the directory.
const FORMAT: u32 = 1;

/// Description of a run: what ran, where, and with which files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDescription {
    /// Version of the layout.
    pub format: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// Backend: `netns`, `uml`.
    pub backend: String,
    /// Machine and kernel of the run, for people: name and value, such as `kernel` and `6.12.57`.
    pub host: BTreeMap<String, String>,
    /// Start of the run in seconds since 1970, UTC.
    pub started: u64,
    /// False if ports kept the kernel's default instead of the scenario's queueing disciplines. Times are then not comparable with
    /// bounds and simulations.
    #[serde(default = "has_disciplines")]
    pub disciplines: bool,
    /// Values of fields that were given for all cases, as [`takt_scenario::ScenarioFile::with_settings`] takes them.
    #[serde(default)]
    pub settings: Vec<(String, String)>,
    /// Cases, in the order of their directories.
    pub cases: Vec<RunCase>,
}

/// Failure of a case until it has run.
pub(crate) const NOT_RUN: &str = "the run ended before this case";

/// One case of a run: one combination of swept values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunCase {
    /// Name of the directory, relative to that of the run.
    pub directory: PathBuf,
    /// Values of the scenario's fields, as [`takt_scenario::ScenarioFile::with_settings`] takes them.
    pub settings: Vec<(String, String)>,
    /// Published messages of each application.
    pub messages: u64,
    /// Seed of the latency of threads, where the backend generates it.
    pub seed: Option<u64>,
    /// True if times of one way were compared: all hosts have one clock, or synchronized ones.
    pub synchronized: bool,
    /// Agreement of the clocks of all hosts. Runs of earlier versions do not tell: [`RunDescription::clocks`].
    #[serde(default)]
    pub clocks: Option<ClockAgreement>,
    /// Reason why the case has no result.
    pub failure: Option<String>,
    /// True if the failure follows from the scenario, so that each further run has it as well. False if the machine or its state may be the
    /// reason.
    #[serde(default)]
    pub is_of_scenario: bool,
    /// Applications that ran.
    pub applications: Vec<RunApplication>,
}

impl RunCase {
    /// Returns true if the case has ended, with a result or with the reason why it has none.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.failure.as_deref() != Some(NOT_RUN)
    }
}

/// Files of one application. Paths are relative to the directory of the case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunApplication {
    /// Name in the scenario; with several Subscribers that of the flow to one of them.
    pub name: String,
    /// True for messages to a Subscriber, which sends nothing back. Its files are those of the loopback.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_way: bool,
    /// PublisherId of the Publisher.
    pub publisher_id: u64,
    /// PublisherId of the loopback.
    pub loopback_id: u64,
    /// Trace file of the Publisher: T1 and T8.
    pub publisher_trace: PathBuf,
    /// Trace file of the loopback: T4 and T5.
    pub loopback_trace: PathBuf,
    /// Capture at the port of the Publisher: T2 and T7.
    pub publisher_capture: Option<PathBuf>,
    /// Capture at the port of the loopback: T3 and T6.
    pub loopback_capture: Option<PathBuf>,
    /// Captures whose packets the network card stamped: that at the port of the Publisher, and that of the loopback.
    #[serde(default)]
    pub card_stamps: [bool; 2],
}

/// Returns the value of a description that does not tell: earlier ones always had the disciplines.
const fn has_disciplines() -> bool {
    true
}

/// Reason why a directory is not one of a run.
#[derive(Debug, thiserror::Error)]
pub enum RunDirectoryError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The description is damaged.
    #[error("{}: {error}", path.display())]
    Damaged {
        /// Path of the description.
        path: PathBuf,
        /// Reason.
        #[source]
        error: serde_json::Error,
    },
    /// The description has another version.
    #[error("{} has format {format}, this version of Takt reads {FORMAT}", path.display())]
    Format {
        /// Path of the description.
        path: PathBuf,
        /// Version of the layout.
        format: u32,
    },
}

impl RunDescription {
    /// Creates a description without cases.
    #[must_use]
    pub fn new(
        scenario: &str,
        backend: &str,
        host: BTreeMap<String, String>,
        started: u64,
    ) -> Self {
        Self {
            format: FORMAT,
            scenario: scenario.to_owned(),
            backend: backend.to_owned(),
            host,
            started,
            disciplines: true,
            settings: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Returns the agreement of the clocks of a case. Backends of the lab have one clock; hosts of which nothing is told may have any.
    #[must_use]
    pub fn clocks(&self, case: &RunCase) -> ClockAgreement {
        let usual = match self.backend.as_str() {
            BY_HAND => ClockAgreement::Unknown,
            _ => ClockAgreement::One,
        };
        case.clocks.unwrap_or(usual)
    }

    /// Reads the description of a run's directory.
    ///
    /// # Errors
    /// [`RunDirectoryError`].
    pub fn read(directory: &Path) -> Result<Self, RunDirectoryError> {
        let path = directory.join(DESCRIPTION);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) => return Err(RunDirectoryError::Io { path, error }),
        };
        let description: Self = match serde_json::from_slice(&text) {
            Ok(description) => description,
            Err(error) => return Err(RunDirectoryError::Damaged { path, error }),
        };
        match description.format {
            FORMAT => Ok(description),
            format => Err(RunDirectoryError::Format { path, format }),
        }
    }

    /// Writes the description into a run's directory. A description that is there is replaced at once, never in parts.
    ///
    /// # Errors
    /// [`RunDirectoryError`].
    pub fn write(&self, directory: &Path) -> Result<(), RunDirectoryError> {
        let path = directory.join(DESCRIPTION);
        let parts = directory.join(".run.json.new");
        let written = serde_json::to_vec_pretty(self)
            .map_err(io::Error::from)
            .and_then(|text| fs::write(&parts, text))
            .and_then(|()| fs::rename(&parts, &path));
        written.map_err(|error| RunDirectoryError::Io { path, error })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn clocks_of_earlier_runs_are_those_of_their_backend() {
        let of = |backend: &str, clocks: &str| {
            let case = format!(
                r#"{{"directory": "001", "settings": [], "messages": 1, "seed": null, "synchronized": true{clocks},
                    "failure": null, "applications": []}}"#
            );
            let case: RunCase = serde_json::from_str(&case).unwrap();
            RunDescription::new("line", backend, BTreeMap::new(), 0).clocks(&case)
        };
        assert_eq!(of("uml", ""), ClockAgreement::One);
        assert_eq!(of("hosts", ""), ClockAgreement::Unknown);
        let within = r#", "clocks": {"within": {"margin_nanos": 70}}"#;
        let margin_nanos = 70;
        assert_eq!(of("hosts", within), ClockAgreement::Within { margin_nanos });
    }

    #[test]
    fn a_description_is_read_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let missing = RunDescription::read(directory.path()).unwrap_err();
        assert!(matches!(missing, RunDirectoryError::Io { .. }));
        let host = BTreeMap::from([("kernel".to_owned(), "6.12".to_owned())]);
        let mut description = RunDescription::new("line", "netns", host, 1_790_000_000);
        description.cases.push(RunCase {
            directory: "001".into(),
            settings: vec![("topology.hops".to_owned(), "3".to_owned())],
            messages: 20_000,
            seed: Some(1),
            synchronized: true,
            clocks: Some(ClockAgreement::One),
            failure: None,
            is_of_scenario: false,
            applications: Vec::new(),
        });
        description.write(directory.path()).unwrap();
        assert_eq!(RunDescription::read(directory.path()).unwrap(), description);
        description.format = 2;
        description.write(directory.path()).unwrap();
        let other = RunDescription::read(directory.path()).unwrap_err();
        assert!(matches!(other, RunDirectoryError::Format { format: 2, .. }));
        fs::write(directory.path().join(DESCRIPTION), "{").unwrap();
        let damaged = RunDescription::read(directory.path()).unwrap_err();
        assert!(matches!(damaged, RunDirectoryError::Damaged { .. }));
    }
}
