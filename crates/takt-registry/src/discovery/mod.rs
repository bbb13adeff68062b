//! The registry as LocalDiscoveryServer (OPC 10000-12, 4.2.2): FindServers lists the Providers of this host and the servers that
//! have registered themselves; with the multicast extension it announces them, and knows those of other hosts.

mod announcer;
mod capabilities;
mod hosts;
mod network;
mod providers;
mod registrant;
mod registrations;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use takt_app::refusals::{Refusals, shown};
use takt_services::DiscoveryServer;
use takt_space::{AddressSpace, Caller, Peer};
use takt_ua::endpoint_url::has_scheme;
use takt_ua::structures::{
    ApplicationDescription, MdnsDiscoveryConfiguration, RegisteredServer, ServerOnNetwork,
};
use takt_ua::{DateTime, ExtensionObject, StatusCode, UaString};

pub(crate) use announcer::Announcer;
pub(crate) use capabilities::capabilities;
pub(crate) use hosts::{host_name, is_loopback, is_of_this_host};
pub use network::{FoundServer, Multicast, MulticastError};
pub use registrant::RegisterAtOptions;
pub(crate) use registrant::{Registrant, RegistrationsElsewhere};

use crate::rules::Rules;
use hosts::with_host;
use network::Announcement;
use providers::{ProviderUrls, is_on_this_host};
use registrations::Registrations;

/// Known servers besides the registry itself.
pub(crate) struct Discovery {
    rules: Arc<Rules>,
    space: Arc<AddressSpace>,
    registrations: Mutex<Registrations>,
    network: Option<Arc<Multicast>>,
    host: String,
    /// ApplicationUri of the registry.
    own_uri: String,
    displacements: Refusals,
}

impl Discovery {
    /// Creates the list of servers of the registry with this ApplicationUri; with `network`, they are announced with the addresses
    /// of this host.
    pub(crate) fn new(
        rules: &Arc<Rules>,
        space: &Arc<AddressSpace>,
        own_uri: &str,
        network: Option<Arc<Multicast>>,
    ) -> Self {
        Self {
            rules: Arc::clone(rules),
            space: Arc::clone(space),
            registrations: Mutex::default(),
            network,
            host: host_name(),
            own_uri: own_uri.to_owned(),
            displacements: Refusals::default(),
        }
    }

    /// Returns the name of this host.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    fn registrations(&self) -> MutexGuard<'_, Registrations> {
        self.registrations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the registrations that were not repeated, and their announcements.
    fn expire(&self) {
        let ended = self.registrations().expire(Instant::now());
        self.withdraw(&ended);
    }

    fn withdraw(&self, names: &[String]) {
        if let Some(network) = &self.network {
            for name in names {
                network.withdraw(name);
            }
        }
    }

    /// Refuses a server with the ApplicationUri of the registry, and warns of one with that of a Provider: both are listed before
    /// servers that register themselves.
    fn check_uri(&self, server: &RegisteredServer) -> Result<(), StatusCode> {
        let uri = server.server_uri.as_str();
        if uri == self.own_uri {
            self.displacements.warn(&format_args!(
                "the server at {} is not listed, because it has the ApplicationUri {} of this registry: if it is another server, it \
                 needs an ApplicationUri of its own",
                shown_urls(&server.discovery_urls),
                shown(uri)
            ));
            return Err(StatusCode::BadServerUriInvalid);
        }
        let providers = ProviderUrls::All.of_all(&self.rules.providers, &self.space, &self.host);
        let mut providers = providers.iter();
        let provider = providers.find(|provider| provider.application_uri.as_str() == uri);
        let is_other = |provider: &ApplicationDescription| {
            let mut urls = server.discovery_urls.iter();
            !urls.any(|url| provider.discovery_urls.contains(url))
        };
        if let Some(provider) = provider.filter(|provider| server.is_online && is_other(provider)) {
            self.displacements.warn(&format_args!(
                "the server at {} is not listed, because the Provider at {} has the ApplicationUri {}: if these are two servers, each \
                 needs an ApplicationUri of its own",
                shown_urls(&server.discovery_urls),
                shown_urls(&provider.discovery_urls),
                shown(uri)
            ));
        }
        Ok(())
    }

    /// Returns the name under which a server of this host is announced: unique on the network.
    fn name_on_network(&self, name: &str) -> String {
        format!("{name} on {}", self.host)
    }

    /// Returns the announcement of a server that registers itself, and a result for each element of its configuration. Only
    /// servers on this host that others can reach are announced, because an announcement has the addresses of this host.
    fn announcement(
        &self,
        caller: &Caller,
        server: &RegisteredServer,
        configuration: &[ExtensionObject],
    ) -> (Option<Announcement>, Vec<StatusCode>) {
        let mut results = vec![StatusCode::BadNotSupported; configuration.len()];
        if self.network.is_none() || !is_on_this_host(caller) {
            return (None, results);
        }
        let wanted = configuration.iter().zip(&mut results);
        let wanted = wanted.filter_map(|(element, result)| {
            let mdns = element.decode_as::<MdnsDiscoveryConfiguration>().ok()?;
            Some((mdns, result))
        });
        let (mdns, result) = match wanted.into_iter().next() {
            Some((mdns, result)) => (mdns, Some(result)),
            // A server without a configuration is announced, too (OPC 10000-12, 4.3.4).
            None => (MdnsDiscoveryConfiguration::default(), None),
        };
        let first_name = server.server_names.first();
        let name = match mdns.mdns_server_name.as_str() {
            "" => first_name.map(|name| self.name_on_network(name.text.as_str())),
            name => Some(name.to_owned()),
        };
        // One address and port of this host can be announced.
        let mut urls = server.discovery_urls.iter().map(|url| url.as_str());
        let url = urls.find(|url| has_scheme(url, "opc.tcp") && is_of_this_host(url, &self.host));
        let capabilities = mdns.server_capabilities.iter().map(|one| one.as_str());
        let announcement = name
            .zip(url)
            .and_then(|(name, url)| Announcement::new(&name, url, capabilities).ok());
        if let Some(result) = result {
            *result = match announcement {
                Some(_) => StatusCode::Good,
                None => StatusCode::BadInvalidArgument,
            };
        }
        (announcement, results)
    }
}

impl DiscoveryServer for Discovery {
    fn servers(&self, caller: &Caller, host: Option<&str>) -> Vec<ApplicationDescription> {
        self.expire();
        let urls = ProviderUrls::for_caller(caller);
        // A caller over shared memory has named no host.
        let host = host.unwrap_or(&self.host);
        let mut servers = urls.of_all(&self.rules.providers, &self.space, host);
        let mut registered = self.registrations().servers();
        let is_provider = |server: &ApplicationDescription| {
            let mut providers = servers.iter();
            providers.any(|provider| provider.application_uri == server.application_uri)
        };
        // A Provider may have registered itself as a server, too.
        registered.retain(|server| !is_provider(server));
        servers.extend(urls.of_registered(registered, host));
        servers
    }

    fn register(
        &self,
        caller: &Caller,
        server: &RegisteredServer,
        configuration: &[ExtensionObject],
    ) -> Result<Vec<StatusCode>, StatusCode> {
        admit(caller, server)?;
        self.check_uri(server)?;
        let (announcement, results) = self.announcement(caller, server, configuration);
        let server = &as_seen_here(caller, server);
        let now = Instant::now();
        let mut registrations = self.registrations();
        let displaced = registrations.displaced_by(server).map(shown_urls);
        let ended = registrations
            .register(server, announcement.as_ref(), now)
            .map_err(|error| error.status_code())?;
        // The log and the network may take a while, and others need the list meanwhile.
        drop(registrations);
        if let Some(displaced) = displaced {
            self.displacements.warn(&format_args!(
                "the server at {} replaces the one at {displaced} in the list, because both have the ApplicationUri {}: if these \
                 are two servers, each needs an ApplicationUri of its own",
                shown_urls(&server.discovery_urls),
                shown(server.server_uri.as_str())
            ));
        }
        self.withdraw(ended.as_slice());
        if let (Some(network), Some(announcement), true) =
            (&self.network, &announcement, server.is_online)
            && let Err(error) = network.announce(announcement, &self.host)
        {
            tracing::warn!(server = %server.server_uri, %error, "not announced on the network");
        }
        Ok(results)
    }

    fn on_network(&self) -> Result<(DateTime, Vec<ServerOnNetwork>), StatusCode> {
        let network = self.network.as_ref();
        let network = network.ok_or(StatusCode::BadServiceUnsupported)?;
        Ok(network.records())
    }
}

/// Returns a server with the host of the caller where it has given all addresses of another host.
fn as_seen_here(caller: &Caller, server: &RegisteredServer) -> RegisteredServer {
    let mut server = server.clone();
    if let Peer::Tcp { address, .. } = caller.peer()
        && !is_on_this_host(caller)
    {
        let host = address.ip().to_canonical().to_string();
        for url in &mut server.discovery_urls {
            *url = with_host(url.as_str(), &host).as_str().into();
        }
    }
    server
}

/// Returns the first URLs of a server for the log.
fn shown_urls(urls: &[UaString]) -> String {
    const MOST: usize = 16;
    let urls = urls.iter().take(MOST);
    let urls: Vec<String> = urls.map(|url| shown(url.as_str())).collect();
    urls.join(", ")
}

/// Refuses callers that may not register this server. The host is the boundary for local ones; others prove with their
/// certificate that they are the server (OPC 10000-4, 5.5.5.2).
fn admit(caller: &Caller, server: &RegisteredServer) -> Result<(), StatusCode> {
    let certificate = match caller.peer() {
        Peer::SharedMemory { .. } => return Ok(()),
        Peer::Tcp { .. } => caller.channel.security.client_certificate.leaf(),
    };
    let Some(certificate) = certificate else {
        return match is_on_this_host(caller) {
            true => Ok(()),
            false => Err(StatusCode::BadSecurityModeInsufficient),
        };
    };
    match certificate.application_uri.as_deref() {
        Some(uri) if uri == server.server_uri.as_str() => Ok(()),
        _ => Err(StatusCode::BadServerUriInvalid),
    }
}
