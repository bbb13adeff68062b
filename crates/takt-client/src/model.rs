//! The registry's model, `nodesets/Takt.Registry.NodeSet2.xml`, and its NodeIds.

use takt_ua::structures::AddNodesItem;
use takt_ua::{Identifier, NodeId};

use crate::certificates;

/// The NodeSet of the model.
pub const NODESET: &str = include_str!("../../../nodesets/Takt.Registry.NodeSet2.xml");
/// File name of the NodeSet.
pub const NODESET_NAME: &str = "Takt.Registry.NodeSet2.xml";

/// The namespace of the model.
pub const NAMESPACE_URI: &str = "urn:takt:registry";

/// ObjectType `ProviderType`.
pub const PROVIDER_TYPE: u32 = 1001;
/// ReferenceType `CreatedBy`.
pub const CREATED_BY: u32 = 4001;
/// ReferenceType `InteractionVia`.
pub const INTERACTION_VIA: u32 = 4002;
/// Object `Registry`, a component of the Server object.
pub const REGISTRY: u32 = 5001;
/// Method `Forget` of `Registry`.
pub const REGISTRY_FORGET: u32 = 7001;
/// Method `IssueSecret` of `Registry`.
pub const REGISTRY_ISSUE_SECRET: u32 = 7002;

/// Default ApplicationName of a registry, as in section 4 of the paper.
pub const DEFAULT_REGISTRY: &str = "SemanticRegistryServer";

/// Returns the namespace of a Provider's data: its ApplicationUri.
pub fn provider_uri(application_name: &str) -> String {
    format!("urn:takt:provider:{application_name}")
}

/// Returns the default ApplicationUri of a registry on this host. It has the name of the host, because each server needs another
/// one (OPC 10000-4, 7.2), and most registries have the default name.
pub fn registry_uri(application_name: &str) -> String {
    let host = certificates::host_name();
    let host = host.chars().map(|character| match character {
        // The URI is part of a certificate, too, in ASCII.
        '0'..='9' | 'A'..='Z' | 'a'..='z' | '-' | '.' | '_' => character,
        _ => '-',
    });
    let host: String = host.collect();
    let host = if host.is_empty() { "localhost" } else { &host };
    format!("urn:{host}:takt:registry:{application_name}")
}

/// Returns the name of the registry with a default ApplicationUri. Earlier versions left the name of the host out.
pub fn registry_of_uri(uri: &str) -> Option<&str> {
    let (prefix, name) = uri.split_once("takt:registry:")?;
    let host = prefix.strip_prefix("urn:")?;
    let is_host = host.is_empty()
        || host
            .strip_suffix(':')
            .is_some_and(|host| !host.contains(':'));
    is_host.then_some(name)
}

/// BrowseName of the Object with the configuration of a Variable's history (OPC 10000-11, 5.2.3).
pub const HISTORICAL_CONFIGURATION: &str = "HA Configuration";

/// Returns the NodeId of a node that a type requires: `Available` of a Provider's Object, a node of the configuration of history,
/// or a component of data. `None` for all other nodes.
pub fn required_node_id(item: &AddNodesItem) -> Option<NodeId> {
    let parent = &item.parent_node_id.node_id;
    let is_available = *parent == NodeId::numeric(parent.namespace, provider::OBJECT)
        && item.browse_name.name.as_str() == "Available";
    if is_available {
        return Some(NodeId::numeric(parent.namespace, provider::AVAILABLE));
    }
    // These nodes have the same NodeIds at the Provider and at the registry.
    match (&parent.identifier, item.browse_name.namespace) {
        (Identifier::String(path), _) if is_historical_configuration(path) => {
            let name = format!("{path}.{}", item.browse_name.name);
            Some(NodeId::string(parent.namespace, &name))
        }
        // Components of Conditions.
        (Identifier::String(path), 0) => {
            let path = format!("{path}/{}", item.browse_name.name);
            Some(NodeId::string(parent.namespace, &path))
        }
        _ => None,
    }
}

/// Returns true for the identifiers of the Object with the configuration of history, and of the nodes below it.
fn is_historical_configuration(identifier: &str) -> bool {
    let (_, name) = identifier.split_once('#').unwrap_or_default();
    name.starts_with(HISTORICAL_CONFIGURATION)
}

/// Index of a Provider's own namespace at its own endpoints: that of its ApplicationUri (OPC 10000-5, 6.3.1).
pub const OWN_NAMESPACE: u16 = 1;

/// Identifiers in a Provider's namespace for nodes other than data. The identifier of data is a String: its path.
pub mod provider {
    /// The Object of ProviderType.
    pub const OBJECT: u32 = 1;
    /// The Property `Available`, which the registry adds and serves itself, and so does the Provider at its own endpoints.
    pub const AVAILABLE: u32 = 2;
    /// The Property `Revision`: a digest of everything that was registered. The Provider adds it last and removes it
    /// first: it is available only while this Property exists.
    pub const REVISION: u32 = 3;
    /// The Property `SemanticRegistry` at the Provider's own endpoints: the endpoint of the registry with its model.
    pub const SEMANTIC_REGISTRY: u32 = 4;
    /// The first ServerEndpoint Property; further ones follow.
    pub const FIRST_ENDPOINT: u32 = 10;
}
