//! Arguments of Takt's own nodes.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Transport of Takt's own nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NodeTransport {
    /// Bare sockets.
    RawTcp,
    /// `opc.tcp`, without security.
    Tcp,
    /// `opc.iox2`.
    Iox2,
    /// PubSub over `opc.udp`.
    PubsubUdp,
    /// PubSub over `opc.iox2`.
    PubsubIox2,
}

/// Role of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NodeRole {
    /// Passes each message on.
    Hop,
    /// Sends all messages, and takes them at the end of their streams.
    End,
}

/// Arguments of a node.
#[derive(Debug, Clone, Args)]
pub struct NodeSetting {
    /// Transport.
    #[arg(value_enum)]
    pub transport: NodeTransport,
    /// Role.
    #[arg(value_enum)]
    pub role: NodeRole,
    /// Address of all nodes.
    #[arg(long)]
    pub address: IpAddr,
    /// TCP port.
    #[arg(long)]
    pub port: u16,
    /// Ports of the nodes to which messages go: one for a hop, one for each stream for the end.
    #[arg(long, value_delimiter = ',', required = true)]
    pub next: Vec<u16>,
    /// Folder that all nodes share.
    #[arg(long)]
    pub folder: PathBuf,
}

impl NodeSetting {
    /// Returns the ApplicationName of the node with this port. The folder has the nodes of one run only.
    pub(super) fn name(&self, port: u16) -> String {
        let folder = self.folder.file_name().unwrap_or_default();
        let run: String = folder
            .to_string_lossy()
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        format!("TaktNode{run}x{port}")
    }
}
