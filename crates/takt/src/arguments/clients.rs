//! Arguments of the commands that use a server: `takt browse`, `read`, `write`, `call` and `watch`, and those that others share.

use std::time::Duration;

use clap::Args;
use takt_app::{Endpoint, EndpointUrl};

use super::values::{attribute, duration, endpoint, listening};
use super::{ClientSecurityArguments, GroupArguments};

/// Application to use, with its endpoint and the connection to it.
#[derive(Debug, Args)]
pub struct ConnectArguments {
    /// Endpoint of the server: opc.iox2://ApplicationName or opc.tcp://host:port.
    #[arg(value_parser = endpoint)]
    pub endpoint: Endpoint,
    #[command(flatten)]
    pub connection: ConnectionArguments,
    /// Print JSON, one object for each row.
    #[arg(long)]
    pub json: bool,
}

/// Connection to a server: its time limit, its direction, its security and its user.
#[derive(Debug, Args)]
pub struct ConnectionArguments {
    /// Longest time that a request may take.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub reverse: ReverseArguments,
    #[command(flatten)]
    pub share: GroupArguments,
    #[command(flatten)]
    pub security: ClientSecurityArguments,
}

/// Reverse connect: the server connects to this command.
#[derive(Debug, Clone, Args)]
pub struct ReverseArguments {
    /// Do not connect: wait at this address until the server connects (reverse connect). The endpoint is the EndpointUrl that it
    /// sends then. For example `takt browse opc.tcp://plc:4840 --listen 0.0.0.0:4841`.
    #[arg(long, value_name = "HOST:PORT", value_parser = listening)]
    pub listen: Option<EndpointUrl>,
    /// ApplicationUri of the server, which it sends and which has to be in its certificate [default: any one with the EndpointUrl].
    #[arg(long, value_name = "URI", requires = "listen")]
    pub server_uri: Option<String>,
    /// Longest wait for the server.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration, requires = "listen")]
    pub listen_for: Duration,
}

#[derive(Debug, Args)]
pub struct BrowseArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// Node to start at: a NodeId or a path below the Objects folder. `&/` is a slash in a name.
    #[arg(default_value = "i=85")]
    pub node: String,
    /// Number of levels to show.
    #[arg(long, default_value_t = 2)]
    pub depth: u32,
    /// Show all references of the node in both directions instead of the tree below it.
    #[arg(long, conflicts_with = "depth")]
    pub references: bool,
    /// Show the Objects and Variables of this type and its subtypes instead of a tree: its BrowseName, with or without namespace
    /// (4:BaseToolType), the beginning of it (MachineryItemState), or its NodeId.
    #[arg(long = "type", value_name = "TYPE", conflicts_with_all = ["node", "depth", "references"])]
    pub of_type: Option<String>,
}

#[derive(Debug, Args)]
pub struct ReadArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// Nodes: NodeIds or paths below the Objects folder.
    #[arg(required = true)]
    pub nodes: Vec<String>,
    /// Attribute to read, for example DataType.
    #[arg(long, default_value = "Value", value_parser = attribute)]
    pub attribute: takt_app::Attribute,
    /// Largest age of a value that the server has kept (maxAge), for example 500ms. The server reads older values anew.
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = duration)]
    pub max_age: Duration,
}

#[derive(Debug, Args)]
pub struct WriteArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// Node: a NodeId or a path below the Objects folder. `&/` is a slash in a name.
    pub node: String,
    /// Value: a number, a text, true or false, the name of an enumeration's value, or JSON: an array, or the fields of a structure
    /// as `takt read --json` shows them.
    #[arg(allow_negative_numbers = true)]
    pub value: String,
}

#[derive(Debug, Args)]
pub struct CallArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// Method: a NodeId or a path below the Objects folder. `&/` is a slash in a name.
    pub method: String,
    /// Input arguments, as the value of `takt write`.
    #[arg(allow_negative_numbers = true)]
    pub inputs: Vec<String>,
    /// Object on which the Method is called. It is needed if several Objects have a Method that is a NodeId.
    #[arg(long)]
    pub object: Option<String>,
}

#[derive(Debug, Args)]
pub struct WatchArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// Nodes: NodeIds or paths below the Objects folder. With --events: notifiers; without one, the Server Object, which has
    /// all Events.
    #[arg(required_unless_present = "events")]
    pub nodes: Vec<String>,
    /// Show Events instead of values; audit Events only with --type.
    #[arg(long)]
    pub events: bool,
    /// Show only Events of this type and its subtypes: a NodeId, or a name such as AlarmConditionType. --json then prints all
    /// fields that the type and its supertypes declare.
    #[arg(long = "type", value_name = "TYPE", requires = "events")]
    pub event_type: Option<String>,
    /// Show only Events for which this holds: FIELD, one of = > >= < <= ~ (like), and VALUE. Repeatable; all must hold. A field of
    /// another namespace has its index: 7:Torque>=10.
    #[arg(long = "where", value_name = "CONDITION", requires = "events")]
    pub conditions: Vec<String>,
    /// Publishing interval.
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = duration)]
    pub interval: Duration,
    /// End after this time.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub run_for: Option<Duration>,
}
