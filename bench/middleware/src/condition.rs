//! Conditions of a measurement: the load of the machine meanwhile, or rest before each request.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::own::Mode;
use crate::scheduler::PeerScheduler;

/// Condition of a measurement (section V of the paper).
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// No load.
    #[default]
    Idle,
    /// Each processor is busy with other programs (`stress-ng`).
    Cpu,
    /// Datagrams or frames of other programs pass through the same interface.
    Network,
    /// No load, and a random time of rest before each request.
    #[value(skip)]
    Resting,
}

impl Condition {
    /// Returns the name in tables and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Cpu => "cpu",
            Self::Network => "network",
            Self::Resting => "resting",
        }
    }

    /// Returns the title of the table of round trips.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Idle => "Round trips",
            Self::Cpu => "Round trips under load of the processors",
            Self::Network => "Round trips under load of the network",
            Self::Resting => "Resting round trips",
        }
    }
}

/// Options of loads, of resting round trips and of the scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ConditionOptions {
    /// Measure everything that the paper measures: --load idle,cpu,network --resting. It takes some hours.
    #[arg(long, conflicts_with_all = ["load", "resting"])]
    pub all: bool,
    /// Loads under which echo and ACK are measured.
    #[arg(
        long,
        value_name = "LOAD,...",
        value_delimiter = ',',
        default_value = "idle"
    )]
    pub load: Vec<Condition>,
    /// Rate of the network load in Mbit/s.
    #[arg(long, value_name = "MBIT/S", default_value = "800", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub load_rate: u32,
    /// Measure resting round trips, too: ACK of 4 bytes after a random wait. They take some minutes for each peer.
    #[arg(long)]
    pub resting: bool,
    /// Resting round trips of each peer.
    #[arg(long, value_name = "COUNT", default_value = "100", value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub resting_samples: u32,
    /// Longest wait before a resting round trip, in ms.
    #[arg(long, value_name = "MS", default_value = "3000", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub resting_wait: u32,
    /// Scheduler of client, server and broker: other, fifo or fifo:PRIORITY.
    #[arg(long, value_name = "SCHEDULER", default_value = "other")]
    pub scheduler: PeerScheduler,
}

/// Requests that are measured under a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Requests {
    pub(crate) condition: Condition,
    /// Kinds with their payloads in bytes.
    pub(crate) cases: Vec<(Mode, u32)>,
    /// Requests of each case, in all rounds.
    pub(crate) count: u32,
    /// Longest wait before a request, in ms.
    pub(crate) wait_ms: u32,
}

/// Bytes of a resting request, as in the paper.
const RESTING_BYTES: u32 = 4;

impl ConditionOptions {
    /// Returns the requests of all conditions: `sizes` and `count` are those without rest.
    pub(crate) fn requests(&self, sizes: &[u32], count: u32) -> Vec<Requests> {
        let mut loads = match self.all {
            true => vec![Condition::Idle, Condition::Cpu, Condition::Network],
            false => self.load.clone(),
        };
        loads.sort_unstable();
        loads.dedup();
        let of_mode = |mode: Mode| sizes.iter().map(move |size| (mode, *size));
        let cases: Vec<(Mode, u32)> = Mode::ALL.into_iter().flat_map(of_mode).collect();
        let mut all: Vec<Requests> = loads
            .into_iter()
            .map(|condition| Requests {
                condition,
                cases: cases.clone(),
                count,
                wait_ms: 0,
            })
            .collect();
        if self.resting || self.all {
            all.push(Requests {
                condition: Condition::Resting,
                cases: vec![(Mode::Ack, RESTING_BYTES)],
                count: self.resting_samples,
                wait_ms: self.resting_wait,
            });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        options: ConditionOptions,
    }

    fn parse(words: &[&str]) -> Result<ConditionOptions, clap::Error> {
        let words = [&["bench"], words].concat();
        Command::try_parse_from(words).map(|it| it.options)
    }

    #[test]
    fn each_load_has_all_cases_and_rest_has_one() {
        let plain = parse(&[]).unwrap().requests(&[2, 8], 50);
        assert_eq!(plain.len(), 1);
        assert_eq!(
            (plain[0].condition, plain[0].cases.len()),
            (Condition::Idle, 4)
        );
        let words = [
            "--load",
            "network,idle,network",
            "--resting",
            "--resting-wait",
            "7",
        ];
        let all = parse(&words).unwrap().requests(&[2], 50);
        let conditions: Vec<Condition> = all.iter().map(|it| it.condition).collect();
        assert_eq!(
            conditions,
            [Condition::Idle, Condition::Network, Condition::Resting]
        );
        assert_eq!((all[2].count, all[2].wait_ms), (100, 7));
        assert_eq!(all[2].cases, [(Mode::Ack, 4)]);
        let all = parse(&["--all"]).unwrap().requests(&[2], 50);
        let conditions: Vec<&str> = all.iter().map(|it| it.condition.name()).collect();
        assert_eq!(conditions, ["idle", "cpu", "network", "resting"]);
        assert!(parse(&["--all", "--resting"]).is_err());
    }

    #[test]
    fn unknown_loads_and_schedulers_are_refused() {
        for words in [
            ["--load", "resting"],
            ["--load", "disk"],
            ["--scheduler", "fifo:100"],
            ["--load-rate", "0"],
        ] {
            assert!(parse(&words).is_err(), "{words:?}");
        }
    }
}
