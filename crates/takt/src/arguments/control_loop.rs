//! Arguments of `takt loopback`, and of `takt publish` with a scenario.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::values::{count, duration, setting};

#[derive(Debug, Args)]
pub struct LoopbackArguments {
    /// Scenario file (TOML), without its sweeps.
    pub scenario: PathBuf,
    #[command(flatten)]
    pub control: ControlLoopArguments,
    /// End after this time.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub run_for: Option<Duration>,
    /// Run with this real-time priority (SCHED_FIFO), 1 to 99.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub priority: Option<u8>,
    /// Run on this core.
    #[arg(long, value_name = "NUMBER")]
    pub core: Option<usize>,
}

/// Keeper of the time at which a message leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SendingMode {
    /// The message leaves as soon as it is made.
    Immediate,
    /// The thread sends it at the offset of the scenario.
    Offset,
    /// The kernel sends it at the offset of the scenario (SO_TXTIME); the port needs ETF.
    LaunchTime,
}

/// Reaction to missed messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MissReaction {
    /// Count them.
    Count,
    /// Keep the last values, with the status UncertainLastUsableValue.
    Hold,
    /// End.
    Stop,
}

/// Arguments of the applications of a scenario.
#[derive(Debug, Args)]
#[command(next_help_heading = "With a scenario")]
pub struct ControlLoopArguments {
    /// Other value of a field of the scenario, for example discipline=cbs.
    #[arg(long = "field", value_name = "FIELD=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Application of the scenario; default is the only one.
    #[arg(long, value_name = "NAME")]
    pub application: Option<String>,
    /// Network interface, for the addresses of Ethernet.
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// Address of messages to the loopback; default is a group of Ethernet with the VLAN and priority of the scenario.
    #[arg(long, value_name = "ADDRESS")]
    pub there: Option<String>,
    /// Address of messages back to the Publisher.
    #[arg(long, value_name = "ADDRESS")]
    pub back: Option<String>,
    /// Keeper of the time at which messages leave; default is that of the scenario.
    #[arg(long)]
    pub sending: Option<SendingMode>,
    /// Number of cycles whose messages may wait in the queues of the kernel; default is the least one for a port that is fast enough.
    // Also without a scenario.
    #[arg(long, value_name = "CYCLES", help_heading = None::<&str>)]
    pub waiting: Option<NonZeroU16>,
    /// End after this number of cycles.
    #[arg(long, value_name = "COUNT", value_parser = count)]
    pub cycles: Option<u64>,
    /// Wake up this long before each part of a cycle, and spin.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub spin: Option<Duration>,
    /// Number of consecutive cycles without a message from which on --on-miss applies.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = count)]
    pub misses: u64,
    /// Reaction to cycles without a message.
    #[arg(long, default_value = "count")]
    pub on_miss: MissReaction,
    /// Write the trace points to this file at the end.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Number of trace points for which memory is reserved, 24 bytes each.
    #[arg(long, value_name = "COUNT", default_value = "1000000")]
    pub trace_points: usize,
    /// Send with launch times even if the port would not keep them; the reason is a warning then.
    // Also without a scenario.
    #[arg(long, help_heading = None::<&str>)]
    pub force: bool,
    /// Tell why cycles began late: causes from the kernel's events, which need root.
    // Also without a scenario, as the next one.
    #[arg(long, help_heading = None::<&str>)]
    pub why: bool,
    /// With --why: the shortest wake-up latency that is late.
    #[arg(long, value_name = "TIME", default_value = "100us", requires = "why", value_parser = duration, help_heading = None::<&str>)]
    pub above: Duration,
    /// Print JSON: an object for each result, and with a configuration also for each state of a WriterGroup.
    // Also without a scenario.
    #[arg(long, help_heading = None::<&str>)]
    pub json: bool,
}
