//! Options of the command line.

/// Options of the measurement and of its output.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Samples per row, over all rounds: round trips, or batches of 100 requests where there is no transport.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub samples: u64,
    /// Number of rounds in which the samples are taken, each with fresh processes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Only rows with these words, and their floors. Words are peer, transport, service, bytes, placement and way of waiting, for
    /// example "takt opc.tcp Read 4 diff spin".
    #[arg(long, value_name = "FILTER")]
    pub only: Option<String>,
    /// Print JSON, one object a row.
    #[arg(long)]
    pub json: bool,
}
