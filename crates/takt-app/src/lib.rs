//! The API for applications that provide: [`Provider`], [control loops](control), and the thread that serves.
//!
//! A Provider serves Variables and Methods over shared memory and TCP and keeps them registered with the registry (paper
//! `opcua-shared-memory-iceoryx2`, sections 3 and 4). The services are in `takt-services`, the transports in `takt-tcp` and
//! `takt-shm`.
//!
//! The crate is the only dependency of a program: it contains `takt-client` ([`Consumer`], [`Client`], [`Subscription`]), the
//! types of values ([`Variant`], [`Cell`] and, in [`ua`], all others), [PubSub](pubsub) and [real-time settings](real_time). A
//! program that only consumes depends on `takt-client` alone.
//!
//! One thread serves all clients of a Provider. Methods, and callbacks that compute or store values, run on worker threads
//! ([`WorkerOptions`]), so a slow one delays no other client. One that is quick is declared inline ([`Method::inline`],
//! [`Variable::inline`]) and runs on the serving thread. Cells and stored values need no worker.
//!
//! Asynchronous programs use the module `asynchronous`, with the feature `async`.
//!
//! A Provider with one cell, and a Consumer that reads it. The registry runs in the same process here; otherwise it is
//! `takt registry`. Directories are temporary; without them, applications use those of the user.
//!
//! ```
//! use std::sync::Arc;
//! use std::thread;
//! use std::time::Duration;
//!
//! use takt_app::serve::ServeOptions;
//! use takt_app::{Cell, DateTime, StatusCode, Variant};
//! use takt_app::{ClientOptions, Consumer, Provider, Unit, Variable};
//! use takt_registry::{Registry, RegistryOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! let runtime_directory = Some(directory.path().join("runtime"));
//! let serve = ServeOptions { runtime_directory: runtime_directory.clone(), ..ServeOptions::default() };
//! let _registry = Registry::start(RegistryOptions {
//!     endpoint: "opc.tcp://127.0.0.1:0".parse()?,
//!     database: directory.path().join("registry.redb"),
//!     serve: serve.clone(),
//!     ..RegistryOptions::default()
//! })?;
//!
//! // The Provider: a real-time thread can set the cell at any time.
//! let speed = Arc::new(Cell::of(&Variant::Double(0.0)));
//! let provider = Provider::builder("Mixer")
//!     .variable(Variable::cell("Drive/Speed", &speed).unit(Unit::REVOLUTIONS_PER_MINUTE))
//!     .serve(serve)
//!     .start()?;
//! speed.set_f64(1500.0, StatusCode::Good, DateTime::now())?;
//! while !provider.is_registered() {
//!     thread::sleep(Duration::from_millis(1));
//! }
//!
//! // The Consumer, usually in another process: it finds the Variable by its path and reads it at the Provider.
//! let options = ClientOptions { runtime_directory, ..ClientOptions::named("Panel") };
//! let mut consumer = Consumer::connect("opc.iox2://SemanticRegistryServer", options)?;
//! let item = consumer.find("Mixer/Drive/Speed")?;
//! assert_eq!(consumer.read(&item)?.value, Some(Variant::Double(1500.0)));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod alarms;
pub mod audit;
pub mod control;
mod flow_variables;
mod history;
mod issued_tokens;
mod keys;
mod private_file;
mod provider;
pub mod pubsub;
pub mod real_time;
#[doc(hidden)]
pub mod refusals;
pub mod serve;
mod server_configuration;
pub mod users;
mod workers;

pub use alarms::CONDITION_METHODS;
pub use flow_variables::{FLOWS, flow_variables};
pub use history::{
    COMMIT_INTERVAL, History, HistoryCounts, HistoryStartError, MAX_RECORDED,
    MAX_RETURN_DATA_VALUES, MAX_RETURN_EVENT_VALUES, Recording, forward_history,
};
pub use issued_tokens::{JwtOptions, JwtOptionsError};
pub use keys::{
    KeyKeeper, KeyNews, KeyReceiver, KeyReceiverError, KeyReceiverOptions, MissingKeys,
};
pub use private_file::write as write_private_file;
pub use provider::{
    DataType, DeclarationMistake, Enumeration, Field, Instance, InstanceError, LimitAlarm,
    MemberValue, Method, ModelStructure, NodeError, NodeSets, NodeSetsError, Object, OwnType,
    Provider, ProviderBuilder, ProviderError, RegistryState, StructureDataType, StructureError,
    StructureFields, TypeName, TypeNameError, Unit, Variable,
};
#[cfg(feature = "async")]
pub use takt_client::asynchronous;
pub use takt_client::{
    Aggregate, Attribute, BuiltInType, ByteString, Cell, Client, ClientError, ClientOptions,
    ClientSecurity, ConnectionError, Consumer, CurrentValue, DataChange, DataValue, DateTime,
    DeclaredField, Endpoint, EndpointError, EndpointUrl, EndpointUrlError, EventNotification,
    EventQuery, Follow, HistoryRange, Identity, Item, LocalizedText, Mirror, MonitoredItemOptions,
    NamespaceMap, NodeId, Outage, OutputsInPlace, ProtocolError, ProviderEntry, QualifiedName,
    Reading, ReverseClient, ReverseListener, SecurityChoice, StateDirectoryError, StatusCode,
    Subscription, SubscriptionOptions, TypedNode, ValueInPlace, Variant, Waiting, certificates,
    client, loopback, model, prepare_state_directory, state_directory, ua,
};
pub use takt_history::{DatabaseFault, DatabaseFileError, HistoryError, HistoryStoreOptions};
pub use takt_services::{EventSink, Server, ServerBudgets};
pub use takt_space::{Event, RoleSet, StoredValue, UserRole, Value, ValueSource};
pub use workers::WorkerOptions;

/// Functions for fuzz targets.
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::keys::stored_keys;
    pub use crate::server_configuration::trust_list_contents;
}
