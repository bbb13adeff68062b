//! Security of a Client's connection: the chosen endpoint, and what it is checked against.

use std::path::PathBuf;
use std::sync::Arc;

use takt_crypto::{ApplicationSecurity, KeyKind, PeerCertificate, PolicyProfile};
use takt_tcp::{ClientConnectionConfig, EndpointUrl, SecuredPolicy};
use takt_ua::enumerations::{MessageSecurityMode, UserTokenType};
use takt_ua::structures::EndpointDescription;

use super::offers::{self, Offers, Wanted, is_over_tcp, policy_name, secured_profile};
use super::options::{ClientOptions, Identity};
use crate::certificates::{self, CertificatesError};
use crate::error::ClientError;
use crate::key_log;

/// Everything that a secured connection to a server needs.
pub(crate) struct Secured {
    pub(super) profile: &'static PolicyProfile,
    pub(super) mode: MessageSecurityMode,
    pub(super) application: Arc<ApplicationSecurity>,
    pub(super) identity: Arc<takt_crypto::OwnCertificate>,
    /// The certificate of the server.
    pub(super) server_certificate: Arc<PeerCertificate>,
    /// The server that the chosen endpoint names.
    application_uri: String,
    /// The secured endpoints that GetEndpoints returned, without protection.
    offered: Vec<(String, MessageSecurityMode)>,
    /// The endpoints that were refused because they do not accept a kind of token.
    without_token: Vec<(String, MessageSecurityMode, UserTokenType)>,
    /// Folder of certificates that the application has chosen.
    pub(super) certificates: Option<PathBuf>,
}

impl Secured {
    /// Chooses the most secure endpoint of those that GetEndpoints returned and that accept the identity, and reports the reasons
    /// against the others. Without an identity, no session is wanted.
    pub(super) fn of(
        url: &EndpointUrl,
        options: &ClientOptions,
        identity: Option<&Identity>,
        endpoints: &[EndpointDescription],
    ) -> Result<Self, ClientError> {
        let mut offers = Offers::new(endpoints, &Wanted::new(options, identity));
        let best = offers.choose();
        offers.report(url);
        let Some((offer, profile)) = best else {
            return Err(ClientError::NoSecureEndpoint {
                endpoint: url.to_string(),
                wanted: options.security.choice.to_string(),
                refused: offers.refusals(),
                possible: offers.others(),
            });
        };
        let application = open(options, url, profile.key_kind())?;
        let identity = application.identity_of(profile.key_kind());
        let identity = identity.ok_or_else(|| ClientError::CertificateKind {
            endpoint: url.to_string(),
            policy: profile.name,
            needed: profile.key_kind().to_string(),
            found: application.identity().key().kind().to_string(),
        })?;
        Ok(Self {
            profile,
            mode: offer.security_mode,
            identity,
            application,
            server_certificate: Arc::new(PeerCertificate::parse(
                offer.server_certificate.as_bytes().to_vec(),
            )),
            application_uri: offer.server.application_uri.as_str().to_owned(),
            offered: secured_of(endpoints),
            without_token: offers.without_token(),
            certificates: options.security.certificates.clone(),
        })
    }

    /// Returns the configuration of the connection.
    pub(crate) fn config(
        &self,
        url: &EndpointUrl,
        options: &ClientOptions,
    ) -> ClientConnectionConfig {
        let host = (!options.security.any_host).then(|| url.host().to_owned());
        let uri = options.server_uri.as_ref();
        let uri = Some(uri.unwrap_or(&self.application_uri).clone());
        let application = Arc::clone(&self.application);
        let default = ClientConnectionConfig::default();
        let lifetime = options.security.token_lifetime;
        ClientConnectionConfig {
            token_lifetime: lifetime.unwrap_or(default.token_lifetime),
            policy: SecuredPolicy::for_client(self.profile, application, host, uri),
            security_mode: self.mode,
            server_certificate: Arc::clone(&self.server_certificate),
            key_log: key_log::of_this_process(),
            ..default
        }
    }

    /// Checks that the server confirms, on the secured channel, what GetEndpoints returned without protection: otherwise
    /// somebody in between may have removed better endpoints (OPC 10000-4, 5.7.2).
    pub(super) fn is_confirmed(&self, endpoints: &[EndpointDescription]) -> bool {
        let confirmed = secured_of(endpoints);
        let chosen = (self.profile.uri.to_owned(), self.mode);
        // The same holds for the tokens of an endpoint.
        let accepts = |(uri, mode, token): &(String, MessageSecurityMode, UserTokenType)| {
            endpoints.iter().any(|one| {
                one.security_policy_uri.as_str() == uri
                    && one.security_mode == *mode
                    && offers::accepts(one, *token)
            })
        };
        confirmed.contains(&chosen)
            && confirmed.iter().all(|one| self.offered.contains(one))
            && !self.without_token.iter().any(accepts)
    }
}

impl ClientOptions {
    /// Returns true if nobody beyond the loopback interface can be the server at `url`.
    pub(super) fn is_loopback(&self, url: &EndpointUrl) -> bool {
        let reverse = self.reverse.as_ref();
        is_loopback(url) && reverse.is_none_or(|one| one.listener.address().ip().is_loopback())
    }
}

/// Returns true if all addresses of the host are those of the loopback interface.
fn is_loopback(url: &EndpointUrl) -> bool {
    url.resolve()
        // A host with one address elsewhere may be reached there.
        .is_ok_and(|addresses| addresses.iter().all(|address| address.ip().is_loopback()))
}

/// Returns the secured endpoints of a list. In the list of CreateSession, servers may leave out the certificate (OPC 10000-4,
/// 5.7.2): the one in the response itself is checked.
fn secured_of(endpoints: &[EndpointDescription]) -> Vec<(String, MessageSecurityMode)> {
    let of = |offer: &EndpointDescription| {
        let profile = secured_profile(offer).ok()?;
        Some((profile.uri.to_owned(), offer.security_mode))
    };
    endpoints.iter().filter_map(of).collect()
}

/// Returns the names of the SecurityPolicies that a server offers over TCP.
pub(super) fn names(offered: &[EndpointDescription]) -> String {
    let mut names: Vec<&str> = offered
        .iter()
        .filter(|offer| is_over_tcp(offer))
        .map(|offer| policy_name(offer.security_policy_uri.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    match names.is_empty() {
        true => "nothing".to_owned(),
        false => names.join(", "),
    }
}

/// Opens the folders and the certificate of this application with a key of this kind.
fn open(
    options: &ClientOptions,
    url: &EndpointUrl,
    kind: KeyKind,
) -> Result<Arc<ApplicationSecurity>, ClientError> {
    let failed = |cause| ClientError::Certificates {
        endpoint: url.to_string(),
        cause,
    };
    let store = certificates::open_store(options.security.certificates.as_deref());
    let store = store.map_err(failed)?;
    let opened = match &options.security.certificate {
        Some((certificate, key)) => ApplicationSecurity::with_files(store, certificate, key),
        None => {
            let name = &options.application_name;
            let new = certificates::describe(name, &options.uri(), Vec::new());
            ApplicationSecurity::open_with(store, &new, kind, &[])
        }
    };
    let opened = opened.map_err(|error| failed(CertificatesError::from(error)))?;
    Ok(Arc::new(opened))
}

/// Returns the thumbprint of a server's certificate as text.
pub(super) fn thumbprint(certificate: &PeerCertificate) -> String {
    let leaf = certificate.leaf_der().unwrap_or_default();
    takt_crypto::Thumbprint::of(leaf).to_string()
}
