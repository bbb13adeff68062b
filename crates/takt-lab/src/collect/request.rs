//! Files of a run that was made by hand.

use std::path::PathBuf;

use takt_scenario::ScenarioFile;

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
    /// Captures whose packets the network card stamped. Those of all others have the kernel's time.
    pub card_stamps: &'a [PathBuf],
    /// True if the clocks of the hosts are said to be synchronized. Two ends on one host have one clock in any case, and those of two
    /// hosts are compared if their facts tell how far their clocks differ.
    pub is_synchronized: bool,
}
