//! Arguments of `takt discover`.

use std::time::Duration;

use clap::Args;
use takt_app::Endpoint;

use super::ConnectionArguments;
use super::values::{default_registry, duration, endpoint};

#[derive(Debug, Args)]
pub struct DiscoverArguments {
    /// Server to ask for the servers that it knows; by default the registry on this host.
    #[arg(default_value_t = default_registry(), value_parser = endpoint, conflicts_with = "network")]
    pub endpoint: Endpoint,
    /// Listen to the local network instead (mDNS): servers that announce themselves.
    #[arg(long)]
    pub network: bool,
    /// Time to listen to the network.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = duration, requires = "network")]
    pub wait: Duration,
    /// Ask each server for its endpoints, and show their security.
    #[arg(long, conflicts_with = "network")]
    pub endpoints: bool,
    #[command(flatten)]
    pub connection: ConnectionArguments,
    /// Print JSON, one object for each server.
    #[arg(long)]
    pub json: bool,
}
