//! Arguments of `takt subscribe`.

use clap::Args;

use super::values::setting;
use super::{PubSubRunArguments, WatchdogArguments};

#[derive(Debug, Args)]
pub struct SubscribeArguments {
    /// Configuration (TOML or the binary file of the standard) or address (opc.udp://239.0.0.1:4840, opc.eth://…, opc.iox2://…,
    /// mqtt://broker). All messages at an address are shown.
    pub source: String,
    /// Network interface, with an address.
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// Address at which Publishers are asked for names and types of their fields, for example opc.udp://224.0.2.14:4840.
    #[arg(long, value_name = "ADDRESS")]
    pub discovery: Option<String>,
    /// Topic filter, with the address of a broker.
    #[arg(long, value_name = "FILTER", default_value = "opcua/#")]
    pub topic: String,
    /// Print JSON: one object for each DataSetMessage, and at the end one for each connection, with its lost messages by cause.
    #[arg(long)]
    pub json: bool,
    /// End after this number of DataSetMessages.
    #[arg(long, value_name = "NUMBER")]
    pub count: Option<u64>,
    #[command(flatten)]
    pub run: PubSubRunArguments,
    #[command(flatten)]
    pub watchdog: WatchdogArguments,
    /// Other value of a field of the scenario, for example discipline=cbs.
    #[arg(long = "field", value_name = "FIELD=VALUE", requires = "scenario", value_parser = setting)]
    pub settings: Vec<(String, String)>,
}
