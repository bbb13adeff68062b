//! Options of `takt bench nodes`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Nodes to which a node announces itself, where the middleware has discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Discovery {
    /// All nodes, as is usual.
    All,
    /// Only the next node.
    Next,
}

/// Options of the test; the defaults are those of the paper.
#[derive(Debug, Clone, Args)]
pub struct NodesOptions {
    /// Test only the peers whose name contains one of these texts.
    #[arg(long, value_name = "TEXT,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Streams of messages at the same time.
    #[arg(long, value_name = "COUNT", default_value = "10", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub streams: u16,
    /// Servers that each message goes through.
    #[arg(long, value_name = "COUNT", default_value = "50", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub hops: u16,
    /// Bytes of a message.
    #[arg(long, value_name = "BYTES", default_value = "10240", value_parser = clap::value_parser!(u32).range(8..=1 << 20))]
    pub bytes: u32,
    /// Messages of each stream, one after the other.
    #[arg(long, value_name = "COUNT", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repetitions: u32,
    /// Rounds; each tests all peers, one after the other. Fewer than 6 decide no goal.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Nodes to which each node announces itself, where the middleware has discovery (DDS).
    #[arg(long, value_enum, default_value = "all")]
    pub discovery: Discovery,
    /// Longest time in s until all nodes are ready, and again until all are connected.
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = clap::value_parser!(u16).range(1..))]
    pub patience: u16,
    /// Table of foreign peers; by default that of the repository.
    #[arg(long, value_name = "FILE")]
    pub peers: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl NodesOptions {
    /// Returns true if the peer is to be tested.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| name.contains(text.as_str()))
    }

    /// Returns the number of servers.
    pub(super) fn nodes(&self) -> usize {
        usize::from(self.streams) * usize::from(self.hops)
    }
}
