//! Errors of a registry that starts.

use std::path::PathBuf;

use takt_app::serve::ServeError;
use takt_services::BuildError;
use takt_space::ImportError;

use crate::database::DatabaseError;

/// Error of a registry that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The ApplicationName cannot be an endpoint.
    #[error(transparent)]
    Endpoint(#[from] takt_app::EndpointError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// History cannot be recorded.
    #[error(transparent)]
    History(#[from] takt_app::HistoryStartError),
    /// A pattern of the history never matches.
    #[error(transparent)]
    HistoryPattern(#[from] crate::history::HistoryPatternError),
    /// A NodeSet file cannot be read.
    #[error("{path} cannot be read: {source}")]
    NodeSetFile {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A NodeSet is not valid, or cannot be loaded.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The namespaces of the database contradict the built-in ones.
    #[error(
        "the database has namespace {index} as {found}, this version has {expected}: use another directory"
    )]
    Namespace {
        /// The index.
        index: u16,
        /// The URI in the database.
        found: String,
        /// URI of this index in this version.
        expected: String,
    },
    /// The database is that of a registry with another name.
    #[error(
        "the database belongs to the registry {found}, and this one is {name}: use the same name, or another directory"
    )]
    Name {
        /// ApplicationName of this registry.
        name: String,
        /// ApplicationName in the database.
        found: String,
    },
    /// A configured SecurityGroup exists with another SecurityPolicy.
    #[error(
        "SecurityGroup {0} has another SecurityPolicy in the database: remove it, or leave the policy out"
    )]
    SecurityGroup(String),
    /// A configured SecurityGroup cannot be added.
    #[error("SecurityGroup {name} cannot be added: {status}")]
    AddSecurityGroup {
        /// Name of the SecurityGroup.
        name: String,
        /// StatusCode of the reason.
        status: takt_ua::StatusCode,
    },
    /// The folder of a mirror cannot be added.
    #[error("a mirror cannot be added: {0}. Two mirrors need different names")]
    Mirror(String),
    /// A mirror has no interval.
    #[error("the mirror {0} has the interval 0: write a longer one, for example 250ms")]
    MirrorInterval(String),
    /// A mirror is of the registry itself.
    #[error(
        "the mirror {0} is of this registry itself: its nodes are here already. Give the URL of another server"
    )]
    OwnMirror(String),
    /// The registry is to register at itself.
    #[error(
        "{0}, at which to register, is this registry itself, which knows its own endpoints: give the URL of another discovery server"
    )]
    OwnRegistration(String),
    /// A push target has two endpoints.
    #[error(
        "the push target {0} has two different URLs: an ApplicationUri is the name of one application"
    )]
    PushTarget(String),
    /// Servers cannot be announced or found on the network.
    #[error(transparent)]
    Network(#[from] crate::discovery::MulticastError),
    /// A thread cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[source] std::io::Error),
    /// The server could not be built.
    #[error(transparent)]
    Server(#[from] BuildError),
    /// The address space refused something that the registry needs.
    #[error(transparent)]
    AddressSpace(#[from] takt_space::AddressSpaceError),
    /// An endpoint could not be opened.
    #[error(transparent)]
    Serve(#[from] ServeError),
}
