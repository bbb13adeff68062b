//! OPC UA services: address space, Sessions, Subscriptions, and the services themselves (OPC 10000-4), synchronous and transport-free.
//!
//! A transport hands [`Server::handle`] a request message and a buffer for the response; a Read over TCP, a Read over
//! shared memory and a test run the same code. What this crate is not: it knows no sockets, no chunks, no security
//! policies, and no clock but the one that stamps responses; what has to be waited for is done on worker threads
//! ([`RemoteSource`]) and answered later.
//!
//! * [`Server`], [`ServerBuilder`], [`Connection`], [`Outcome`]: for transports.
//! * [`AddressSpace`], [`NodeBuilder`], [`Value`], [`ValueSource`], [`CachedValue`], [`Method`]: for applications.
//! * [`NodeManagement`], [`Authenticator`], [`RemoteSource`]: seams for servers that need rules of their own.
//!
//! Nothing from a client can make it panic, and all it can make it allocate is bounded by [`ServerLimits`].

mod address_space;
mod authentication;
mod budgets;
mod builder;
mod cached;
mod caller;
mod connection;
mod deadline;
mod endpoint;
mod limits;
mod method;
pub mod namespace0;
mod node_management;
mod nodeset_import;
mod publish;
mod remote;
mod server;
mod server_methods;
mod server_status;
mod services;
mod session;
mod session_observer;
mod stored;
mod subscriptions;
mod tasks;
mod timeouts;
mod value;
mod work;
mod worker;

pub use address_space::{
    AddressSpace, AddressSpaceError, ClassAttributes, Edit, Namespaces, NewReference, NodeBuilder,
    NodeDefinition, NodeRef, ReferenceView, References, STANDARD_NAMESPACE, TargetRef,
    VariableDefinition, VariableRef, View, access_level, value_rank,
};
pub use authentication::{AnonymousOnly, Authenticator};
pub use builder::{BuildError, ServerBuilder};
pub use cached::CachedValue;
pub use caller::{Caller, Peer, Transport, UserIdentity};
pub use connection::{Connection, Outcome};
pub use endpoint::{EndpointConfig, SECURITY_POLICY_NONE, SHARED_MEMORY_PROFILE, TCP_PROFILE};
pub use limits::{OperationLimits, ServerLimits, SubscriptionLimits};
pub use method::{CallError, Method, MethodCall, MethodHandler, OutputArguments};
pub use node_management::{Change, EverybodyManages, NoNodeManagement, NodeManagement};
pub use nodeset_import::{DanglingReference, ImportError, ImportReason, ImportedNodeSet};
pub use publish::PublishError;
pub use remote::{RemoteCall, RemoteMethod, RemoteRead, RemoteSource, RemoteValue, RemoteWrite};
pub use server::Server;
pub use session_observer::{NoSessionObserver, SessionObserver};
pub use value::{StoredValue, Value, ValueSource};
pub use work::Work;
