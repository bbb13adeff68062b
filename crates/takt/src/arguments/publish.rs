//! Arguments of `takt publish`.

use std::path::PathBuf;

use clap::Args;
use takt_app::Endpoint;

use super::values::endpoint;
use super::{ControlLoopArguments, PubSubRunArguments, WatchdogArguments};

#[derive(Debug, Args)]
pub struct PublishArguments {
    /// Configuration: TOML or the binary file of the standard; - for the standard input. Or a scenario: its Publisher counts, and
    /// measures the round trip to `takt loopback`.
    pub file: PathBuf,
    /// Publish Variables of this server: those that the configuration names.
    #[arg(long, value_name = "ENDPOINT", value_parser = endpoint)]
    pub from: Option<Endpoint>,
    /// Publish this value in the fields of this name.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Simulate the values of all other fields.
    #[arg(long)]
    pub simulate: bool,
    #[command(flatten)]
    pub run: PubSubRunArguments,
    #[command(flatten)]
    pub watchdog: WatchdogArguments,
    #[command(flatten)]
    pub control: ControlLoopArguments,
}
