//! The SemanticRegistryServer: a directory of Providers and their data (paper `opcua-shared-memory-iceoryx2`,
//! sections 3 and 4).
//!
//! It is a conventional OPC UA server. Providers add their nodes to it, and Consumers browse it to find them. It
//! keeps registrations in a database, tracks which Providers are connected, and forwards Reads, Writes and Calls for
//! clients that do not support `InteractionVia`. Values stay at the Providers.
//!
//! Mirrors of foreign servers ([`MirrorOptions`]) are part of its address space: their nodes, with their values.
//!
//! The registry is also the LocalDiscoveryServer of its host (OPC 10000-12, 4.2.2). [`Multicast`] is its multicast extension, with which
//! `takt discover` finds servers, too.
//!
//! The registry is also a SecurityKeyService (OPC 10000-14, 8): it keeps SecurityGroups, returns their keys to authorized
//! users and applications, and pushes them to configured ones.

#![forbid(unsafe_code)]

mod database;
mod discovery;
mod durable;
mod error;
mod events;
mod forwarding;
mod history;
mod key_push;
mod mirror;
mod names;
mod namespaces;
mod providers;
mod registry;
mod rules;
mod security_groups;

pub use database::DatabaseError;
pub use discovery::{FoundServer, Multicast, MulticastError, RegisterAtOptions};
pub use error::RegistryError;
pub use history::{HistoryPatternError, RegistryHistoryOptions};
pub use key_push::{PushTargetError, PushTargetOptions};
pub use mirror::{MirrorOptions, MirrorOptionsError};
pub use names::NameBudget;
pub use registry::{Registry, RegistryOptions};
pub use security_groups::{SecurityGroupOptions, SecurityGroupOptionsError};

/// Functions for fuzz targets.
#[doc(hidden)]
pub mod fuzzing {
    /// Decodes bytes as each kind of record of the database. Returns whether any kind accepted them.
    pub fn record(bytes: &[u8]) -> bool {
        crate::database::decode_any(bytes)
    }
}
