//! Arguments of the commands that serve: `takt registry` and `takt provider`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use takt_app::Endpoint;
use takt_app::model::DEFAULT_REGISTRY;
use takt_registry::{NameLimits, SecurityGroupOptions};
use takt_services::ServerLimits;

use super::{GroupArguments, default_registry, endpoint};

/// Smallest budget, in MiB: a few clients and their messages.
const LEAST_MEMORY: u64 = 16;

/// Default budget, in MiB.
const MEMORY: u64 = (ServerLimits::DEFAULT_MEMORY >> 20) as u64;

/// The memory that a server holds for its clients.
#[derive(Debug, Clone, Copy, Args)]
pub struct MemoryArguments {
    /// Memory in MiB that the server may hold for all its clients together. Servers whose clients exchange values of tens of MiB need
    /// more than the default.
    #[arg(long, value_name = "MIB", default_value_t = MEMORY, value_parser = clap::value_parser!(u64).range(LEAST_MEMORY..=1 << 20))]
    pub max_memory: u64,
}

impl MemoryArguments {
    /// The usual limits of a server with this much memory.
    pub fn limits(self) -> ServerLimits {
        let bytes = usize::try_from(self.max_memory << 20).unwrap_or(usize::MAX);
        ServerLimits::default().with_memory(bytes)
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
pub struct RegistryServeArguments {
    /// Where to listen for OPC UA clients. Port 0 takes any free port.
    #[arg(long, default_value = "opc.tcp://127.0.0.1:4840", value_parser = endpoint)]
    pub endpoint: Endpoint,
    /// The ApplicationName: the registry is reached at opc.iox2://NAME too.
    #[arg(long, default_value = DEFAULT_REGISTRY)]
    pub name: String,
    /// Where to keep registrations; by default in the user's state directory.
    #[arg(long, value_name = "DIRECTORY")]
    pub data: Option<PathBuf>,
    /// A NodeSet2 file to load; may be given more than once, in any order.
    #[arg(long, value_name = "FILE")]
    pub nodeset: Vec<PathBuf>,
    /// Let Providers register over opc.tcp as well. Nobody vouches for them there: whoever reaches the port can register, and have a
    /// name first.
    #[arg(long)]
    pub allow_tcp_registration: bool,
    /// Providers that each Unix user, or each address over opc.tcp, may register.
    #[arg(long, value_name = "COUNT", default_value_t = NameLimits::default().providers)]
    pub max_providers: usize,
    /// Namespaces that each may have: of Providers that are registered, and of those that unregistered and are not forgotten
    /// [default: twice --max-providers].
    #[arg(long, value_name = "COUNT")]
    pub max_namespaces: Option<usize>,
    #[command(flatten)]
    pub memory: MemoryArguments,
    /// A SecurityGroup for PubSub that there shall be, and numbers of Unix users who may have its keys besides this one; may be given
    /// more than once.
    #[arg(long, value_name = "NAME[=POLICY][:USER,...]")]
    pub security_group: Vec<SecurityGroupOptions>,
    #[command(flatten)]
    pub share: GroupArguments,
}

#[derive(Debug, Subcommand)]
pub enum RegistryCommand {
    /// Remove a Provider that is not available, and every node that it created; its name and namespace no longer count for anybody.
    Forget {
        /// Its ApplicationName.
        name: String,
        /// The registry, which must be on this host.
        #[arg(long, default_value_t = default_registry(), value_parser = endpoint)]
        registry: Endpoint,
        #[command(flatten)]
        share: GroupArguments,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DemoProvider {
    /// `HostTelemetry`: live data of this machine.
    Host,
    /// `Machine`: a simulated spindle.
    Machine,
}

#[derive(Debug, Args)]
pub struct ProviderArguments {
    /// Which one.
    pub provider: DemoProvider,
    /// The registry.
    #[arg(long, default_value_t = default_registry(), value_parser = endpoint)]
    pub registry: Endpoint,
    /// Where to listen for OPC UA clients, beside shared memory. Port 0 takes any free port.
    #[arg(long, default_value = "opc.tcp://127.0.0.1:0", value_parser = endpoint)]
    pub endpoint: Endpoint,
    /// Another ApplicationName than the usual one.
    #[arg(long)]
    pub name: Option<String>,
    #[command(flatten)]
    pub memory: MemoryArguments,
    #[command(flatten)]
    pub share: GroupArguments,
}
