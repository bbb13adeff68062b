//! Options of the command line.

use super::sizes::Sizes;
use crate::pace::RequestRate;

/// Options of the measurement and of its output.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Round trips of each series and operation.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub iterations: u64,
    /// Measurement series: M1, M2 and so on, each with fresh processes. Fewer than 6 decide no goal.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=9))]
    pub series: u32,
    /// Client and server on the same core, on different ones, or both. On the same core, neither side spins.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [PlacementOption::Diff, PlacementOption::Same])]
    pub placement: Vec<PlacementOption>,
    /// Send requests at this rate, for example 1kHz or 500Hz, instead of back to back.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<RequestRate>,
    /// Sizes of the values: 4,4096 or a sweep, 4..1MiB in powers of 4, 4..1MiB:2 in powers of 2.
    #[arg(long, value_name = "SIZES", default_value = "4,4096")]
    pub sizes: Sizes,
    /// Measure Reads once more beside this number of Consumers that are connected and idle.
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = idle_consumers)]
    pub idle: usize,
    /// Draw the latency over the size, and its distribution, into FILE.png or FILE.svg.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<takt_figures::Picture>,
    /// Colours of the charts: auto, light or dark. With auto, SVG files follow the theme of the viewer, and PNG files are light.
    #[arg(long, default_value = "auto", hide_default_value = true)]
    pub theme: takt_figures::Theme,
    /// Compare the wait policies instead: latency and processor time at several rates, on one core, on two, and beside a busy process.
    #[arg(long, conflicts_with_all = ["placement", "rate", "sizes", "idle", "plot", "theme", "iterations"])]
    pub waiting: bool,
    /// Print JSON, one object a row and a ratio.
    #[arg(long)]
    pub json: bool,
}

/// Cores of client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum PlacementOption {
    /// Both on one core.
    Same,
    /// Each on its own core.
    Diff,
}

/// Parses a number of idle Consumers. A server serves 256 at a time, and one of them is measured.
fn idle_consumers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count <= 255 => Ok(count),
        _ => Err("a number from 0 to 255".to_owned()),
    }
}
