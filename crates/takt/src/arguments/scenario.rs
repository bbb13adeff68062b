//! Arguments of `takt scenario`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use takt_scenario::{DisciplineDescription, Duration, Rate, Share};

use super::disciplines;
use super::values::setting;

#[derive(Debug, Subcommand)]
pub enum ScenarioCommand {
    /// Write a new scenario.
    #[command(after_help = "Examples:\n  \
        takt scenario new p2p\n  \
        takt scenario new line --hops 7 --rnc 160 --output line.toml\n  \
        takt scenario new line --qdisc cbs --provisioning -3% --model paper\n  \
        takt scenario new ring --nodes 6 --qdisc mqprio --payload 100")]
    New(NewArguments),
    /// Check scenarios with all values of their sweeps.
    #[command(after_help = "Example:\n  takt scenario check scenarios/line.toml")]
    Check(CheckScenarioArguments),
    /// Make a scenario of PubSub configurations and a network file.
    #[command(after_help = "Examples:\n  \
        takt scenario from press.toml robot.toml --network plant.toml --output cell.toml\n  \
        takt scenario from press.uabinary robot.json --network plant.toml | less")]
    From(FromArguments),
    /// Print the JSON Schema of scenarios, for editors.
    #[command(
        after_help = "Examples:\n  takt scenario schema > scenario.schema.json\n  \
        takt scenario schema --network > plant.schema.json"
    )]
    Schema(SchemaArguments),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TemplateName {
    /// Two hosts and a link.
    P2p,
    /// Two hosts and a bridge.
    Bridged,
    /// Bridges in line between two hosts.
    Line,
    /// Bridges in a ring, with a host at each.
    Ring,
    /// Hosts around a bridge.
    Star,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModelName {
    /// Assumptions under which the bounds hold.
    Sound,
    /// Assumptions of the paper.
    Paper,
}

#[derive(Debug, Args)]
pub struct NewArguments {
    /// Topology of the network.
    pub template: TemplateName,
    /// Number of links between the hosts of a line; default 7.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub hops: Option<u32>,
    /// Number of bridges of a ring (at least 3) or of hosts of a star; default 4.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub nodes: Option<u32>,
    /// Repeated node count (RNC) of the example of open62541, for messages of 32 + 9 (1 + RNC) bytes; default 2.
    #[arg(long, conflicts_with = "payload", value_parser = clap::value_parser!(u32).range(0..=162))]
    pub rnc: Option<u32>,
    /// Payload in bytes.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1500))]
    pub payload: Option<u32>,
    /// Queueing discipline of all ports.
    #[arg(long, default_value = "cbs", value_parser = disciplines::parser(|_| ""))]
    pub qdisc: &'static DisciplineDescription,
    /// Share of idleSlope beyond the needed one; only with cbs.
    #[arg(long, allow_hyphen_values = true, value_name = "SHARE")]
    pub provisioning: Option<Share>,
    /// Assumptions of the bounds.
    #[arg(long, default_value = "sound")]
    pub model: ModelName,
    /// Cycle of Publisher and loopback, for example "250 us".
    #[arg(long)]
    pub cycle: Option<Duration>,
    /// Time from the end of a cycle until its messages are sent, for example "150 us".
    #[arg(long)]
    pub offset: Option<Duration>,
    /// Rate of all links.
    #[arg(long)]
    pub rate: Option<Rate>,
    /// File to write, which must not exist; default is the standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print one JSON object about the file that --output names.
    #[arg(long, requires = "output")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckScenarioArguments {
    /// Scenario files.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Other value of a field in each file, for example discipline=cbs; it replaces the sweep of this field.
    #[arg(long = "field", value_name = "FIELD=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Print JSON, one object for each file, with its mistakes.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FromArguments {
    /// PubSub configurations: TOML, binary file of the standard (.uabinary, .bin) or JSON.
    #[arg(required = true, value_name = "CONFIGURATION")]
    pub files: Vec<PathBuf>,
    /// Network file: topology, disciplines, and the devices that run the configurations; docs/plant.md describes it.
    #[arg(long, value_name = "FILE")]
    pub network: PathBuf,
    /// File to write; default is the standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file that --output names.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Print one JSON object about the file that --output names: its flows, assumptions and warnings.
    #[arg(long, requires = "output")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// The schema of network files for `takt scenario from`.
    #[arg(long)]
    pub network: bool,
}
