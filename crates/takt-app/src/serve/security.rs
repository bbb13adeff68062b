//! Secured endpoints of a server: the certificate of the application, and which endpoints are offered.

use std::path::PathBuf;
use std::sync::Arc;

use takt_client::Endpoint;
use takt_client::certificates::{self, CertificatesError};
use takt_crypto::{ApplicationSecurity, KeyKind, PolicyProfile, Remedy};
use takt_services::{EndpointConfig, Server};
use takt_space::{RoleSet, UserRole};
use takt_tcp::{EndpointUrl, NoSecurity, SecuredPolicy, SecurityPolicy};
use takt_ua::enumerations::MessageSecurityMode;

use super::advertised::Advertised;
use super::curves::OfferedCurves;
use crate::issued_tokens::{IssuedTokens, JwtOptions, JwtOptionsError};
use crate::users::UserFile;

/// Security of the endpoints of a server over TCP.
///
/// An address beyond the loopback interface always has secured endpoints. Sessions without security are possible on the loopback
/// interface, where the host is the boundary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointSecurity {
    /// Folder of certificates (OPC 10000-12, Annex F); by default `pki` in the user's [state
    /// folder](crate::state_directory). A missing certificate of the application is created there.
    pub certificates: Option<PathBuf>,
    /// Offer secured endpoints on the loopback interface, too.
    pub secured_loopback: bool,
    /// Allow Sessions without security beyond the loopback interface: every client that reaches the port can use the server.
    pub allow_none: bool,
    /// File of users; by default `users` in the user's [state folder](crate::state_directory). It may be missing.
    pub users: Option<PathBuf>,
    /// Let all anonymous users over TCP write and call. Otherwise they have the role Observer, unless the operating system confirms
    /// their Unix user: that of the server and root have all roles, another one those of the file.
    pub anonymous_operators: bool,
    /// Let anonymous users from the loopback interface write and call, whoever runs them: other Unix users of this host, too, and
    /// those in containers that reach it.
    pub trust_loopback: bool,
    /// Elliptic curves of SecurityPolicies that are offered besides those with RSA. Each has a certificate of its own.
    pub curves: OfferedCurves,
    /// Authorization service whose JSON Web Tokens are accepted, besides the users in the file.
    pub jwt: Option<JwtOptions>,
}

/// Error of an endpoint that needs a certificate and has none.
#[derive(Debug, thiserror::Error)]
#[error("{endpoint} is reachable from the network and needs a certificate: {cause}")]
pub struct ServeSecurityError {
    /// The endpoint.
    pub endpoint: String,
    /// The reason why there is no certificate.
    #[source]
    pub cause: CertificatesError,
}

impl EndpointSecurity {
    /// Opens the folders and the certificate of `server` if one of its endpoints needs them.
    pub(super) fn open(
        &self,
        server: &Server,
        endpoints: &[Endpoint],
        advertise: Option<&Advertised>,
    ) -> Result<Option<Arc<ApplicationSecurity>>, ServeSecurityError> {
        let urls: Vec<&EndpointUrl> = endpoints.iter().filter_map(Endpoint::network).collect();
        let outside = urls.iter().find(|url| !is_loopback(url));
        if urls.is_empty() || outside.is_none() && !self.secured_loopback {
            return Ok(None);
        }
        let advertised = advertise.map(Advertised::host);
        let hosts = urls.iter().map(|url| url.host()).chain(advertised);
        let new = certificates::describe(
            server.application_name(),
            server.application_uri(),
            hosts.map(str::to_owned).collect(),
        );
        let folder = self.certificates.as_deref();
        let opened = certificates::open_store(folder).and_then(|store| {
            let curves: Vec<KeyKind> = self.curves.iter().map(KeyKind::Ec).collect();
            ApplicationSecurity::open_with(store, &new, KeyKind::Rsa, &curves)
                .map_err(CertificatesError::from)
        });
        match (opened, outside) {
            (Ok(security), _) => {
                for kind in security.kinds() {
                    let own = security.identity_of(kind);
                    if let Some(host) = advertised
                        && own.is_some_and(|own| !own.certificate().is_for_host(host))
                    {
                        let name = server.application_name();
                        let place = folder.map(|folder| folder.display().to_string());
                        tracing::warn!(
                            host,
                            %kind,
                            folder = place,
                            "the own certificate does not contain the advertised host, so clients will refuse it: make one that does{}",
                            Remedy::AddHost { application: name, host, folder }
                        );
                    }
                }
                Ok(Some(Arc::new(security)))
            }
            (Err(cause), Some(url)) if !self.allow_none => Err(ServeSecurityError {
                endpoint: url.to_string(),
                cause,
            }),
            (Err(cause), _) => {
                tracing::warn!(%cause, "no secured endpoints are offered");
                Ok(None)
            }
        }
    }
}

impl EndpointSecurity {
    /// Gives the server its users.
    ///
    /// # Errors
    /// The keys of the authorization service cannot be read.
    pub(super) fn admit(&self, server: &Server) -> Result<(), JwtOptionsError> {
        let open =
            |options: &JwtOptions| IssuedTokens::open(options.clone(), server.application_uri());
        let issued = self.jwt.as_ref().map(open).transpose()?;
        let path = self.users.clone();
        let path = path.or_else(|| {
            crate::state_directory()
                .ok()
                .map(|folder| folder.join("users"))
        });
        let observer = RoleSet::of(&[UserRole::Anonymous, UserRole::Observer]);
        let anonymous = match self.anonymous_operators {
            true => observer.union(UserRole::Operator.into()),
            false => observer,
        };
        let users = UserFile::new(path.unwrap_or_default(), anonymous)
            .with_issued_tokens(issued)
            .trusting_loopback(self.trust_loopback);
        server.set_users(Arc::new(users));
        Ok(())
    }
}

/// Returns true if all addresses of the host are those of the loopback interface.
pub(super) fn is_loopback(url: &EndpointUrl) -> bool {
    // One address beyond the interface makes the endpoint reachable from the network.
    // A host that cannot be resolved may have such an address.
    url.resolve().is_ok_and(|addresses| {
        !addresses.is_empty() && addresses.iter().all(|address| address.ip().is_loopback())
    })
}

/// Returns the SecurityPolicies for which there is a certificate.
fn profiles(security: &ApplicationSecurity) -> impl Iterator<Item = &'static PolicyProfile> {
    let kinds: Vec<KeyKind> = security.kinds().collect();
    let all = PolicyProfile::ALL.into_iter();
    all.filter(move |profile| kinds.contains(&profile.key_kind()))
}

/// Returns the SecurityPolicies of channels. With None, discovery is always possible.
pub(super) fn policies(
    security: Option<&Arc<ApplicationSecurity>>,
) -> Vec<Arc<dyn SecurityPolicy>> {
    let secured = security.into_iter().flat_map(|security| {
        profiles(security).map(|profile| SecuredPolicy::for_server(profile, Arc::clone(security)))
    });
    std::iter::once(NoSecurity::policy())
        .chain(secured)
        .collect()
}

/// Returns the secured endpoints, the most secure first.
pub(super) fn endpoints(security: &ApplicationSecurity, url: &str) -> Vec<EndpointConfig> {
    let modes = [
        MessageSecurityMode::SignAndEncrypt,
        MessageSecurityMode::Sign,
    ];
    let endpoints = modes.into_iter().flat_map(|mode| {
        profiles(security).map(move |profile| EndpointConfig::secured(url, profile, mode))
    });
    endpoints.collect()
}
