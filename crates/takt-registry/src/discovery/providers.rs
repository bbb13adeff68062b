//! DiscoveryUrls of Providers, as far as a caller can use them.

use takt_app::{Endpoint, model};
use takt_space::{AddressSpace, Caller, Value};
use takt_ua::endpoint_url::has_scheme;
use takt_ua::enumerations::ApplicationType;
use takt_ua::structures::ApplicationDescription;
use takt_ua::{LocalizedText, NodeId, UaString, Variant};

use super::hosts::{is_loopback, is_url_on_network, with_host};
use crate::providers::Providers;

/// Returns true for callers over shared memory and from the loopback interface.
pub(super) fn is_on_this_host(caller: &Caller) -> bool {
    caller.peer().is_local() || caller.peer().is_on_loopback()
}

/// Largest number of endpoints of a Provider that are listed.
const MAX_ENDPOINTS: u32 = 8;

/// The URLs that are of use for a caller.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProviderUrls {
    /// All, for a caller on this host.
    All,
    /// Those of `opc.tcp` that are not on the loopback interface.
    Remote,
}

impl ProviderUrls {
    pub(super) fn for_caller(caller: &Caller) -> Self {
        match is_on_this_host(caller) {
            true => Self::All,
            false => Self::Remote,
        }
    }

    /// Returns the available Providers that have such URLs, in the order of their names. An endpoint at all addresses gets
    /// `host`, by which the caller has reached this host.
    pub(super) fn of_all(
        self,
        providers: &Providers,
        space: &AddressSpace,
        host: &str,
    ) -> Vec<ApplicationDescription> {
        let mut available = providers.available();
        available.sort();
        let described = available.into_iter().filter_map(|(name, namespace)| {
            let mut urls = self.of_one(space, namespace);
            for url in &mut urls {
                *url = with_host(url, host);
            }
            // Foreign clients take the first one.
            urls.sort_by_key(|url| !has_scheme(url, "opc.tcp"));
            let described = ApplicationDescription {
                application_uri: model::provider_uri(&name).as_str().into(),
                product_uri: "urn:takt".into(),
                application_name: LocalizedText::from(name.as_str()),
                application_type: ApplicationType::Server,
                discovery_urls: urls
                    .iter()
                    .map(|url| UaString::from(url.as_str()))
                    .collect(),
                ..ApplicationDescription::default()
            };
            (!urls.is_empty()).then_some(described)
        });
        described.collect()
    }

    /// Returns the registered servers that have such URLs. An endpoint at all addresses gets `host`.
    pub(super) fn of_registered(
        self,
        mut servers: Vec<ApplicationDescription>,
        host: &str,
    ) -> Vec<ApplicationDescription> {
        servers.retain_mut(|server| {
            if self == Self::Remote {
                server
                    .discovery_urls
                    .retain(|url| is_url_on_network(url.as_str()));
            }
            for url in &mut server.discovery_urls {
                *url = with_host(url.as_str(), host).as_str().into();
            }
            !server.discovery_urls.is_empty()
        });
        servers
    }

    fn of_one(self, space: &AddressSpace, namespace: u16) -> Vec<String> {
        let first = model::provider::FIRST_ENDPOINT;
        let properties = (first..first + MAX_ENDPOINTS).map_while(|number| {
            let view = space.view();
            let node = view.node(&NodeId::numeric(namespace, number))?;
            match node.value()? {
                Value::Stored(stored) => match stored.get().value? {
                    Variant::String(url) => Some(url.as_str().to_owned()),
                    _ => None,
                },
                _ => None,
            }
        });
        properties.filter(|url| self.has(url)).collect()
    }

    fn has(self, url: &str) -> bool {
        match (self, url.parse()) {
            (_, Err(_)) => false,
            (Self::All, Ok(_)) => true,
            (Self::Remote, Ok(endpoint)) => is_on_network(&endpoint),
        }
    }
}

/// Returns true if an endpoint is neither shared memory nor on the loopback interface.
pub(super) fn is_on_network(endpoint: &Endpoint) -> bool {
    let network = endpoint.network();
    network.is_some_and(|url| !is_loopback(url.host()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_servers_have_the_urls_that_a_caller_can_use() {
        let server = |uri: &str, urls: &[&str]| ApplicationDescription {
            application_uri: uri.into(),
            discovery_urls: urls.iter().map(|url| UaString::from(*url)).collect(),
            ..ApplicationDescription::default()
        };
        let all = vec![
            server("urn:near", &["opc.tcp://127.0.0.1:1", "opc.iox2://Near"]),
            server("urn:both", &["opc.tcp://localhost:2", "opc.tcp://[::]:3"]),
        ];
        let far = ProviderUrls::Remote.of_registered(all.clone(), "10.0.0.1");
        assert_eq!(far, [server("urn:both", &["opc.tcp://10.0.0.1:3"])]);
        let near = ProviderUrls::All.of_registered(all.clone(), "plc7");
        let both = server("urn:both", &["opc.tcp://localhost:2", "opc.tcp://plc7:3"]);
        assert_eq!(near, [all[0].clone(), both]);
    }
}
