//! `etf` with CLOCK_TAI.

use serde_json::Value;
use takt_scenario::EtfParameters;

use super::json::{flag, number};
use super::offload::HardwareOffload;
use super::words::pair;
use crate::derivation::Derivation;

/// Parameters of `etf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchNumbers {
    /// Time before the txtime at which a frame is given to the hardware, in nanoseconds.
    pub delta: u64,
    /// True if the txtime is a deadline.
    pub deadline_mode: bool,
    /// True if frames without a txtime of their socket are accepted.
    pub skip_sock_check: bool,
    /// True if the hardware waits for the txtime.
    pub offload: bool,
}

impl LaunchNumbers {
    /// Returns the parameters for a queue of a scenario, with their origins.
    pub(super) fn of_queue(queue: &EtfParameters, offload: HardwareOffload) -> (Self, Derivation) {
        // The kernel has whole nanoseconds. Rounded down, delta would be shorter than the time that is needed.
        let numbers = Self {
            delta: queue.delta.0.div_ceil(1000),
            deadline_mode: queue.deadline_mode,
            skip_sock_check: queue.skip_sock_check,
            offload: offload.of_launches(queue.offload),
        };
        let origin = "ns: `delta` of the scenario, for the time from the kernel to the wire";
        let derivation = Derivation::new(format!("delta {}", numbers.delta), origin);
        (numbers, derivation)
    }

    /// Returns the words of a `tc` command.
    pub(super) fn phrases(&self) -> Vec<String> {
        let mut phrases = vec![
            "clockid CLOCK_TAI".to_owned(),
            format!("delta {}", self.delta),
        ];
        let flags = [
            (self.offload, "offload"),
            (self.deadline_mode, "deadline_mode"),
            (self.skip_sock_check, "skip_sock_check"),
        ];
        let set = flags.iter().filter(|(is_set, _)| *is_set);
        phrases.extend(set.map(|(_, name)| (*name).to_owned()));
        phrases
    }

    /// Returns names and values of the parameters, as the kernel keeps them.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        vec![
            pair("delta", self.delta),
            pair("offload", self.offload),
            pair("deadline_mode", self.deadline_mode),
            pair("skip_sock_check", self.skip_sock_check),
        ]
    }

    /// Reads the options of `tc -j`.
    pub(super) fn read(options: &Value) -> Option<Self> {
        Some(Self {
            delta: number(options, "delta")?,
            deadline_mode: flag(options, "deadline_mode"),
            skip_sock_check: flag(options, "skip_sock_check"),
            offload: flag(options, "offload"),
        })
    }
}
