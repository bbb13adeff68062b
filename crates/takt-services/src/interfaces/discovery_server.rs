//! Discovery of other servers: what the application knows of them (OPC 10000-4, 5.5; OPC 10000-12, 4).

use takt_space::Caller;
use takt_ua::structures::{ApplicationDescription, RegisteredServer, ServerOnNetwork};
use takt_ua::{DateTime, ExtensionObject, StatusCode};

/// Servers that a server finds for its clients besides itself. Its calls come from the serving thread, from callers without a
/// Session: they return at once, with bounded results.
pub trait DiscoveryServer: Send + Sync {
    /// Returns the other servers on this host, for FindServers of `caller`, which has reached the server as `host`: a host name
    /// or an address, without brackets; `None` if its URL has none.
    fn servers(&self, caller: &Caller, host: Option<&str>) -> Vec<ApplicationDescription>;

    /// Registers a server, or ends its registration (RegisterServer, RegisterServer2). Returns a result for each element of
    /// `configuration`.
    ///
    /// # Errors
    /// The caller may not register this server, its description is invalid, or there are too many.
    fn register(
        &self,
        caller: &Caller,
        server: &RegisteredServer,
        configuration: &[ExtensionObject],
    ) -> Result<Vec<StatusCode>, StatusCode>;

    /// Returns the servers on the network that are known, in the order of their RecordIds, and the time since which the
    /// RecordIds count (FindServersOnNetwork).
    ///
    /// # Errors
    /// [`StatusCode::BadServiceUnsupported`]: nothing listens to the network.
    fn on_network(&self) -> Result<(DateTime, Vec<ServerOnNetwork>), StatusCode>;
}
