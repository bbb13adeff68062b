//! Arguments of the commands that serve: `takt registry` and `takt provider`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use takt_app::model::DEFAULT_REGISTRY;
use takt_app::serve::Advertised;
use takt_app::{Endpoint, EndpointUrl, HistoryStoreOptions, SecurityChoice};
use takt_registry::{MirrorOptions, NameBudget, PushTargetOptions, SecurityGroupOptions};
use takt_rt::memory_limit;
use takt_services::ServerBudgets;
use takt_space::RoleSet;

use super::values::{default_registry, duration, endpoint, key_lifetime, listening};
use super::{
    ConnectionArguments, ConnectionSecurityArguments, GroupArguments, ServeSecurityArguments,
};

/// Smallest budget in MiB: enough for a few clients and their messages.
const LEAST_MEMORY: u64 = 16;

/// Memory that a server holds for its clients.
#[derive(Debug, Clone, Copy, Args)]
pub struct MemoryArguments {
    /// Memory in MiB that the server may hold for all its clients together [default: 256, or half of the memory of its cgroup if that
    /// is less]. Values of tens of MiB need more than the default.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(LEAST_MEMORY..=1 << 20))]
    pub max_memory: Option<u64>,
    /// Longest lifetime of a Subscription without its client; a client may request less. Durable Subscriptions have 72h.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub max_subscription_lifetime: Duration,
}

impl MemoryArguments {
    /// Returns the usual budgets of a server with this much memory. Logs how they follow from the limit of its cgroup.
    pub fn budgets(self) -> ServerBudgets {
        let limit = memory_limit::of_process();
        let mut budgets = match self.max_memory {
            None => ServerBudgets::of_process(),
            Some(mib) => {
                let bytes = usize::try_from(mib << 20).unwrap_or(usize::MAX);
                ServerBudgets::default().with_memory(bytes)
            }
        };
        budgets.subscriptions.max_lifetime = self.max_subscription_lifetime;
        let budget = budgets.max_memory >> 20;
        if let Some(cgroup) = limit.map(|bytes| bytes >> 20) {
            match self.max_memory {
                Some(mib) if mib >= cgroup => tracing::warn!(
                    "the memory budget of {mib} MiB exceeds the {cgroup} MiB of the cgroup: the kernel may end the server"
                ),
                _ => tracing::info!(
                    "memory budget: {budget} MiB; memory of the cgroup: {cgroup} MiB"
                ),
            }
        }
        budgets
    }
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RegistryArguments {
    #[command(subcommand)]
    pub command: Option<RegistryCommand>,
    #[command(flatten)]
    pub serve: RegistryServeArguments,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("records").multiple(true)))]
pub struct RegistryServeArguments {
    /// Endpoint for OPC UA clients. With port 0 the system chooses a free port.
    #[arg(long, default_value = "opc.tcp://127.0.0.1:4840", value_parser = endpoint)]
    pub endpoint: Endpoint,
    /// Open no endpoint over opc.tcp: only processes of this host reach the registry, over shared memory.
    #[arg(long, conflicts_with_all = ["endpoint", "advertise", "reverse_connect", "allow_tcp_registration", "mdns", "register_at",
        "allow_none", "allow_anonymous_operators", "trust_loopback"])]
    pub no_tcp: bool,
    /// Host, and perhaps port, under which clients reach the endpoint. URLs in answers have it instead of the host that the
    /// client used, and so does the certificate that is created at the first start.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub advertise: Option<Advertised>,
    /// Connect to this OPC UA client, which listens there (reverse connect); can be given several times. For example
    /// `--reverse-connect opc.tcp://10.0.0.9:4841`.
    #[arg(long, value_name = "URL", value_parser = listening)]
    pub reverse_connect: Vec<EndpointUrl>,
    /// ApplicationName. The registry has the endpoint opc.iox2://NAME as well.
    #[arg(long, default_value = DEFAULT_REGISTRY)]
    pub name: String,
    /// Directory for registrations, with `pki` for certificates and `users` for users unless --certificates and --users name other
    /// places; default is the state directory of the user.
    #[arg(long, value_name = "DIRECTORY")]
    pub data: Option<PathBuf>,
    /// NodeSet2 file to load; can be given several times, in any order.
    #[arg(long, value_name = "FILE")]
    pub nodeset: Vec<PathBuf>,
    #[command(flatten)]
    pub mirrors: MirrorArguments,
    /// Let Providers register over opc.tcp as well. They are not authenticated there: every client that reaches the port can register
    /// and occupy names.
    #[arg(long)]
    pub allow_tcp_registration: bool,
    /// Announce the registry and its Providers on the local network (mDNS), and find the servers there: clients ask for them with
    /// FindServersOnNetwork.
    #[arg(long)]
    pub mdns: bool,
    /// Register the registry at this discovery server, and end that at the end; can be given several times. For example
    /// opc.tcp://lds:4840.
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    pub register_at: Vec<Endpoint>,
    /// Security of the connections to discovery servers: see `takt browse --help`, --security. The certificate is that of the
    /// registry.
    #[arg(long, value_name = "CHOICE", default_value_t, requires = "register_at")]
    pub register_security: SecurityChoice,
    /// Largest number of Providers of each Unix user, or of each address over opc.tcp.
    #[arg(long, value_name = "COUNT", default_value_t = NameBudget::default().providers)]
    pub max_providers: usize,
    /// Largest number of namespaces of each: those of registered Providers, and of Providers that unregistered and are not forgotten
    /// [default: twice --max-providers].
    #[arg(long, value_name = "COUNT")]
    pub max_namespaces: Option<usize>,
    /// Record the history of Variables: PROVIDER/PATH, where * stands for any characters; can be given several times. It is read with
    /// `takt history`.
    #[arg(long, value_name = "PATTERN", group = "records")]
    pub history: Vec<String>,
    /// Record Events: Server for all Events, or PROVIDER for those of Providers, where * stands for any characters; can be given
    /// several times. They are read with `takt history --events`.
    #[arg(long, value_name = "NOTIFIER", group = "records")]
    pub history_events: Vec<String>,
    /// Let only clients with one of these roles read recorded Events [default: all clients that may read].
    #[arg(long, value_name = "ROLE,...", requires = "history_events")]
    pub history_events_role: Option<RoleSet>,
    /// Time between two samples of a recorded Variable; changes of its value are recorded.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration, requires = "history")]
    pub history_interval: Duration,
    /// Size in MiB of all records. The Variable with the most records gives up its oldest ones.
    #[arg(long, value_name = "MIB", default_value_t = HistoryStoreOptions::DEFAULT_SIZE >> 20, requires = "records",
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub history_max_size: u64,
    /// Age from which records are removed, for example 720h [default: only the size counts].
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "records")]
    pub history_max_age: Option<Duration>,
    #[command(flatten)]
    pub memory: MemoryArguments,
    /// SecurityGroup for PubSub, with the Unix users (on this host) and ApplicationUris (over encrypted opc.tcp) that may have its
    /// keys besides this user; can be given several times.
    #[arg(long, value_name = "NAME[=POLICY][:USER|URI,...]")]
    pub security_group: Vec<SecurityGroupOptions>,
    /// KeyLifetime of SecurityGroups that --security-group adds, 1s to 720h; existing ones keep theirs [default: 1h].
    #[arg(long, value_name = "TIME", value_parser = key_lifetime, requires = "security_group")]
    pub key_lifetime: Option<Duration>,
    /// Application to which the keys of a SecurityGroup are pushed: its ApplicationUri and the URL of its --key-endpoint, for example
    /// Plant=urn:takt:pubsub:press@opc.tcp://10.0.0.2:4850; can be given several times.
    #[arg(long, value_name = "GROUP=URI@URL")]
    pub push_target: Vec<PushTargetOptions>,
    /// Print JSON, one object for each event: ready, with the endpoints; ended.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub share: GroupArguments,
    #[command(flatten)]
    pub security: ServeSecurityArguments,
}

/// Foreign servers that the registry mirrors. Options with MIRROR= are for the mirror with this name, others for all mirrors.
#[derive(Debug, Args)]
pub struct MirrorArguments {
    /// Show the nodes of this OPC UA server with their values, in a folder with this name [default: host and port]; can be given
    /// several times.
    #[arg(long, value_name = "[NAME=]URL")]
    pub mirror: Vec<MirrorOptions>,
    /// User at the mirrored server. The password is read from --mirror-password-file or from the variable TAKT_MIRROR_PASSWORD.
    #[arg(long, value_name = "[MIRROR=]NAME", requires = "mirror")]
    pub mirror_user: Vec<String>,
    /// File with the password of --mirror-user in its first line.
    #[arg(long, value_name = "[MIRROR=]FILE", requires = "mirror_user")]
    pub mirror_password_file: Vec<String>,
    /// Security of connections to the mirrored server: see `takt browse --help`, --security [default: auto].
    #[arg(long, value_name = "[MIRROR=]CHOICE", requires = "mirror")]
    pub mirror_security: Vec<String>,
    /// Accept a mirrored server whose certificate names other hosts than its URL: the mirror with this name [default: all].
    #[arg(long, value_name = "MIRROR", num_args = 0..=1, default_missing_value = "", requires = "mirror")]
    pub mirror_any_host: Vec<String>,
    /// Wait at this address until the mirrored server connects (reverse connect); URL is the EndpointUrl that it sends then.
    #[arg(long, value_name = "[MIRROR=]HOST:PORT", requires = "mirror")]
    pub mirror_listen: Vec<String>,
    /// ApplicationUri of the mirrored server [default: any one with the EndpointUrl].
    #[arg(long, value_name = "[MIRROR=]URI", requires = "mirror")]
    pub mirror_server_uri: Vec<String>,
    /// Interval at which the mirrored servers sample and send values.
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = duration, requires = "mirror")]
    pub mirror_interval: Duration,
    /// Time without a message of a mirrored server after which its values are not Good [default: 3 intervals, at least 500ms].
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "mirror")]
    pub mirror_silence: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub enum RegistryCommand {
    /// Remove a Provider that is not available, with all its nodes. Its name and namespace count for no user any more.
    Forget {
        /// ApplicationName of the Provider.
        name: String,
        /// Endpoint of the registry. Over opc.tcp, the user needs the role engineer there.
        #[arg(long, default_value_t = default_registry(), value_parser = endpoint)]
        registry: Endpoint,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        connection: Box<ConnectionArguments>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DemoProvider {
    /// HostTelemetry: live data of this machine.
    Host,
    /// Machine: a simulated spindle.
    Machine,
}

#[derive(Debug, Args)]
pub struct ProviderArguments {
    /// Provider to run.
    pub provider: DemoProvider,
    /// Endpoint of the registry.
    #[arg(long, default_value_t = default_registry(), value_parser = endpoint)]
    pub registry: Endpoint,
    /// Endpoint for OPC UA clients besides shared memory. With port 0 the system chooses a free port.
    #[arg(long, default_value = "opc.tcp://127.0.0.1:0", value_parser = endpoint)]
    pub endpoint: Endpoint,
    /// Open no endpoint over opc.tcp: only processes of this host reach the Provider, over shared memory.
    #[arg(long, conflicts_with_all = ["endpoint", "advertise", "reverse_connect", "allow_none", "allow_anonymous_operators",
        "trust_loopback"])]
    pub no_tcp: bool,
    /// Host, and perhaps port, under which clients reach the endpoint. URLs in answers have it instead of the host that the
    /// client used, and so does the certificate that is created at the first start.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub advertise: Option<Advertised>,
    /// Connect to this OPC UA client, which listens there (reverse connect); can be given several times. For example
    /// `--reverse-connect opc.tcp://10.0.0.9:4841`.
    #[arg(long, value_name = "URL", value_parser = listening)]
    pub reverse_connect: Vec<EndpointUrl>,
    /// Record the Events of the Provider. They are read with `takt history --events`.
    #[arg(long)]
    pub history_events: bool,
    /// Let only clients with one of these roles read recorded Events [default: all clients that may read].
    #[arg(long, value_name = "ROLE,...", requires = "history_events")]
    pub history_events_role: Option<RoleSet>,
    /// ApplicationName, instead of that of the demonstration.
    #[arg(long)]
    pub name: Option<String>,
    /// Print JSON, one object for each event: ready, with the endpoints; ended.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub memory: MemoryArguments,
    #[command(flatten)]
    pub share: GroupArguments,
    #[command(flatten)]
    pub security: ServeSecurityArguments,
    // The last one: a heading is valid for all options behind it.
    #[command(flatten, next_help_heading = "Connection to the registry")]
    pub registry_security: ConnectionSecurityArguments,
}
