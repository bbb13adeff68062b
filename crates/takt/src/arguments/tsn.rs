//! Arguments of `takt tsn`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use takt_scenario::{DisciplineDescription, Duration, Rate};

use super::disciplines;
use super::values::{duration, setting};

#[derive(Debug, Subcommand)]
pub enum TsnCommand {
    /// Print the commands that configure the ports of a scenario, or an interface.
    #[command(after_help = "Examples:\n  \
        takt tsn plan scenarios/line.toml --node bridge1 --explain\n  \
        takt tsn plan scenarios/d.toml --field discipline=taprio --svg gates.svg\n  \
        takt tsn plan --interface eth0 --discipline etf --delta 90us --preset at-scale\n\n\
        The output is a shell script.")]
    Plan(TsnPlanArguments),
    /// Configure an interface, and compare what the kernel holds with the plan.
    #[command(after_help = "Examples:\n  \
        takt tsn apply scenarios/line.toml --node host1 --interface enp3s0\n  \
        takt tsn apply scenarios/d.toml --node host1 --interface eth0 --dry-run\n\n\
        `takt tsn clear` restores what was there before.")]
    Apply(TsnApplyArguments),
    /// Show the counters of each class of an interface.
    #[command(
        after_help = "Examples:\n  takt tsn show enp3s0\n  takt tsn show enp3s0 --interval 1s"
    )]
    Show(TsnShowArguments),
    /// Print the differences between an interface and its plan.
    #[command(
        after_help = "Example:\n  takt tsn verify scenarios/line.toml --node host1 --interface enp3s0"
    )]
    Verify(TsnVerifyArguments),
    /// Restore what interfaces had before the first `takt tsn apply`.
    #[command(after_help = "Examples:\n  takt tsn clear\n  takt tsn clear enp3s0")]
    Clear(TsnClearArguments),
}

/// A port: of a scenario, or from options.
#[derive(Debug, Args)]
pub struct TsnPortArguments {
    /// Scenario file (TOML), without its sweeps. Without it, --interface and --discipline describe the port.
    pub scenario: Option<PathBuf>,
    /// Other value of a field of the scenario, for example discipline=cbs.
    // Earlier versions named it --set, which `takt publish` has for values of DataSets.
    #[arg(long = "field", alias = "set", value_name = "FIELD=VALUE", value_parser = setting, requires = "scenario")]
    pub settings: Vec<(String, String)>,
    /// Node of the scenario; default is all nodes.
    #[arg(long, value_name = "NAME", requires = "scenario")]
    pub node: Option<String>,
    /// Node at the other end of the port's link; default is all ports of the node.
    #[arg(long, value_name = "NAME", requires = "node")]
    pub port: Option<String>,
    /// Network interface of the port; default for plans is eth0, eth1 and so on at each node.
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// Discipline of a port without a scenario.
    #[arg(long, conflicts_with = "scenario", requires = "interface")]
    #[arg(value_parser = disciplines::parser(needs))]
    pub discipline: Option<&'static DisciplineDescription>,
    #[command(flatten)]
    pub parameters: TsnParameters,
    /// Work of the hardware; default is etf as in the scenario, and nothing else.
    #[arg(long)]
    pub offload: Option<TsnOffload>,
    /// Speed of the interface, for cbs; default is what the interface reports, or the rate of the link for plans.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub speed: Option<Rate>,
    /// Greatest number of entries that the hardware has for gates (gate list length); a longer list is an error.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub gate_list_length: Option<u16>,
    /// Number of transmit queues to use; default is one for each class. The lowest class gets those that are left.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub queues: Option<u16>,
    /// Make a VLAN interface for each VLAN of a host's port, for applications that do not write the tag themselves.
    #[arg(long)]
    pub vlan_interfaces: bool,
}

/// Parameters of a discipline without a scenario.
#[derive(Debug, Args)]
#[command(next_help_heading = "Without a scenario")]
pub struct TsnParameters {
    /// Number of classes, with the priorities of IEEE 802.1Q, Table 8-5; default is 2.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["preset", "scenario"])]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=8))]
    pub classes: Option<u8>,
    /// Priorities and classes of a paper.
    #[arg(long, conflicts_with = "scenario")]
    pub preset: Option<TsnPreset>,
    /// Rate of the link; default is 1 Gbit/s.
    #[arg(long, value_name = "RATE", conflicts_with = "scenario", value_parser = rate)]
    pub rate: Option<Rate>,
    /// cbs: idleSlope of the highest class, in bits on the wire.
    #[arg(long, value_name = "RATE", conflicts_with = "scenario", value_parser = rate)]
    pub idle_slope: Option<Rate>,
    /// etf: delta of the highest class, for example 200us.
    #[arg(long, value_name = "TIME", conflicts_with = "scenario", value_parser = time)]
    pub delta: Option<Duration>,
    /// taprio: length of a cycle.
    #[arg(long, value_name = "TIME", conflicts_with = "scenario", value_parser = time)]
    pub cycle: Option<Duration>,
    /// taprio: window of the highest class at the beginning of the cycle.
    #[arg(long, value_name = "TIME", conflicts_with = "scenario", value_parser = time)]
    pub window: Option<Duration>,
    /// taprio: beginning of a cycle on CLOCK_TAI; default is 0.
    #[arg(long, value_name = "TIME", conflicts_with = "scenario", value_parser = time)]
    pub base_time: Option<Duration>,
    /// taprio: txtime-delay of txtime-assist; --delta is for the etf below.
    #[arg(long, value_name = "TIME", conflicts_with = "scenario", value_parser = time)]
    pub txtime_assist: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TsnOffload {
    /// Nothing, as for veth.
    None,
    /// etf, cbs, and the gates of taprio.
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TsnPreset {
    /// "Real-Time Performance of OPC UA", section IV-C: PCP 3, all others.
    RealTimePerformance,
    /// "Real-Time Performance of OPC UA", Table I: eight classes, PCP 3 and 2 highest.
    #[value(name = "real-time-performance-table-1")]
    RealTimePerformanceTable,
    /// "Assessment of OPC UA PubSub at Scale": PCP 3, PCP 2, all others.
    AtScale,
}

#[derive(Debug, Args)]
pub struct TsnPlanArguments {
    #[command(flatten)]
    pub port: TsnPortArguments,
    /// Tell the origin of each number.
    #[arg(long)]
    pub explain: bool,
    /// Draw the gates of the ports into this file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Name of the bridge at nodes that are bridges, for messages to several subscribers; default is bridge0.
    #[arg(long, value_name = "BRIDGE", requires = "scenario")]
    pub bridge: Option<String>,
    /// Print JSON, one object for each port.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct TsnApplyArguments {
    #[command(flatten)]
    pub port: TsnPortArguments,
    #[command(flatten)]
    pub system: TsnSystemArguments,
    /// Print the commands instead of running them.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct TsnVerifyArguments {
    #[command(flatten)]
    pub port: TsnPortArguments,
    #[command(flatten)]
    pub system: TsnSystemArguments,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct TsnShowArguments {
    /// Network interface.
    pub interface: String,
    #[command(flatten)]
    pub system: TsnSystemArguments,
    /// Time between two tables; default is one table.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub interval: Option<std::time::Duration>,
    /// Print JSON, one object for each class.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct TsnClearArguments {
    /// Network interfaces; default is all that were changed.
    pub interfaces: Vec<String>,
    /// Print JSON, one object for each interface.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub system: TsnSystemArguments,
}

/// Place of the interface.
#[derive(Debug, Args)]
pub struct TsnSystemArguments {
    /// Network namespace (`ip netns`) of the interface.
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Directory for the earlier states of interfaces; default is $TAKT_TSN_STATE_DIR, or /run/takt-tsn.
    #[arg(long, value_name = "DIRECTORY")]
    pub state_dir: Option<PathBuf>,
}

/// Returns the options that a discipline without a scenario needs, as the end of its help text.
fn needs(discipline: &str) -> &'static str {
    match discipline {
        "cbs" => " for the highest class; needs --idle-slope",
        "etf" => " for the highest class; needs --delta",
        "taprio" => "; needs --cycle and --window",
        _ => "",
    }
}

fn time(text: &str) -> Result<Duration, String> {
    text.parse()
        .map_err(|error: takt_scenario::QuantityError| error.to_string())
}

fn rate(text: &str) -> Result<Rate, String> {
    text.parse()
        .map_err(|error: takt_scenario::QuantityError| error.to_string())
}
