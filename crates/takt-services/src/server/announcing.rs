//! Descriptions of the server and its endpoints for a client (OPC 10000-4, 5.5).

use takt_crypto::{KeyKind, PolicyProfile};
use takt_ua::UaString;
use takt_ua::endpoint_url::{has_scheme, split_scheme};
use takt_ua::structures::{ApplicationDescription, EndpointDescription};

use super::Server;
use super::endpoint::EndpointConfig;
use crate::identity::token_policies::OfferedTokens;

impl Server {
    /// Returns the ApplicationDescription for a client that reached the server as `requested_url`. DiscoveryUrls are the URLs of
    /// all endpoints, each once.
    pub(crate) fn application(&self, requested_url: &str) -> ApplicationDescription {
        let endpoints = self.endpoints.load();
        let mut discovery_urls: Vec<UaString> = Vec::with_capacity(2);
        for endpoint in endpoints.iter() {
            let url = UaString::from(endpoint.url_for(requested_url));
            if !discovery_urls.contains(&url) {
                discovery_urls.push(url);
            }
        }
        // The sort is stable: URLs of one scheme stay in the order of the configuration.
        discovery_urls.sort_by_key(|url| !has_scheme_of(url.as_str(), requested_url));
        ApplicationDescription {
            discovery_urls,
            ..self.application.clone()
        }
    }

    /// Returns the EndpointDescriptions for a client that reached the server as `requested_url`.
    pub(crate) fn describe_endpoints(&self, requested_url: &str) -> Vec<EndpointDescription> {
        let application = self.application(requested_url);
        let endpoints = self.endpoints.load();
        let security = self.security.get();
        let identities = security.map(|security| {
            let identity = |kind| Some((kind, security.identity_of(kind)?));
            security.kinds().filter_map(identity).collect()
        });
        let identities: Vec<_> = identities.unwrap_or_default();
        // Without security of messages, tokens are protected with RSA.
        let certificate_of = |endpoint: &EndpointConfig| {
            let profile = PolicyProfile::by_uri(&endpoint.security_policy_uri);
            let wanted = profile.map_or(KeyKind::Rsa, PolicyProfile::key_kind);
            let mut identities = identities.iter();
            let found = identities.find(|(kind, _)| *kind == wanted);
            found.map(|(_, identity)| identity.chain_der())
        };
        let users = self.users().map(|users| &**users);
        let offered = OfferedTokens::of(&*self.authenticator, users);
        let described = endpoints.iter().map(|endpoint| {
            let certificate = certificate_of(endpoint);
            endpoint.describe(&application, &offered, certificate, requested_url)
        });
        let mut described: Vec<_> = described.collect();
        described
            .sort_by_key(|endpoint| !has_scheme_of(endpoint.endpoint_url.as_str(), requested_url));
        described
    }
}

/// Returns true if a URL has the scheme of the one that the client used. Such URLs are listed first, because many clients take
/// the first one.
fn has_scheme_of(url: &str, requested_url: &str) -> bool {
    split_scheme(requested_url).is_some_and(|(scheme, _)| has_scheme(url, scheme))
}
