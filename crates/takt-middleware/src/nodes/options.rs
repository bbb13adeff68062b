//! Options of `takt bench nodes`.

use clap::{Args, ValueEnum};

/// Transport between the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodesTransport {
    /// `opc.tcp`, without security.
    Tcp,
    /// `opc.iox2`.
    Iox2,
}

impl NodesTransport {
    /// Returns the endpoint of the application `name`, whose TCP port is `port`.
    pub(super) fn endpoint(self, name: &str, port: u16) -> String {
        match self {
            Self::Tcp => format!("opc.tcp://127.0.0.1:{port}"),
            Self::Iox2 => format!("opc.iox2://{name}"),
        }
    }
}

/// Options of the test; the defaults are those of the paper.
#[derive(Debug, Clone, Args)]
pub struct NodesOptions {
    /// Transports.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "tcp,iox2")]
    pub transport: Vec<NodesTransport>,
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
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
