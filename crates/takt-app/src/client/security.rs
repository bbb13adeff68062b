//! Security of a Client's connections: the choice among the endpoints that a server offers.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use takt_crypto::{ApplicationSecurity, Certificate, PolicyProfile};
use takt_tcp::{ClientConnectionConfig, EndpointUrl, SecuredPolicy, TcpClientConfig};
use takt_ua::NodeId;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{EndpointDescription, GetEndpointsRequest, GetEndpointsResponse};

use super::transport::{Transport, wait_mode};
use super::{ClientOptions, request_header, text};
use crate::certificates::{self, CertificatesError};
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// URI of SecurityPolicy None.
pub(super) const SECURITY_POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// TransportProfileUri of `opc.tcp` (OPC 10000-7).
const TCP_PROFILE: &str = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";

/// Choice among the endpoints of a server over TCP.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SecurityChoice {
    /// On the loopback interface no security if the server offers that, and elsewhere the most secure endpoint.
    #[default]
    Automatic,
    /// No security: SecurityPolicy None.
    None,
    /// The most secure endpoint with this SecurityPolicy and this mode, where they are given.
    Secured {
        /// Name of the SecurityPolicy, `Basic256Sha256` for example.
        policy: Option<&'static str>,
        /// Mode; signed and encrypted is preferred.
        mode: Option<MessageSecurityMode>,
    },
}

impl FromStr for SecurityChoice {
    type Err = String;

    /// Reads `auto`, `none`, a mode (`sign`, `encrypt`), a SecurityPolicy, or a SecurityPolicy and a mode with a comma between.
    fn from_str(text: &str) -> Result<Self, String> {
        let (mut policy, mut mode) = (None, None);
        match text.to_ascii_lowercase().as_str() {
            "auto" => return Ok(Self::Automatic),
            "none" => return Ok(Self::None),
            _ => {}
        }
        for part in text.split(',') {
            if let Some(profile) = PolicyProfile::by_name(part) {
                policy = Some(profile.name);
                continue;
            }
            mode = Some(match part.to_ascii_lowercase().as_str() {
                "sign" => MessageSecurityMode::Sign,
                "encrypt" | "signandencrypt" => MessageSecurityMode::SignAndEncrypt,
                _ => {
                    let names = PolicyProfile::ALL.map(|profile| profile.name).join(", ");
                    return Err(format!(
                        "`{part}` is not auto, none, sign, encrypt or one of {names}"
                    ));
                }
            });
        }
        Ok(Self::Secured { policy, mode })
    }
}

impl fmt::Display for SecurityChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Automatic => formatter.write_str("auto"),
            Self::None => formatter.write_str("none"),
            Self::Secured { policy, mode } => {
                let mode = mode.map(|mode| match mode {
                    MessageSecurityMode::Sign => "sign",
                    _ => "encrypt",
                });
                let parts: Vec<&str> = policy.iter().copied().chain(mode).collect();
                formatter.write_str(&match parts.is_empty() {
                    true => "encrypt".to_owned(),
                    false => parts.join(","),
                })
            }
        }
    }
}

/// Certificates and choice of security of a Client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientSecurity {
    /// Choice among the endpoints of the server.
    pub choice: SecurityChoice,
    /// Folder of certificates; by default `pki` in the user's [state folder](crate::state_directory). A missing certificate of
    /// the application is created there.
    pub certificates: Option<PathBuf>,
    /// Certificate (DER or PEM) and private key (PEM) of this application, instead of those in the folder.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Accept a server whose certificate does not name the host in its URL.
    pub any_host: bool,
}

/// Everything that a secured connection to a server needs.
pub(super) struct Secured {
    pub(super) profile: &'static PolicyProfile,
    pub(super) mode: MessageSecurityMode,
    pub(super) application: Arc<ApplicationSecurity>,
    pub(super) identity: Arc<takt_crypto::OwnCertificate>,
    /// The certificate of the server, followed by those of its issuers (DER).
    pub(super) server_certificate: Vec<u8>,
    /// The server that the chosen endpoint names.
    application_uri: String,
    /// The secured endpoints that GetEndpoints returned, without protection.
    offered: Vec<(String, MessageSecurityMode)>,
}

impl Secured {
    /// Chooses an endpoint; `None` stands for a connection without security.
    pub(super) fn choose(
        url: &EndpointUrl,
        options: &ClientOptions,
        insist: bool,
        timeout: Duration,
    ) -> Result<Option<Self>, ClientError> {
        let (policy, mode) = match &options.security.choice {
            SecurityChoice::None => return Ok(None),
            SecurityChoice::Automatic if is_loopback(url) && !insist => return Ok(None),
            SecurityChoice::Automatic => (None, None),
            SecurityChoice::Secured { policy, mode } => (*policy, *mode),
        };
        let endpoint = Endpoint::Tcp(url.clone());
        let mut discovery = Transport::connect_unsecured(&endpoint, options, timeout)?;
        let found: GetEndpointsResponse = discovery.call(
            &GetEndpointsRequest {
                request_header: request_header(&NodeId::NULL, 1, timeout),
                endpoint_url: text(&url.to_string()),
                ..GetEndpointsRequest::default()
            },
            timeout,
        )?;
        drop(discovery);
        let usable = found.endpoints.iter().filter_map(usable);
        let best = usable
            .filter(|(_, profile)| policy.is_none_or(|name| name == profile.name))
            .filter(|(offer, _)| mode.is_none_or(|mode| mode == offer.security_mode))
            .max_by_key(|(offer, profile)| (offer.security_mode.0, profile.rank));
        let Some((offer, profile)) = best else {
            return Err(ClientError::NoSecureEndpoint {
                endpoint: url.to_string(),
                wanted: options.security.choice.to_string(),
                offered: names(&found.endpoints),
            });
        };
        let application = open(options, url)?;
        Ok(Some(Self {
            profile,
            mode: offer.security_mode,
            identity: application.identity(),
            application,
            server_certificate: offer.server_certificate.as_bytes().to_vec(),
            application_uri: offer.server.application_uri.as_str().to_owned(),
            offered: secured_of(&found.endpoints),
        }))
    }

    /// Returns the configuration of the connection.
    pub(super) fn config(&self, url: &EndpointUrl, options: &ClientOptions) -> TcpClientConfig {
        let host = (!options.security.any_host).then(|| url.host().to_owned());
        let uri = Some(self.application_uri.clone());
        let application = Arc::clone(&self.application);
        TcpClientConfig {
            connection: ClientConnectionConfig {
                policy: SecuredPolicy::for_client(self.profile, application, host, uri),
                security_mode: self.mode,
                server_certificate: self.server_certificate.clone(),
                ..ClientConnectionConfig::default()
            },
            wait: wait_mode(options.waiting),
        }
    }

    /// Checks that the server confirms, on the secured channel, what GetEndpoints returned without protection: otherwise
    /// somebody in between may have removed better endpoints (OPC 10000-4, 5.7.2).
    pub(super) fn is_confirmed(&self, endpoints: &[EndpointDescription]) -> bool {
        let confirmed = secured_of(endpoints);
        let chosen = (self.profile.uri.to_owned(), self.mode);
        confirmed.contains(&chosen) && confirmed.iter().all(|one| self.offered.contains(one))
    }
}

/// Returns true if all addresses of the host are those of the loopback interface.
pub(super) fn is_loopback(url: &EndpointUrl) -> bool {
    url.resolve()
        .is_ok_and(|addresses| addresses.iter().all(|address| address.ip().is_loopback()))
}

fn usable(offer: &EndpointDescription) -> Option<(&EndpointDescription, &'static PolicyProfile)> {
    let profile = PolicyProfile::by_uri(offer.security_policy_uri.as_str())?;
    let is_secured = matches!(
        offer.security_mode,
        MessageSecurityMode::Sign | MessageSecurityMode::SignAndEncrypt
    );
    let is_tcp = offer.transport_profile_uri.as_str() == TCP_PROFILE;
    let has_certificate = !offer.server_certificate.as_bytes().is_empty();
    (is_secured && is_tcp && has_certificate).then_some((offer, profile))
}

fn secured_of(endpoints: &[EndpointDescription]) -> Vec<(String, MessageSecurityMode)> {
    let usable = endpoints.iter().filter_map(usable);
    usable
        .map(|(offer, profile)| (profile.uri.to_owned(), offer.security_mode))
        .collect()
}

/// Returns the names of the SecurityPolicies that a server offers.
pub(super) fn names(offered: &[EndpointDescription]) -> String {
    let mut names: Vec<&str> = offered
        .iter()
        .map(|offer| {
            let uri = offer.security_policy_uri.as_str();
            uri.rsplit_once('#').map_or(uri, |(_, name)| name)
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    match names.is_empty() {
        true => "nothing".to_owned(),
        false => names.join(", "),
    }
}

/// Opens the folders and the certificate of this application.
fn open(
    options: &ClientOptions,
    url: &EndpointUrl,
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
            ApplicationSecurity::open(store, &new)
        }
    };
    let opened = opened.map_err(|error| failed(CertificatesError::from(error)))?;
    Ok(Arc::new(opened))
}

/// Returns the thumbprint of a server's certificate as text.
pub(super) fn thumbprint(certificate: &[u8]) -> String {
    let leaf = Certificate::leaf_of(certificate).unwrap_or_default();
    takt_crypto::Thumbprint::of(leaf).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        let read = |text: &str| text.parse::<SecurityChoice>();
        assert_eq!(read("auto"), Ok(SecurityChoice::Automatic));
        assert_eq!(read("None"), Ok(SecurityChoice::None));
        for text in [
            "sign",
            "encrypt",
            "Basic256Sha256",
            "Aes256_Sha256_RsaPss,sign",
            "Aes128_Sha256_RsaOaep,encrypt",
        ] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        assert!(
            read("Basic128Rsa15")
                .unwrap_err()
                .contains("Basic256Sha256")
        );
        assert!(read("").is_err());
    }
}
