//! Options of `takt bench pubsub`.

use clap::Args;

/// Options of the benchmark.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// Network interface of the Publisher, for Ethernet; default is UDP on the loopback interface.
    #[arg(long, value_name = "NAME", requires = "peer")]
    pub interface: Option<String>,
    /// Network interface of the loopback, at the other end of the link, on this host.
    #[arg(long, value_name = "NAME", requires = "interface")]
    pub peer: Option<String>,
    /// Round trips of each way in each round.
    #[arg(long, value_name = "COUNT", default_value = "10000", value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: u32,
    /// Rounds, in which both ways take turns.
    #[arg(long, value_name = "COUNT", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Number of fields of a message, each a Variant with a UInt64.
    #[arg(long, value_name = "COUNT", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=150))]
    pub fields: u32,
    /// Print JSON, one object for each way.
    #[arg(long)]
    pub json: bool,
}
