//! Arguments of `takt simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::{count, setting};

/// Model of the queueing disciplines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimulationModel {
    /// Linux: sch_cbs in software, lengths as in the kernel, a queue in the driver.
    Linux,
    /// IEEE 802.1Q: a frame is chosen when the link is free. Bounds assume this model.
    Ieee,
}

/// Behaviour of loopbacks after several messages in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimulationLoopback {
    /// Return of all messages. Bounds assume this behaviour.
    All,
    /// Return of the latest message in each cycle, repeatedly if there is no new one, as in the example of open62541.
    Latest,
}

#[derive(Debug, Args)]
pub struct SimulateArguments {
    /// Scenario file (TOML). Each combination of swept values is simulated.
    pub scenario: PathBuf,
    /// Other value of a field of the scenario, for example discipline=cbs; it replaces the sweep of this field.
    #[arg(long = "field", value_name = "FIELD=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Seed of the random numbers; default is that of the scenario.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Number of messages of each application; default is the number of cycles of the scenario.
    #[arg(long, value_name = "COUNT", value_parser = count)]
    pub messages: Option<u64>,
    /// Time after which no message is published, for example "2 s".
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub duration: Option<takt_scenario::Duration>,
    /// Model of the queueing disciplines; default is linux, and ieee with --adversarial.
    #[arg(long)]
    pub model: Option<SimulationModel>,
    /// Behaviour of loopbacks after several messages in one cycle.
    #[arg(long, value_enum, default_value = "all")]
    pub loopback: SimulationLoopback,
    /// Number of frames that each class gives to the driver before the link is free (model linux).
    #[arg(long, value_name = "FRAMES", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub driver_queue: u16,
    /// Search for the worst case: phases of applications, gates and cross traffic, blocking frames of lower priority, forwarding
    /// delays, late threads. Where a bound of the analysis schedule is the smallest, applications and gates keep their phases.
    #[arg(long)]
    pub adversarial: bool,
    /// Number of simulations of the search.
    #[arg(long, value_name = "COUNT", default_value = "1000", requires = "adversarial", value_parser = count)]
    pub tries: u64,
    /// Write a row for every message to this CSV file.
    #[arg(long, value_name = "FILE", conflicts_with = "adversarial")]
    pub csv: Option<PathBuf>,
    /// Write a row for every hop of every frame to that file as well, including cross traffic.
    #[arg(long, requires = "csv")]
    pub hops: bool,
    /// Print JSON, one object for each combination of swept values.
    #[arg(long)]
    pub json: bool,
}

fn time(text: &str) -> Result<takt_scenario::Duration, String> {
    text.parse()
        .map_err(|error: takt_scenario::QuantityError| error.to_string())
}
