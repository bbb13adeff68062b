//! Registration of the registry at discovery servers of others (OPC 10000-4, 5.5.5 and 5.5.6).

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_app::client::{ClientOptions, DiscoveryClient};
use takt_app::{ClientError, Endpoint, SecurityChoice};
use takt_rt::pauses::Pauses;
use takt_ua::enumerations::ApplicationType;
use takt_ua::structures::{MdnsDiscoveryConfiguration, RegisteredServer};
use takt_ua::{LocalizedText, UaString};

use super::hosts::with_host;
use super::providers::is_on_network;

/// Interval at which a registration is repeated. The standard demands ten minutes at most (OPC 10000-4, 5.5.5.1); a discovery
/// server that restarts knows the registry after this time.
const INTERVAL: Duration = Duration::from_secs(60);

/// Pauses after failed attempts: the first one, and the longest one. Each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Discovery servers at which the registry registers itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegisterAtOptions {
    /// Endpoints of the discovery servers.
    pub endpoints: Vec<Endpoint>,
    /// Security of the connections to them.
    pub security: SecurityChoice,
}

/// The facts about the registry that are registered.
pub(crate) struct Registrant<'a> {
    pub(crate) application_name: &'a str,
    pub(crate) application_uri: &'a str,
    /// Endpoints of the registry.
    pub(crate) endpoints: &'a [Endpoint],
    /// Name of this host.
    pub(crate) host: &'a str,
    /// Identifiers of its capabilities (OPC 10000-12, Annex D).
    pub(crate) capabilities: &'a [&'a str],
    /// True if the discovery server shall announce the registry on the network.
    pub(crate) multicast: bool,
}

/// Threads that repeat the registrations. Dropping it ends them, and the registrations.
pub(crate) struct RegistrationsElsewhere {
    threads: Vec<(Sender<()>, JoinHandle<()>)>,
}

impl RegistrationsElsewhere {
    /// Registers at each discovery server.
    pub(crate) fn start(
        options: &RegisterAtOptions,
        registrant: &Registrant<'_>,
        client: &ClientOptions,
    ) -> std::io::Result<Self> {
        let mut threads = Vec::new();
        for endpoint in &options.endpoints {
            let mut client = client.clone();
            client.security.choice = options.security.clone();
            let server = registrant.server(is_on_network(endpoint));
            if server.discovery_urls.is_empty() {
                tracing::warn!(
                    "the registry is not registered at {endpoint}, because its own endpoint is on the loopback interface"
                );
                continue;
            }
            let registration = Registration {
                endpoint: endpoint.clone(),
                client,
                server,
                mdns: registrant.multicast.then(|| registrant.mdns()),
            };
            let (stop, stopped) = channel::<()>();
            let thread = std::thread::Builder::new().name("registrant".to_owned());
            let thread = thread.spawn(move || {
                registration.run(|pause| {
                    matches!(stopped.recv_timeout(pause), Err(RecvTimeoutError::Timeout))
                });
            })?;
            threads.push((stop, thread));
        }
        Ok(Self { threads })
    }
}

impl Drop for RegistrationsElsewhere {
    fn drop(&mut self) {
        // All of them are told to end before the first is waited for.
        let threads = std::mem::take(&mut self.threads).into_iter();
        let (stops, threads): (Vec<_>, Vec<_>) = threads.unzip();
        drop(stops);
        for thread in threads {
            // A thread that panicked has nothing left to end.
            let _ = thread.join();
        }
    }
}

impl Registrant<'_> {
    /// Returns the registration. Beyond this host, it has the endpoints only that others can reach.
    fn server(&self, is_elsewhere: bool) -> RegisteredServer {
        let reachable = self.endpoints.iter().filter(|endpoint| {
            !endpoint.is_shared_memory() && (!is_elsewhere || is_on_network(endpoint))
        });
        // An address such as 0.0.0.0 leads nowhere from another host.
        let url = |endpoint: &Endpoint| with_host(&endpoint.to_string(), self.host);
        RegisteredServer {
            server_uri: self.application_uri.into(),
            product_uri: "urn:takt".into(),
            server_names: vec![LocalizedText::from(self.application_name)],
            server_type: ApplicationType::Server,
            discovery_urls: reachable
                .map(|one| UaString::from(url(one).as_str()))
                .collect(),
            is_online: true,
            ..RegisteredServer::default()
        }
    }

    fn mdns(&self) -> MdnsDiscoveryConfiguration {
        let name = format!("{} on {}", self.application_name, self.host);
        MdnsDiscoveryConfiguration {
            mdns_server_name: name.as_str().into(),
            server_capabilities: self
                .capabilities
                .iter()
                .map(|one| UaString::from(*one))
                .collect(),
        }
    }
}

/// Registration at one discovery server.
struct Registration {
    endpoint: Endpoint,
    client: ClientOptions,
    server: RegisteredServer,
    mdns: Option<MdnsDiscoveryConfiguration>,
}

impl Registration {
    /// Repeats the registration while `sleep` returns true, and ends it then.
    fn run(mut self, sleep: impl Fn(Duration) -> bool) {
        let endpoint = self.endpoint.clone();
        let mut pauses = Pauses::new(FIRST_PAUSE, LONGEST_PAUSE);
        let mut is_registered = false;
        let mut reported = String::new();
        loop {
            let next = match self.register() {
                Ok(()) => {
                    if !is_registered {
                        tracing::info!("the registry is registered at {endpoint}");
                    }
                    is_registered = true;
                    pauses.reset();
                    reported.clear();
                    INTERVAL
                }
                Err(error) => {
                    // The same reason is reported once.
                    let reason = error.to_string();
                    if reason != reported {
                        tracing::warn!("the registry is not registered at {endpoint}: {reason}");
                        reported = reason;
                    }
                    // The discovery server may still have the registration.
                    pauses.grow()
                }
            };
            if !sleep(next) {
                break;
            }
        }
        if is_registered {
            self.server.is_online = false;
            if let Err(error) = self.register() {
                tracing::warn!("the registration at {endpoint} does not end at once: {error}");
            }
        }
    }

    fn register(&self) -> Result<(), ClientError> {
        let mut client = DiscoveryClient::connect_secured(&self.endpoint, &self.client)?;
        client.register(&self.server, self.mdns.as_ref())
    }
}
