//! Options of `takt bench sessions`.

use std::time::Duration;

use clap::Args;
use takt_app::SecurityChoice;

/// Options of the benchmark.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// Number of sessions, each with a Subscription on a connection of its own.
    #[arg(long, value_name = "COUNT", default_value = "1300", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub sessions: u32,
    /// Number of MonitoredItems of each session.
    #[arg(long, value_name = "COUNT", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub items: u32,
    /// Interval in ms at which each value changes and is published.
    #[arg(long, value_name = "MS", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub interval: u32,
    /// Duration of the measurement in seconds.
    #[arg(long, value_name = "COUNT", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,
    /// Security of the channels: none, sign, encrypt, or a SecurityPolicy.
    #[arg(long, value_name = "CHOICE", default_value = "encrypt")]
    pub security: SecurityChoice,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl Options {
    pub(super) fn interval(&self) -> Duration {
        Duration::from_millis(u64::from(self.interval))
    }

    pub(super) fn duration(&self) -> Duration {
        Duration::from_secs(u64::from(self.seconds))
    }
}
