//! The SemanticRegistryServer: directory of Providers and their data (paper `opcua-shared-memory-iceoryx2`, sections 3
//! and 4).
//!
//! A conventional OPC UA server that Providers add their nodes to, and that Consumers browse to find them. It keeps
//! registrations in a database, knows which Providers are connected, and forwards Reads, Writes and Calls for clients
//! that know nothing of `InteractionVia`. Values themselves are the Providers' business.
//!
//! It also is a SecurityKeyService (OPC 10000-14, 8): it keeps SecurityGroups, and gives their keys to those who may
//! have them.

mod database;
mod gateway;
mod names;
mod namespaces;
mod providers;
mod registry;
mod rules;
mod security_groups;

pub use database::DatabaseError;
pub use names::NameLimits;
pub use registry::{Registry, RegistryError, RegistryOptions};
pub use security_groups::{SecurityGroupOptions, SecurityGroupOptionsError};

/// What fuzz targets call.
#[doc(hidden)]
pub mod fuzzing {
    /// Decodes bytes as each kind of record of the database. Says whether any accepted them.
    pub fn record(bytes: &[u8]) -> bool {
        crate::database::decode_any(bytes)
    }
}
