//! Options of a registry.

use std::path::PathBuf;

use takt_app::serve::ServeOptions;
use takt_app::{Endpoint, model};
use takt_services::ServerBudgets;

use crate::discovery::RegisterAtOptions;
use crate::history::RegistryHistoryOptions;
use crate::key_push::PushTargetOptions;
use crate::mirror::MirrorOptions;
use crate::names::NameBudget;
use crate::security_groups::SecurityGroupOptions;

/// Options of a registry.
#[derive(Debug, Clone)]
pub struct RegistryOptions {
    /// ApplicationName; the registry's endpoint is `opc.iox2://<ApplicationName>`.
    pub application_name: String,
    /// Endpoint for all OPC UA clients.
    pub endpoint: Endpoint,
    /// The database's file.
    pub database: PathBuf,
    /// Variables of Providers whose history is recorded, in `history.redb` beside the database.
    pub history: RegistryHistoryOptions,
    /// NodeSet2 files to load, in any order.
    pub nodesets: Vec<PathBuf>,
    /// SecurityGroups to be created, with the users who may get their keys besides those who added them.
    pub security_groups: Vec<SecurityGroupOptions>,
    /// Applications to which keys are pushed.
    pub push_targets: Vec<PushTargetOptions>,
    /// Foreign servers to mirror, with different names.
    pub mirrors: Vec<MirrorOptions>,
    /// True if Providers may register over `opc.tcp`, where they are not authenticated.
    pub allow_tcp_registration: bool,
    /// True if servers are announced on the local network, and those of other hosts are found there (mDNS).
    pub multicast: bool,
    /// Discovery servers of others, at which the registry registers itself.
    pub register_at: RegisterAtOptions,
    /// Budget of the names of each client.
    pub name_budget: NameBudget,
    /// Budgets of the registry: what its clients may use, and the memory that it holds for them.
    pub budgets: ServerBudgets,
    /// Options of the serving thread.
    pub serve: ServeOptions,
}

impl Default for RegistryOptions {
    /// Returns options that listen on the registered port of OPC UA, on loopback; the database is in the working
    /// directory.
    fn default() -> Self {
        Self {
            application_name: model::DEFAULT_REGISTRY.to_owned(),
            endpoint: Endpoint::Tcp(takt_app::loopback(4840)),
            database: PathBuf::from("registry.redb"),
            history: RegistryHistoryOptions::default(),
            nodesets: Vec::new(),
            security_groups: Vec::new(),
            push_targets: Vec::new(),
            mirrors: Vec::new(),
            allow_tcp_registration: false,
            multicast: false,
            register_at: RegisterAtOptions::default(),
            name_budget: NameBudget::default(),
            budgets: ServerBudgets::of_process(),
            serve: ServeOptions::default(),
        }
    }
}
