//! The commands in their groups, in the order of `takt --help`.

use clap::Subcommand;

use super::{
    AnalyzeArguments, BenchArguments, BoundsArguments, BrowseArguments, CallArguments,
    CampaignCommand, CleanArguments, DemoArguments, DiscoverArguments, HistoryArguments,
    LabCommand, LoopbackArguments, PapersCommand, ProviderArguments, PsArguments, PubSubCommand,
    PublishArguments, ReadArguments, RegistryArguments, ReportArguments, ScenarioCommand,
    SimulateArguments, SubscribeArguments, TrustArguments, TsnCommand, UserArguments,
    WakeUpArguments, WatchArguments, WriteArguments,
};

/// A command of `takt`. Each belongs to one group.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    OpcUa(OpcUaGroup),
    #[command(flatten)]
    Services(ServicesGroup),
    #[command(flatten)]
    PubSub(PubSubGroup),
    #[command(flatten)]
    Laboratory(LaboratoryGroup),
    #[command(flatten)]
    Other(OtherGroup),
}

/// Commands that work with any OPC UA server.
#[derive(Debug, Subcommand)]
pub enum OpcUaGroup {
    /// Show the nodes below a node.
    #[command(after_help = "Examples:\n  \
        takt browse opc.iox2://SemanticRegistryServer\n  \
        takt browse opc.tcp://127.0.0.1:4840 Machine --depth 3\n  \
        takt browse opc.tcp://127.0.0.1:4840 i=2253 --json")]
    Browse(BrowseArguments),
    /// Find servers on this host and on the local network.
    #[command(after_help = "Examples:\n  \
        takt discover\n  \
        takt discover opc.tcp://plc7:4840 --endpoints\n  \
        takt discover opc.tcp://plc7:4840 --security encrypt --user anna\n  \
        takt discover --network")]
    Discover(DiscoverArguments),
    /// Read Values.
    #[command(after_help = "Examples:\n  \
        takt read opc.iox2://SemanticRegistryServer Machine/Spindle/Speed\n  \
        takt read opc.iox2://Machine \"ns=1;s=Spindle/Speed\" --json\n  \
        takt read opc.iox2://Machine Spindle/Speed --group plant\n  \
        takt read opc.iox2://Machine Spindle/Speed --max-age 500ms\n  \
        takt read opc.tcp://127.0.0.1:4840 i=2258")]
    Read(ReadArguments),
    /// Write a Value, after a check against the DataType of the node.
    #[command(after_help = "Examples:\n  \
        takt write opc.iox2://SemanticRegistryServer Machine/Spindle/Override 80\n  \
        takt write opc.tcp://127.0.0.1:4840 \"ns=2;s=Limits\" \"[1, 2, 3]\"")]
    Write(WriteArguments),
    /// Call a Method.
    #[command(after_help = "Examples:\n  \
        takt call opc.iox2://SemanticRegistryServer Machine/Start\n  \
        takt call opc.iox2://HostTelemetry SetSamplingInterval 50")]
    Call(CallArguments),
    /// Show Values as they change, or Events.
    #[command(after_help = "Examples:\n  \
        takt watch opc.iox2://SemanticRegistryServer Machine/Spindle/Speed\n  \
        takt watch opc.tcp://127.0.0.1:4840 i=2258 --interval 100ms --for 5s\n  \
        takt watch opc.iox2://SemanticRegistryServer --events --type AlarmCondition\n  \
        takt watch opc.iox2://Machine --events --where 'Severity>=500'")]
    Watch(WatchArguments),
    /// Show recorded Values, or aggregates of them.
    #[command(after_help = "Examples:\n  \
        takt history opc.iox2://SemanticRegistryServer Machine/Spindle/Speed\n  \
        takt history opc.iox2://Machine Spindle/Speed --from 10min --csv\n  \
        takt history opc.tcp://127.0.0.1:4840 \"ns=2;s=Speed\" --last 5\n  \
        takt history opc.iox2://Machine Spindle/Speed --from 1h \\\n    \
        --aggregate average --interval 1min")]
    History(HistoryArguments),
}

/// Commands that run and administrate the servers of this host.
#[derive(Debug, Subcommand)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one value, at the start of the program"
)]
pub enum ServicesGroup {
    /// Start a registry, two Providers and a Consumer; show live data.
    #[command(
        after_help = "Examples:\n  takt demo\n  takt demo --for 10s\n  takt demo --group plant"
    )]
    Demo(DemoArguments),
    /// Run the SemanticRegistryServer, or change its contents.
    #[command(after_help = "Examples:\n  \
        takt registry\n  \
        takt registry --endpoint opc.tcp://127.0.0.1:4841 --nodeset Di.NodeSet2.xml\n  \
        takt registry --group plant\n  \
        takt registry --history \"Machine/Spindle/*\" --history-max-age 720h\n  \
        takt registry --allow-tcp-registration --max-providers 100\n  \
        takt registry --security-group Plant=PubSub-Aes256-CTR:anna,1002\n  \
        takt registry --push-target Plant=urn:takt:pubsub:press@opc.tcp://press:4850\n  \
        takt registry --endpoint opc.tcp://pc:4840 --register-at opc.tcp://lds:4840\n  \
        takt registry forget Machine")]
    Registry(RegistryArguments),
    /// Run one of the Providers of the demonstration.
    #[command(
        after_help = "Examples:\n  takt provider host\n  takt provider machine --endpoint opc.tcp://127.0.0.1:4850"
    )]
    Provider(ProviderArguments),
    /// List, trust, reject and renew certificates.
    ///
    /// They are those of secured connections over opc.tcp, of this host or of a server.
    #[command(after_help = "Examples:\n  \
        takt trust list\n  \
        takt trust add 3F2A91C0\n  \
        takt trust add press.der\n  \
        takt trust reject 3F2A91C0\n  \
        takt trust renew SemanticRegistryServer --host plc7.plant")]
    Trust(TrustArguments),
    /// List, add and remove users of servers.
    ///
    /// Users log in over opc.tcp. Unix users and groups have roles over shared memory.
    #[command(after_help = "Examples:\n  \
        TAKT_PASSWORD=... takt user add anna --role operator\n  \
        TAKT_PASSWORD=... takt user add carl --role operator,engineer\n  \
        takt user add bert --certificate bert.der --role observer\n  \
        takt user add --unix-group plant --role observer\n  \
        takt user list\n  \
        takt user remove anna")]
    User(UserArguments),
    /// List the applications of this host, their clients and memory.
    #[command(
        after_help = "Listed are the applications of this user (directory /dev/shm/takt-UID or $TAKT_RUNTIME_DIR) and those of all \
        groups of this user (directories /run/takt/GROUP or $TAKT_GROUP_ROOT/GROUP).\n\n\
        Examples:\n  takt ps\n  takt ps --interval 5s --json\n  takt ps --group plant"
    )]
    Ps(PsArguments),
    /// Clean up after crashed applications.
    #[command(
        after_help = "Examples:\n  takt clean\n  takt clean --json\n  takt clean --group plant"
    )]
    Clean(CleanArguments),
}

/// Commands that send, receive and decode PubSub messages.
#[derive(Debug, Subcommand)]
pub enum PubSubGroup {
    /// Publish DataSets: values of a server, given or simulated ones.
    ///
    /// With a scenario, it publishes the counters of the scenario's Publisher.
    #[command(after_help = "Examples:\n  \
        takt publish scenarios/e3.toml --interface enp3s0 --priority 80 --core 2\n  \
        takt publish publisher.toml --simulate\n  \
        takt publish publisher.toml --from opc.iox2://Machine\n  \
        takt publish publisher.toml --set Speed=1500 --simulate --for 10s\n  \
        takt publish publisher.toml --simulate --priority 80 --core 1\n  \
        takt publish secure.toml --simulate --keys opc.iox2://SemanticRegistryServer\n  \
        takt publish secure.toml --simulate --key-endpoint opc.tcp://0.0.0.0:4850")]
    Publish(PublishArguments),
    /// Show DataSets as they are received.
    #[command(after_help = "Examples:\n  \
        takt subscribe subscriber.toml\n  \
        takt subscribe subscriber.toml --json --count 100\n  \
        takt subscribe opc.udp://239.0.0.1:4840 --interface lo\n  \
        takt subscribe mqtt://localhost --topic \"opcua/json/#\"")]
    Subscribe(SubscribeArguments),
    /// Send the messages of a scenario's Publisher back, in real time.
    #[command(after_help = "Examples:\n  \
        takt loopback scenarios/e3.toml --interface enp3s0 --priority 80 --core 2\n  \
        takt loopback e3.toml --there opc.udp://host2:4841 --back opc.udp://host1:4841\n  \
        takt loopback e3.toml --interface enp3s0 --trace loopback.trace --for 60s\n\n\
        `takt publish SCENARIO` runs the other end (docs/control-loops.md).")]
    Loopback(LoopbackArguments),
    /// Convert PubSub configuration files, and decode messages.
    #[command(subcommand, name = "pubsub")]
    PubSub(PubSubCommand),
}

/// Commands that answer from a scenario: bound, simulation, measurement.
#[derive(Debug, Subcommand)]
pub enum LaboratoryGroup {
    /// Create and check scenarios: networks, queues and applications.
    #[command(subcommand)]
    Scenario(ScenarioCommand),
    /// Prove upper bounds on delays in a scenario, by network calculus.
    #[command(after_help = "Examples:\n  \
        takt bounds scenarios/line.toml\n  \
        takt bounds line.toml --model sound --analysis all\n  \
        takt bounds line.toml --field topology.hops=3\n  \
        takt bounds line.toml --json --plot bounds.svg")]
    Bounds(BoundsArguments),
    /// Simulate a scenario frame by frame, or search for its worst case.
    #[command(after_help = "Examples:\n  \
        takt simulate scenarios/e3.toml\n  \
        takt simulate scenarios/b.toml --messages 100000 --seed 7 --csv messages.csv\n  \
        takt simulate scenarios/line.toml --field topology.hops=3 --field discipline=cbs\n  \
        takt simulate scenarios/line.toml --adversarial --tries 2000\n\n\
        docs/simulation.md describes the models.")]
    Simulate(SimulateArguments),
    /// Configure queueing disciplines and gates of network interfaces.
    #[command(subcommand)]
    Tsn(TsnCommand),
    /// Run scenarios on networks in the Linux kernel.
    #[command(subcommand)]
    Lab(LabCommand),
    /// Compute many cases of scenarios, and merge their repetitions.
    #[command(subcommand)]
    Campaign(CampaignCommand),
    /// Compute tables and figures of papers, and judge their findings.
    #[command(subcommand)]
    Papers(PapersCommand),
    /// Measure how late real-time threads wake up on this host.
    ///
    /// The measurement is that of cyclictest. A scenario reads the histogram as its `wake_up_latency`.
    #[command(
        name = "wakeup",
        after_help = "Examples:\n  \
        takt wakeup\n  \
        takt wakeup --core 1-3 --priority 80 --interval 250us --for 60s\n  \
        takt wakeup --core 2 --load memory --histogram host2.csv\n\n\
        docs/wakeup.md describes the measurement."
    )]
    WakeUp(WakeUpArguments),
    /// Show round trips, jitter, losses and counters of a run.
    ///
    /// It reads the trace files and captures of the run.
    #[command(after_help = "Examples:\n  \
        takt analyze publisher.trace loopback.trace\n  \
        takt analyze publisher.pcapng --at-loopback loopback.pcapng --synchronized --trim 0\n  \
        takt analyze run/ --json\n\n\
        docs/analysis.md defines the quantities.")]
    Analyze(AnalyzeArguments),
    /// Put bound, simulation and measurement of runs side by side.
    ///
    /// The report is one HTML file. A measurement above its bound is an error.
    #[command(after_help = "Examples:\n  \
        takt report line-run\n  \
        takt report line-run e3-run --to report.html --pictures pictures\n  \
        takt report line-run --requirement motion-control --requirement sr-class\n  \
        takt report --requirements\n\n\
        docs/report.md describes the report.")]
    Report(ReportArguments),
}

/// Commands for users of this program.
#[derive(Debug, Subcommand)]
pub enum OtherGroup {
    /// Run benchmarks, each beside the floor of this machine.
    ///
    /// The program `takt-bench` has them.
    #[command(
        disable_help_flag = true,
        disable_version_flag = true,
        after_help = "In the repository, `cargo build --release -p takt-bench` builds the program. `takt bench` passes all arguments \
                      on to it.\n\nExamples:\n  takt bench --help\n  takt bench transport\n  takt bench middleware --quick"
    )]
    Bench(BenchArguments),
    /// Print a completion script for a shell.
    #[command(after_help = "Example:\n  takt completions bash > /etc/bash_completion.d/takt")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}
