//! What can be typed after `takt`.

mod bounds;
mod publish;
mod pubsub;
mod scenario;
mod security_key;
mod serving;
mod simulate;

use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use takt_app::Endpoint;
use takt_app::model::DEFAULT_REGISTRY;

pub use bounds::BoundsArguments;
pub use publish::{PublishArguments, RunArguments, SubscribeArguments};
pub use pubsub::{
    CheckArguments, ConfigCommand, ConfigFormat, ConvertArguments, DecodeArguments, PubSubCommand,
};
pub use scenario::{
    CheckScenarioArguments, ModelName, NewArguments, QdiscName, ScenarioCommand, TemplateName,
};
pub use security_key::SecurityKey;
pub use serving::{
    DemoProvider, ProviderArguments, RegistryArguments, RegistryCommand, RegistryServeArguments,
};
pub use simulate::{SimulateArguments, SimulationLoopback, SimulationModel};

/// Deterministic OPC UA: shared memory between applications on one host, PubSub with TSN between hosts.
#[derive(Debug, Parser)]
#[command(
    name = "takt",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    /// Say more about what happens, on the error output; twice for every detail.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a registry, two Providers and a Consumer, and show live data.
    #[command(
        after_help = "Examples:\n  takt demo\n  takt demo --for 10s\n  takt demo --group plant"
    )]
    Demo(DemoArguments),
    /// Run the SemanticRegistryServer, or change what it knows.
    #[command(after_help = "Examples:\n  \
        takt registry\n  \
        takt registry --endpoint opc.tcp://127.0.0.1:4841 --nodeset Opc.Ua.Di.NodeSet2.xml\n  \
        takt registry --group plant\n  \
        takt registry --allow-tcp-registration --max-providers 100\n  \
        takt registry --security-group Plant=PubSub-Aes256-CTR:anna,1002\n  \
        takt registry forget Machine")]
    Registry(RegistryArguments),
    /// Run one of the Providers of the demonstration.
    #[command(
        after_help = "Examples:\n  takt provider host\n  takt provider machine --endpoint opc.tcp://127.0.0.1:4850"
    )]
    Provider(ProviderArguments),
    /// Show the nodes below a node.
    #[command(after_help = "Examples:\n  \
        takt browse opc.iox2://SemanticRegistryServer\n  \
        takt browse opc.tcp://127.0.0.1:4840 Machine --depth 3\n  \
        takt browse opc.tcp://127.0.0.1:4840 i=2253 --json")]
    Browse(BrowseArguments),
    /// Read Values.
    #[command(after_help = "Examples:\n  \
        takt read opc.iox2://SemanticRegistryServer Machine/Spindle/Speed\n  \
        takt read opc.iox2://Machine \"ns=1;s=Spindle/Speed\" --json\n  \
        takt read opc.iox2://Machine Spindle/Speed --group plant\n  \
        takt read opc.iox2://Machine Spindle/Speed --max-age 500ms\n  \
        takt read opc.tcp://127.0.0.1:4840 i=2258")]
    Read(ReadArguments),
    /// Write a Value. It is checked against the node's DataType first.
    #[command(after_help = "Examples:\n  \
        takt write opc.iox2://SemanticRegistryServer Machine/Spindle/Override 80\n  \
        takt write opc.tcp://127.0.0.1:4840 \"ns=2;s=Limits\" \"[1, 2, 3]\"")]
    Write(WriteArguments),
    /// Call a Method.
    #[command(after_help = "Examples:\n  \
        takt call opc.iox2://SemanticRegistryServer Machine/Start\n  \
        takt call opc.iox2://SemanticRegistryServer HostTelemetry/SetSamplingInterval 50")]
    Call(CallArguments),
    /// Show Values as they change.
    #[command(after_help = "Examples:\n  \
        takt watch opc.iox2://SemanticRegistryServer Machine/Spindle/Speed\n  \
        takt watch opc.tcp://127.0.0.1:4840 i=2258 --interval 100ms --for 5s")]
    Watch(WatchArguments),
    /// List the applications on this host, and what they do.
    #[command(
        after_help = "Those of this user, which meet in /dev/shm/takt-UID, or where TAKT_RUNTIME_DIR says, and those of all groups \
        that this user belongs to, which meet in /run/takt/GROUP, or where TAKT_GROUP_ROOT says.\n\n\
        Examples:\n  takt ps\n  takt ps --interval 5s --json\n  takt ps --group plant"
    )]
    Ps(PsArguments),
    /// Remove what killed applications left behind, and nothing else.
    #[command(
        after_help = "Examples:\n  takt clean\n  takt clean --json\n  takt clean --group plant"
    )]
    Clean(CleanArguments),
    /// Measure, beside the floors of this machine.
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Publish DataSets: the Variables of a server, given values, or made-up ones.
    #[command(after_help = "Examples:\n  \
        takt publish publisher.toml --simulate\n  \
        takt publish publisher.toml --from opc.iox2://Machine\n  \
        takt publish publisher.toml --set Speed=1500 --simulate --for 10s\n  \
        takt publish publisher.toml --simulate --keys opc.iox2://SemanticRegistryServer --priority 80 --core 1")]
    Publish(PublishArguments),
    /// Show DataSets as they are received.
    #[command(after_help = "Examples:\n  \
        takt subscribe subscriber.toml\n  \
        takt subscribe subscriber.toml --json --count 100\n  \
        takt subscribe opc.udp://239.0.0.1:4840 --interface lo\n  \
        takt subscribe mqtt://localhost --topic \"opcua/json/#\"")]
    Subscribe(SubscribeArguments),
    /// PubSub: configuration files, and what is in messages.
    #[command(subcommand, name = "pubsub")]
    PubSub(PubSubCommand),
    /// Simulate a scenario: what the queueing disciplines do to its messages, frame by frame; or search the worst case.
    #[command(after_help = "Examples:\n  \
        takt simulate scenarios/e3.toml\n  \
        takt simulate scenarios/b.toml --messages 100000 --seed 7 --csv messages.csv\n  \
        takt simulate scenarios/line.toml --adversarial --tries 2000\n\n\
        docs/simulation.md says what is modelled.")]
    Simulate(SimulateArguments),
    /// Scenarios: networks, queueing disciplines and applications, described in one file.
    #[command(subcommand)]
    Scenario(ScenarioCommand),
    /// Prove how long messages of a scenario can take at most, by network calculus.
    #[command(after_help = "Examples:\n  \
        takt bounds scenarios/line.toml\n  \
        takt bounds line.toml --model sound --analysis all\n  \
        takt bounds line.toml --json --plot bounds.svg")]
    Bounds(BoundsArguments),
    /// Print a completion script for a shell.
    #[command(after_help = "Example:\n  takt completions bash > /etc/bash_completion.d/takt")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Whom shared memory is shared with.
#[derive(Debug, Clone, Args)]
pub struct GroupArguments {
    /// Share memory with this Unix group, by name or number, instead of this user alone.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
}

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// End after this time, for example 10s.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub run_for: Option<Duration>,
    /// Where the registry listens for OPC UA clients.
    #[arg(long, default_value = "opc.tcp://127.0.0.1:4840", value_parser = endpoint)]
    pub endpoint: Endpoint,
    #[command(flatten)]
    pub share: GroupArguments,
}

/// Which application to talk to, and how.
#[derive(Debug, Args)]
pub struct ConnectArguments {
    /// The endpoint: opc.iox2://ApplicationName or opc.tcp://host:port.
    #[arg(value_parser = endpoint)]
    pub endpoint: Endpoint,
    /// How long a request may take.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub share: GroupArguments,
    /// Print JSON, one object a row.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct BrowseArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// Where to start: a NodeId or a path below the Objects folder.
    #[arg(default_value = "i=85")]
    pub node: String,
    /// How many levels to show.
    #[arg(long, default_value_t = 2)]
    pub depth: u32,
    /// All references of the node, both ways, instead of the tree below it.
    #[arg(long)]
    pub references: bool,
}

#[derive(Debug, Args)]
pub struct ReadArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// NodeIds or paths below the Objects folder.
    #[arg(required = true)]
    pub nodes: Vec<String>,
    /// Another attribute than Value, for example DataType.
    #[arg(long, default_value = "Value", value_parser = attribute)]
    pub attribute: takt_app::Attribute,
    /// How old a value may be that the server has kept, for example 500ms; otherwise it asks its source.
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = duration)]
    pub max_age: Duration,
}

#[derive(Debug, Args)]
pub struct WriteArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// A NodeId or a path below the Objects folder.
    pub node: String,
    /// The value: a number, a text, true or false, a JSON array.
    #[arg(allow_negative_numbers = true)]
    pub value: String,
}

#[derive(Debug, Args)]
pub struct CallArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// The Method: a NodeId or a path below the Objects folder.
    pub method: String,
    /// The input arguments.
    #[arg(allow_negative_numbers = true)]
    pub inputs: Vec<String>,
    /// The Object to call it on, where the Method belongs to more than one.
    #[arg(long)]
    pub object: Option<String>,
}

#[derive(Debug, Args)]
pub struct WatchArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// NodeIds or paths below the Objects folder.
    #[arg(required = true)]
    pub nodes: Vec<String>,
    /// How often changes are told: the publishing interval.
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = duration)]
    pub interval: Duration,
    /// End after this time.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub run_for: Option<Duration>,
}

#[derive(Debug, Args)]
pub struct PsArguments {
    /// How long to count requests for.
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = duration)]
    pub interval: Duration,
    /// List the applications of this Unix group, by name or number, and no others.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Print JSON, one object an application.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CleanArguments {
    /// Remove what was left in the directory of this Unix group, by name or number, instead of this user's.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Requests over shared memory and TCP, ours and foreign ones, beside the raw floors.
    #[command(
        after_help = "Examples:\n  takt bench transport\n  takt bench transport --samples 20000 --json"
    )]
    Transport(takt_bench::transport::Options),
    /// The paper's Tables 1 and 2: GetValue() and SetValue() over shared memory, beside TCP, open62541 and what is underneath.
    #[command(
        after_help = "Examples:\n  takt bench shm\n  takt bench shm --idle 255 --json\n  takt bench shm --placement diff \
                      --sizes 4..1MiB --plot latency.png\n  takt bench shm --rate 1kHz --iterations 10000"
    )]
    Shm(takt_bench::shm::Options),
    /// The SR-Server architecture against classical OPC UA: connections, bytes, memory, time to discover.
    #[command(
        after_help = "Examples:\n  takt bench directory\n  takt bench directory --providers 1,10,100,500 --json\n  takt bench \
                      directory --providers 50 --consumers 4"
    )]
    Directory(takt_bench::directory::Options),
    /// A client beside another one that attacks the server: latency, memory, descriptors, without the attack and with it.
    #[command(
        after_help = "Examples:\n  takt bench attack\n  takt bench attack --only translate,browse --seconds 3\n  takt bench attack \
                      --json\n  takt bench attack --list"
    )]
    Attack(takt_bench::attack::Options),
}

fn default_registry() -> Endpoint {
    #[allow(clippy::expect_used, reason = "a constant, covered by a test")]
    format!("opc.iox2://{DEFAULT_REGISTRY}")
        .parse()
        .expect("a valid endpoint")
}

fn endpoint(text: &str) -> Result<Endpoint, String> {
    text.parse()
        .map_err(|error: takt_app::EndpointError| error.to_string())
}

fn attribute(text: &str) -> Result<takt_app::Attribute, String> {
    takt_app::Attribute::from_name(text).ok_or_else(|| {
        format!("`{text}` is no attribute; for example Value, DataType, DisplayName")
    })
}

/// `10s`, `250ms`, `1.5s`, `2min`.
fn duration(text: &str) -> Result<Duration, String> {
    let fault = || format!("`{text}` is no time: write for example 10s, 250ms or 2min");
    let unit = text
        .find(|c: char| c.is_ascii_alphabetic())
        .ok_or_else(fault)?;
    let (number, unit) = text.split_at(unit);
    let factor = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(fault()),
    };
    let number: f64 = number.trim().parse().map_err(|_| fault())?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| fault())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
        assert_eq!(
            default_registry().to_string(),
            "opc.iox2://SemanticRegistryServer"
        );
    }

    #[test]
    fn times_are_written_with_their_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert!(duration("10").is_err());
        assert!(duration("-1s").is_err());
    }
}
