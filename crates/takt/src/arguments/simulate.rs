//! What can be typed after `takt simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Whose disciplines are simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimulationModel {
    /// Linux: sch_cbs in software, lengths as the kernel counts them, a queue in the driver.
    Linux,
    /// IEEE 802.1Q: frames are chosen when the link is free. This is what bounds assume.
    Ieee,
}

/// What loopbacks do with several messages that came in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimulationLoopback {
    /// They send all of them back. This is what bounds assume.
    All,
    /// They send the last one in each cycle, again if none has come, as open62541's example does.
    Latest,
}

#[derive(Debug, Args)]
pub struct SimulateArguments {
    /// The scenario, a TOML file. If it has sweeps, each combination is simulated.
    pub scenario: PathBuf,
    /// What random numbers begin with, instead of what the scenario says.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Messages of each application, instead of the scenario's cycles.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub messages: Option<u64>,
    /// Publish nothing after this time, for example "2 s".
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub duration: Option<takt_scenario::Duration>,
    /// Whose queueing disciplines. Linux's, unless --adversarial is given.
    #[arg(long)]
    pub model: Option<SimulationModel>,
    /// What loopbacks do with several messages of one cycle.
    #[arg(long, value_enum, default_value = "all")]
    pub loopback: SimulationLoopback,
    /// Frames that each class hands to the driver before the link is free (Linux's model).
    #[arg(long, value_name = "FRAMES", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub driver_queue: u16,
    /// Search the worst case: phases of applications and cross traffic, frames of lower priority in the way, forwarding delays.
    #[arg(long)]
    pub adversarial: bool,
    /// How many simulations the search may take.
    #[arg(long, value_name = "COUNT", default_value = "1000", requires = "adversarial", value_parser = clap::value_parser!(u64).range(1..))]
    pub tries: u64,
    /// Write every message to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "adversarial")]
    pub csv: Option<PathBuf>,
    /// Write each hop of each frame to that file as well, cross traffic's too.
    #[arg(long, requires = "csv")]
    pub hops: bool,
    /// Print an object for programs, one line for each combination of a sweep.
    #[arg(long)]
    pub json: bool,
}

fn time(text: &str) -> Result<takt_scenario::Duration, String> {
    text.parse()
        .map_err(|error: takt_scenario::QuantityError| error.to_string())
}
