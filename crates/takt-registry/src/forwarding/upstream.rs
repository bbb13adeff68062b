//! A server whose Events are forwarded.

use takt_app::Endpoint;
use takt_app::client::ClientOptions;
use takt_ua::{NodeId, QualifiedName};

use super::naming::Naming;

/// A Provider or a mirrored server as the forwarder needs it.
#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) name: String,
    /// Object that stands for it at the registry: the Object of a Provider, the folder of a mirror.
    pub(crate) object: NodeId,
    /// Indexes of the namespaces of its instances at the registry.
    pub(crate) namespaces: Vec<u16>,
    pub(crate) naming: Naming,
    /// Fields of its Events besides those of the standard, with the NamespaceIndexes of the registry.
    pub(crate) fields: Vec<DeclaredField>,
    /// Endpoint and options, if it is available.
    pub(crate) endpoint: Option<(Endpoint, ClientOptions)>,
}

impl Upstream {
    /// Returns its name for people.
    pub(crate) fn title(&self) -> String {
        match self.naming.is_provider() {
            true => format!("Provider {}", self.name),
            false => format!("Mirror {}", self.name),
        }
    }
}

/// A field that an EventType declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredField {
    pub(crate) event_type: NodeId,
    /// BrowsePath from the EventType.
    pub(crate) path: Vec<QualifiedName>,
}
