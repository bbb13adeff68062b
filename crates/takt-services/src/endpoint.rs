//! The endpoints that GetEndpoints and CreateSession announce (OPC 10000-4, 7.14).

use takt_ua::enumerations::{MessageSecurityMode, UserTokenType};
use takt_ua::structures::{ApplicationDescription, EndpointDescription, UserTokenPolicy};
use takt_ua::{ByteString, UaString};

use crate::authentication::Authenticator;

/// `opc.tcp` with the binary encoding (OPC 10000-7, profile "UA-TCP UA-SC UA-Binary").
pub const TCP_PROFILE: &str = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";
/// `opc.iox2`: OPC UA Binary over shared memory. It is specific to Takt; the standard has no such profile.
pub const SHARED_MEMORY_PROFILE: &str = "urn:takt:Transport:iox2-uabinary";
/// SecurityPolicy None.
pub const SECURITY_POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// PolicyId of the anonymous UserTokenPolicy.
pub(crate) const ANONYMOUS_POLICY: &str = "anonymous";
/// PolicyId of the UserName UserTokenPolicy.
pub(crate) const USER_NAME_POLICY: &str = "username";

/// Configuration of one endpoint of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointConfig {
    /// EndpointUrl: `opc.tcp://host:port` or `opc.iox2://ApplicationName`.
    pub url: String,
    /// TransportProfileUri: [`TCP_PROFILE`] or [`SHARED_MEMORY_PROFILE`].
    pub transport_profile_uri: String,
    /// SecurityPolicyUri.
    pub security_policy_uri: String,
    /// MessageSecurityMode.
    pub security_mode: MessageSecurityMode,
    /// The server's certificate in DER; empty with SecurityPolicy None.
    pub server_certificate: Vec<u8>,
    /// SecurityLevel: clients prefer the endpoint with the highest level.
    pub security_level: u8,
}

impl EndpointConfig {
    /// Creates an endpoint with SecurityPolicy None.
    pub fn without_security(
        url: impl Into<String>,
        transport_profile_uri: impl Into<String>,
    ) -> Self {
        Self {
            url: url.into(),
            transport_profile_uri: transport_profile_uri.into(),
            security_policy_uri: SECURITY_POLICY_NONE.to_owned(),
            security_mode: MessageSecurityMode::None,
            server_certificate: Vec::new(),
            security_level: 0,
        }
    }

    /// Returns the EndpointDescription for a client that reached the server as `requested_url`.
    ///
    /// A client that used another name of the same host and port gets the URL with that name: it is known to work for this
    /// client, and some clients insist on it.
    pub(crate) fn describe(
        &self,
        application: &ApplicationDescription,
        authenticator: &dyn Authenticator,
        requested_url: &str,
    ) -> EndpointDescription {
        let url = if same_port(&self.url, requested_url) {
            requested_url
        } else {
            &self.url
        };
        EndpointDescription {
            endpoint_url: UaString::from(url),
            server: application.clone(),
            server_certificate: match self.server_certificate.as_slice() {
                [] => ByteString::null(),
                certificate => ByteString::from(certificate),
            },
            security_mode: self.security_mode,
            security_policy_uri: UaString::from(self.security_policy_uri.as_str()),
            user_identity_tokens: token_policies(authenticator),
            transport_profile_uri: UaString::from(self.transport_profile_uri.as_str()),
            security_level: self.security_level,
        }
    }
}

fn token_policies(authenticator: &dyn Authenticator) -> Vec<UserTokenPolicy> {
    let mut policies = Vec::with_capacity(2);
    if authenticator.allows_anonymous() {
        policies.push(UserTokenPolicy {
            policy_id: UaString::from(ANONYMOUS_POLICY),
            token_type: UserTokenType::Anonymous,
            ..UserTokenPolicy::default()
        });
    }
    if authenticator.allows_user_names() {
        policies.push(UserTokenPolicy {
            policy_id: UaString::from(USER_NAME_POLICY),
            token_type: UserTokenType::UserName,
            security_policy_uri: UaString::from(SECURITY_POLICY_NONE),
            ..UserTokenPolicy::default()
        });
    }
    policies
}

/// Returns true if both URLs have the same scheme, `opc.tcp`, and the same port.
fn same_port(url: &str, requested: &str) -> bool {
    match (tcp_port(url), tcp_port(requested)) {
        (Some(port), Some(requested)) => port == requested,
        _ => false,
    }
}

/// Returns the port of an `opc.tcp` URL, 4840 if it names none.
fn tcp_port(url: &str) -> Option<u16> {
    let authority = url.strip_prefix("opc.tcp://")?.split('/').next()?;
    let after_host = match authority.rsplit_once(']') {
        Some((_, rest)) => rest,
        None => authority,
    };
    match after_host.rsplit_once(':') {
        Some((_, port)) => port.parse().ok(),
        None => Some(4840),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authentication::AnonymousOnly;

    #[test]
    fn endpoint_urls_keep_the_host_name_of_the_client() {
        let endpoint = EndpointConfig::without_security("opc.tcp://127.0.0.1:4841/", TCP_PROFILE);
        let application = ApplicationDescription::default();
        let url = |requested: &str| {
            endpoint
                .describe(&application, &AnonymousOnly, requested)
                .endpoint_url
                .into_string()
        };
        assert_eq!(url("opc.tcp://localhost:4841"), "opc.tcp://localhost:4841");
        assert_eq!(url("opc.tcp://localhost:4840"), "opc.tcp://127.0.0.1:4841/");
        assert_eq!(url(""), "opc.tcp://127.0.0.1:4841/");
        assert_eq!(url("opc.iox2://Machine"), "opc.tcp://127.0.0.1:4841/");
    }

    #[test]
    fn ports_of_urls() {
        assert_eq!(tcp_port("opc.tcp://host"), Some(4840));
        assert_eq!(tcp_port("opc.tcp://[::1]:5000/path"), Some(5000));
        assert_eq!(tcp_port("opc.tcp://[::1]"), Some(4840));
        assert_eq!(tcp_port("http://host:1"), None);
        assert_eq!(tcp_port("opc.tcp://host:port"), None);
    }
}
