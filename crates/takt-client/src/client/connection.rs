//! Connections of blocking and asynchronous clients.

use std::future::Future;
use std::time::Duration;

use takt_tcp::EndpointUrl;

use super::options::ClientOptions;
use super::request::ServiceRequest;
use super::security::Secured;
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// A connection without a session.
pub(crate) trait Connection: Sized {
    /// Connects without security: over shared memory, for discovery, or because that was chosen.
    fn connect_unsecured(
        endpoint: &Endpoint,
        options: &ClientOptions,
        timeout: Duration,
    ) -> impl Future<Output = Result<Self, ClientError>>;

    /// Connects with the chosen security.
    fn connect_secured(
        url: &EndpointUrl,
        options: &ClientOptions,
        secured: Secured,
        timeout: Duration,
    ) -> impl Future<Output = Result<Self, ClientError>>;

    /// Does work that may wait: for files, for names, or for a new key.
    fn wait_for<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, ClientError>>;

    /// Returns the security of the connection, unless it has none.
    fn secured(&self) -> Option<&Secured>;

    /// Sends `request` and decodes its response.
    fn exchange_one<Q: ServiceRequest>(
        &mut self,
        request: &Q,
        timeout: Duration,
    ) -> impl Future<Output = Result<Q::Response, ClientError>>;
}
