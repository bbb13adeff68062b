//! The endpoints that GetEndpoints and CreateSession announce (OPC 10000-4, 7.14).

use takt_crypto::PolicyProfile;
use takt_ua::enumerations::{MessageSecurityMode, UserTokenType};
use takt_ua::structures::{ApplicationDescription, EndpointDescription, UserTokenPolicy};
use takt_ua::{ByteString, UaString};

use crate::authentication::Authenticator;
use crate::users::Users;

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
/// PolicyId of UserName tokens that are protected by themselves.
pub(crate) const PROTECTED_USER_NAME_POLICY: &str = "username_protected";
/// PolicyId of the X509 UserTokenPolicy.
pub(crate) const CERTIFICATE_POLICY: &str = "certificate";
/// PolicyId of X509 tokens on channels without security.
pub(crate) const PROTECTED_CERTIFICATE_POLICY: &str = "certificate_protected";
/// SecurityPolicy of tokens that are protected by themselves: the one that most clients have.
const TOKEN_POLICY_URI: &str = "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256";

/// The kinds of user tokens that a server accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfferedTokens {
    anonymous: bool,
    user_names: bool,
    /// There are users with passwords.
    passwords: bool,
    clear_text: bool,
    certificates: bool,
}

impl OfferedTokens {
    pub(crate) fn of(authenticator: &dyn Authenticator, users: Option<&dyn Users>) -> Self {
        let has_names = users.is_some_and(Users::allows_user_names);
        Self {
            anonymous: authenticator.allows_anonymous(),
            user_names: authenticator.allows_user_names() || has_names,
            passwords: has_names,
            clear_text: authenticator.allows_clear_text(),
            certificates: users.is_some_and(Users::allows_certificates),
        }
    }
}

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
            security_level: 0,
        }
    }

    /// Creates an endpoint with a SecurityPolicy other than None. Its SecurityLevel grows with the rank of the policy, and
    /// with encryption.
    pub fn secured(
        url: impl Into<String>,
        profile: &PolicyProfile,
        security_mode: MessageSecurityMode,
    ) -> Self {
        let encrypts = security_mode == MessageSecurityMode::SignAndEncrypt;
        Self {
            url: url.into(),
            transport_profile_uri: TCP_PROFILE.to_owned(),
            security_policy_uri: profile.uri.to_owned(),
            security_mode,
            security_level: profile.rank + if encrypts { 100 } else { 0 },
        }
    }

    fn is_secured(&self) -> bool {
        self.security_mode != MessageSecurityMode::None
    }

    /// Returns the UserTokenPolicies. Without security of messages, tokens are protected by themselves.
    fn token_policies(
        &self,
        offered: OfferedTokens,
        has_certificate: bool,
    ) -> Vec<UserTokenPolicy> {
        let is_private = self.transport_profile_uri == SHARED_MEMORY_PROFILE;
        let protects = has_certificate && !self.is_secured() && !is_private;
        let policy = |id: &str, token_type, security_policy_uri: &str| UserTokenPolicy {
            policy_id: UaString::from(id),
            token_type,
            // An empty one stands for that of the endpoint (OPC 10000-4, 7.42).
            security_policy_uri: match security_policy_uri {
                "" => UaString::null(),
                uri => UaString::from(uri),
            },
            ..UserTokenPolicy::default()
        };
        let mut policies = Vec::with_capacity(3);
        if offered.anonymous {
            policies.push(policy(ANONYMOUS_POLICY, UserTokenType::Anonymous, ""));
        }
        if offered.user_names {
            let user_name = UserTokenType::UserName;
            if protects {
                let id = PROTECTED_USER_NAME_POLICY;
                policies.push(policy(id, user_name, TOKEN_POLICY_URI));
            }
            if self.is_secured() {
                policies.push(policy(USER_NAME_POLICY, user_name, ""));
            } else if is_private || offered.clear_text {
                policies.push(policy(USER_NAME_POLICY, user_name, SECURITY_POLICY_NONE));
                if !offered.passwords {
                    // Secrets of applications only. Some clients take the first policy, and cannot encrypt a token on a channel
                    // without security.
                    policies.rotate_right(1);
                }
            }
        }
        if offered.certificates {
            let certificate = UserTokenType::Certificate;
            if protects {
                let id = PROTECTED_CERTIFICATE_POLICY;
                policies.push(policy(id, certificate, TOKEN_POLICY_URI));
            } else if self.is_secured() {
                policies.push(policy(CERTIFICATE_POLICY, certificate, ""));
            }
        }
        policies
    }

    /// Returns the EndpointDescription for a client that reached the server as `requested_url`.
    ///
    /// A client that used another name of the same host and port gets the URL with that name: it is known to work for this
    /// client, and some clients insist on it.
    pub(crate) fn describe(
        &self,
        application: &ApplicationDescription,
        offered: OfferedTokens,
        certificate: Option<&[u8]>,
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
            // Tokens of users may be encrypted even if messages are not.
            server_certificate: match certificate {
                Some(certificate) if self.transport_profile_uri == TCP_PROFILE => {
                    ByteString::from(certificate)
                }
                _ => ByteString::null(),
            },
            security_mode: self.security_mode,
            security_policy_uri: UaString::from(self.security_policy_uri.as_str()),
            user_identity_tokens: self.token_policies(offered, certificate.is_some()),
            transport_profile_uri: UaString::from(self.transport_profile_uri.as_str()),
            security_level: self.security_level,
        }
    }
}

/// Returns the SecurityPolicy that protects tokens with this PolicyId on a channel with this SecurityPolicy; `None` if they
/// are not protected by themselves.
pub(crate) fn profile_of_token(
    policy_id: &UaString,
    channel_policy_uri: &str,
) -> Option<&'static PolicyProfile> {
    match policy_id.as_str() {
        PROTECTED_USER_NAME_POLICY | PROTECTED_CERTIFICATE_POLICY => {
            PolicyProfile::by_uri(TOKEN_POLICY_URI)
        }
        _ => PolicyProfile::by_uri(channel_policy_uri),
    }
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
                .describe(
                    &application,
                    OfferedTokens::of(&AnonymousOnly, None),
                    None,
                    requested,
                )
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
