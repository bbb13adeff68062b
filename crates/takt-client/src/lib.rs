//! The API for applications that consume: [`Consumer`], [`Client`] and [`Subscription`].
//!
//! A Consumer finds data in the registry and uses it at its Provider (paper `opcua-shared-memory-iceoryx2`, section 4.3). A
//! [`Client`] is a session with any OPC UA server, over the transport of its endpoint: `opc.tcp://` or `opc.iox2://`. A
//! [`Mirror`] follows Variables of a server in cells. The crate serves nothing: it knows no address space and no services.
//! Applications that provide use `takt-app`, which contains all of this.
//!
//! Asynchronous programs use the module `asynchronous`, with the feature `async`.
//!
//! ```no_run
//! use takt_client::{ClientOptions, Consumer, Variant};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = ClientOptions::named("Panel");
//! let mut consumer = Consumer::connect("opc.iox2://SemanticRegistryServer", options)?;
//! let speed = consumer.find("Mixer/Speed")?;
//! if let Some(Variant::Double(speed)) = consumer.read(&speed)?.value {
//!     println!("{speed} revolutions per minute");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The types of values ([`Variant`], [`NodeId`], [`StatusCode`] and others) are those of `takt-ua`, which the module
//! [`ua`] contains as a whole: a program needs no other dependency.

#![forbid(unsafe_code)]

#[cfg(feature = "async")]
pub mod asynchronous;
pub mod certificates;
pub mod client;
mod consumer;
mod endpoint;
mod error;
pub mod key_log;
mod mirror;
pub mod model;
mod outage;
mod state_directory;
mod subscription;

pub use client::{
    Attribute, Client, ClientOptions, ClientSecurity, CurrentValue, DeclaredField, EventQuery,
    Follow, HistoryRange, Identity, OutputsInPlace, ReverseClient, SecurityChoice, TypedNode,
    ValueInPlace, Waiting,
};
pub use consumer::{Consumer, Item, ProviderEntry};
pub use endpoint::{Endpoint, EndpointError, loopback};
pub use error::{ClientError, ConnectionError, ProtocolError};
pub use mirror::Mirror;
pub use outage::Outage;
pub use state_directory::{
    StateDirectoryError, directory_or_default, prepare_state_directory, state_directory,
};
pub use subscription::{
    DataChange, EventNotification, MonitoredItemOptions, Subscription, SubscriptionOptions,
};
pub use takt_cell::{Cell, Reading};
pub use takt_tcp::{EndpointUrl, EndpointUrlError, ReverseListener};
pub use takt_ua as ua;
pub use takt_ua::NamespaceMap;
pub use takt_ua::{
    Aggregate, BuiltInType, ByteString, DataValue, DateTime, LocalizedText, NodeId, QualifiedName,
    StatusCode, Variant,
};
