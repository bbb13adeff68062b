//! The API that applications are written against: [`Provider`] and [`Consumer`].
//!
//! A Provider offers Variables and Methods over shared memory and TCP and keeps them registered with the registry; a
//! Consumer finds them there and uses them at the Provider (paper `opcua-shared-memory-iceoryx2`, sections 3 and 4).
//! [`client::Client`] is the plain session underneath, which works with any OPC UA server. The services are in
//! `takt-services`, the ways to the wire in `takt-tcp` and `takt-shm`.

pub mod client;
mod consumer;
mod endpoint;
mod error;
mod key_keeper;
mod mirror;
pub mod model;
mod provider;
pub mod serve;
mod state_directory;
mod subscription;

pub use client::{
    Attribute, Client, ClientOptions, CurrentValue, Identity, OutputsInPlace, ValueInPlace, Waiting,
};
pub use consumer::{Consumer, Item, ProviderEntry};
pub use endpoint::{Endpoint, EndpointError, loopback};
pub use error::ClientError;
pub use key_keeper::KeyKeeper;
pub use mirror::Mirror;
pub use provider::{DataType, Method, Provider, ProviderBuilder, ProviderError, Unit, Variable};
pub use state_directory::{StateDirectoryError, prepare_state_directory, state_directory};
pub use subscription::{DataChange, MonitoredItemOptions, Subscription, SubscriptionOptions};
