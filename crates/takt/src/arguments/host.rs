//! Arguments of the commands for the applications of this host: `takt demo`, `ps` and `clean`.

use std::time::Duration;

use clap::Args;
use takt_app::Endpoint;

use super::values::{duration, endpoint};

/// The group that shares memory.
#[derive(Debug, Clone, Args)]
pub struct GroupArguments {
    /// Share memory with this Unix group, given by name or number, instead of this user alone.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
}

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// End after this time, for example 10s.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub run_for: Option<Duration>,
    /// Endpoint of the registry for OPC UA clients.
    #[arg(long, default_value = "opc.tcp://127.0.0.1:4840", value_parser = endpoint)]
    pub endpoint: Endpoint,
    /// Open no endpoint over opc.tcp: everything uses shared memory.
    #[arg(long, conflicts_with_all = ["endpoint", "trust_loopback"])]
    pub no_tcp: bool,
    /// Let all anonymous users from the loopback interface write and call: other Unix users of this host, too, and containers that
    /// reach it.
    #[arg(long)]
    pub trust_loopback: bool,
    /// Print JSON, one object for each event: ready, with all endpoints; request; values; ended.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub share: GroupArguments,
}

#[derive(Debug, Args)]
pub struct PsArguments {
    /// Time for which requests are counted.
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = duration)]
    pub interval: Duration,
    /// List only the applications of this Unix group, given by name or number.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Print JSON, one object for each application.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CleanArguments {
    /// Clean up in the directory of this Unix group, given by name or number, instead of this user's.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}
