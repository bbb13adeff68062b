//! DiscoveryUrls of Providers, as far as a caller can use them.

use std::net::IpAddr;

use takt_app::{Endpoint, model};
use takt_space::{AddressSpace, Caller, Value};
use takt_ua::enumerations::ApplicationType;
use takt_ua::structures::ApplicationDescription;
use takt_ua::{LocalizedText, NodeId, UaString, Variant};

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
        host: Option<&str>,
    ) -> Vec<ApplicationDescription> {
        let mut available = providers.available();
        available.sort();
        let described = available.into_iter().filter_map(|(name, namespace)| {
            let mut urls = self.of_one(space, namespace);
            if let Some(host) = host {
                for url in &mut urls {
                    *url = with_host(url, host);
                }
            }
            // Foreign clients take the first one.
            urls.sort_by_key(|url| !url.starts_with("opc.tcp://"));
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

/// Returns a URL at all addresses with this host instead, and other URLs unchanged.
pub(super) fn with_host(url: &str, host: &str) -> String {
    for unspecified in ["0.0.0.0", "[::]"] {
        let rest = url.strip_prefix("opc.tcp://");
        if let Some(rest) = rest.and_then(|rest| rest.strip_prefix(unspecified)) {
            return format!("opc.tcp://{host}{rest}");
        }
    }
    url.to_owned()
}

/// Returns true if an endpoint is neither shared memory nor on the loopback interface.
pub(super) fn is_on_network(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::SharedMemory(_) => false,
        Endpoint::Tcp(url) => {
            let host = url.host().trim_matches(['[', ']']);
            match host.parse::<IpAddr>() {
                Ok(address) => !address.is_loopback(),
                Err(_) => host != "localhost",
            }
        }
    }
}
