//! Records of the database as plain data.

use std::sync::Arc;

use takt_space::Change;
use takt_ua::structures::{PubSubKeyPushTargetDataType, SecurityGroupDataType};
use takt_ua::{DateTime, NodeId};
use zeroize::Zeroizing;

use crate::names::Owner;

/// Permanent record of a Provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderRecord {
    /// ApplicationName of the Provider.
    pub(crate) name: String,
    /// The Unix user that registered it over shared memory.
    pub(crate) user: Option<u32>,
    /// SHA-256 of the secret that was issued to it over `opc.tcp`; empty if there is none.
    pub(crate) secret_digest: Vec<u8>,
}

/// A Provider that is recorded for the first time.
pub(crate) struct NewProvider {
    pub(crate) record: ProviderRecord,
    /// Index of its namespace.
    pub(crate) namespace: u16,
    /// URI of its namespace.
    pub(crate) uri: String,
    /// Owner that is charged with the namespace.
    pub(crate) charged: Owner,
}

/// A namespace that a Provider has added beside its own. Nothing of it is recorded without the rest.
pub(crate) struct AddedNamespace {
    pub(crate) index: u16,
    pub(crate) uri: String,
    /// ApplicationName of the Provider.
    pub(crate) provider: String,
    /// Owner that is charged with the namespace.
    pub(crate) charged: Owner,
}

/// Nodes and references of one owner: all of them are recorded, or none.
pub(crate) struct Registration {
    /// ApplicationName of the Provider; empty for the registry itself.
    pub(crate) owner: String,
    /// The Provider, if it is recorded for the first time.
    pub(crate) newcomer: Option<NewProvider>,
    pub(crate) changes: Arc<[Change]>,
}

/// A SecurityGroup with its keys.
#[derive(Clone)]
pub(crate) struct SecurityGroupRecord {
    /// Configuration without folders, permissions and properties.
    pub(crate) configuration: SecurityGroupDataType,
    /// The Unix user that added it.
    pub(crate) user: u32,
    /// SecurityTokenId of the first key.
    pub(crate) first_token_id: u32,
    /// SecurityTokenId of the current key.
    pub(crate) current_token_id: u32,
    /// Time at which the next key becomes current.
    pub(crate) next_key_at: DateTime,
    /// Concatenated key data of all tokens.
    pub(crate) key_data: Zeroizing<Vec<u8>>,
}

/// Contents of the database.
#[derive(Default)]
pub(crate) struct Contents {
    /// Index and URI of each namespace.
    pub(crate) namespaces: Vec<(u16, String)>,
    /// Owner of each namespace of a Provider.
    pub(crate) owners: Vec<(u16, Owner)>,
    /// The namespaces that Providers have added beside their own, with the names of the Providers, or an empty name if
    /// the Provider was forgotten.
    pub(crate) additional: Vec<(u16, String)>,
    /// The Providers.
    pub(crate) providers: Vec<ProviderRecord>,
    /// Owner and change, in the order in which they were recorded.
    pub(crate) changes: Vec<(String, Change)>,
    /// The nodes that were added only because the type of their parent requires them.
    pub(crate) instantiated: Vec<NodeId>,
    /// The SecurityGroups.
    pub(crate) security_groups: Vec<SecurityGroupRecord>,
    /// The push targets.
    pub(crate) push_targets: Vec<PubSubKeyPushTargetDataType>,
    /// The highest token that any SecurityGroup ever had.
    pub(crate) last_token: u32,
}
