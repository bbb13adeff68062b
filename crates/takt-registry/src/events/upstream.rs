//! A Provider whose Events are forwarded.

use takt_app::Endpoint;
use takt_app::client::ClientOptions;

/// A Provider as the forwarder needs it.
#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) name: String,
    /// Index of its namespace at the registry.
    pub(crate) namespace: u16,
    pub(crate) namespace_uri: String,
    /// Endpoint and options, if it is available.
    pub(crate) endpoint: Option<(Endpoint, ClientOptions)>,
}
