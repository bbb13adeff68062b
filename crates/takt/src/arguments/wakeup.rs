//! Arguments of `takt wakeup`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::values::{cores, duration};

#[derive(Debug, Args)]
pub struct WakeUpArguments {
    /// Cores, with a thread on each, for example 1 or 0-3,6; default is all cores of this process.
    #[arg(long = "core", value_name = "LIST", value_parser = cores)]
    pub cores: Option<CoreList>,
    /// Real-time priority of the threads (SCHED_FIFO), 1 to 99.
    #[arg(long, value_name = "NUMBER", default_value = "80", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub priority: u8,
    /// Time between two wake-ups of a thread.
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = duration)]
    pub interval: Duration,
    /// End after this time; Ctrl-C ends earlier, with the result.
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub run_for: Duration,
    /// Start this load, which ends with the measurement. Repeat for more.
    #[arg(long, value_name = "KIND")]
    pub load: Vec<LoadKind>,
    /// Write the latencies of all threads to this file, as `wake_up_latency` of scenarios reads them.
    #[arg(long, value_name = "FILE")]
    pub histogram: Option<PathBuf>,
    /// Tell why wake-ups were late: causes from the kernel's events, which need root.
    #[arg(long)]
    pub why: bool,
    /// With --why: the shortest latency that is late.
    #[arg(long, value_name = "TIME", default_value = "100us", requires = "why", value_parser = duration)]
    pub above: Duration,
    /// Print JSON: an object for each thread, and with --why one for each late wake-up.
    #[arg(long)]
    pub json: bool,
    /// Be this load until the standard input ends.
    #[arg(long, hide = true, value_name = "KIND")]
    pub as_load: Option<LoadKind>,
}

/// Cores by number.
pub type CoreList = Vec<usize>;

/// Load beside a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoadKind {
    /// A busy thread on each core.
    Processors,
    /// A thread on each core that maps, writes and unmaps memory: page faults and interrupts between processors.
    Memory,
    /// A thread on each core that sends packets over the loopback interface: softirqs.
    Network,
    /// stress-ng with --cpu, --vm, --timer and --sock.
    StressNg,
}
