//! A Variable or Method that was found in the registry, with the endpoints that serve it.

use takt_ua::NodeId;
use takt_ua::enumerations::NodeClass;

use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// A node by namespace URI, which is the same at every server.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GlobalNodeId {
    pub(super) namespace_uri: String,
    pub(super) node_id: NodeId,
}

/// A Variable or Method found in the registry.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Path below the Objects folder, for example `Machine/Spindle/Speed`.
    pub path: String,
    /// NodeClass: Variable or Method.
    pub node_class: NodeClass,
    /// NodeId at the registry.
    pub node_id: NodeId,
    /// URI of the NodeId's namespace.
    pub namespace_uri: String,
    /// Endpoints of its `InteractionVia` references: shared memory first.
    pub endpoints: Vec<Endpoint>,
    /// Object that a Method is called on.
    pub(super) object: GlobalNodeId,
    pub(super) chosen: usize,
}

impl Item {
    /// Returns the endpoint for requests.
    pub fn endpoint(&self) -> Result<&Endpoint, ClientError> {
        self.endpoints.get(self.chosen).ok_or_else(|| {
            ClientError::Invalid(format!("`{}` has no InteractionVia reference", self.path))
        })
    }

    /// Returns the same item at the first endpoint with this scheme, for example `opc.tcp`; `None` if there is none.
    pub fn via(&self, scheme: &str) -> Option<Self> {
        let scheme = scheme.trim_end_matches("://");
        let chosen = self
            .endpoints
            .iter()
            .position(|endpoint| endpoint.scheme().trim_end_matches("://") == scheme)?;
        Some(Self {
            chosen,
            ..self.clone()
        })
    }
}
