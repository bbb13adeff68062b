//! Files of a run that was made by hand.

use std::path::PathBuf;

use takt_scenario::ScenarioFile;

/// Name of the backend of a run made by hand.
pub const BY_HAND: &str = "hosts";

/// Files of a run made by hand.
#[derive(Debug, Clone)]
pub struct CollectRequest<'a> {
    /// Scenario file, with its path as its name.
    pub scenario: &'a ScenarioFile,
    /// Text of the file.
    pub text: &'a str,
    /// Traces and captures. A capture whose name begins with `loopback` was made at the port of the loopback.
    pub files: &'a [PathBuf],
    /// Captures at the port of the loopback, whatever their names.
    pub at_loopback: &'a [PathBuf],
    /// True if the clocks of the hosts are synchronized. Two ends on one host have one clock in any case.
    pub is_synchronized: bool,
}
