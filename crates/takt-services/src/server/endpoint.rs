//! The endpoints that GetEndpoints and CreateSession announce (OPC 10000-4, 7.14).

use takt_crypto::PolicyProfile;
use takt_ua::enumerations::{MessageSecurityMode, UserTokenType};
use takt_ua::structures::{ApplicationDescription, EndpointDescription, UserTokenPolicy};
use takt_ua::{ByteString, SECURITY_POLICY_NONE, UaString};

use crate::authentication::Authenticator;
use crate::requested_url::RequestedUrl;
use crate::users::Users;

/// `opc.tcp` with the binary encoding (OPC 10000-7, profile "UA-TCP UA-SC UA-Binary").
pub const TCP_PROFILE: &str = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";
/// `opc.iox2`: OPC UA Binary over shared memory. It is specific to Takt; the standard has no such profile.
pub const SHARED_MEMORY_PROFILE: &str = "urn:takt:Transport:iox2-uabinary";

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
/// PolicyId of JSON Web Tokens.
pub(crate) const JWT_POLICY: &str = "jwt";
/// IssuedTokenType of JSON Web Tokens (OPC 10000-6, Table 53).
const JWT_TYPE: &str = "http://opcfoundation.org/UA/UserToken#JWT";
/// SecurityPolicy of tokens that are protected by themselves: the one that most clients have.
const TOKEN_POLICY_URI: &str = "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256";

/// The kinds of user tokens that a server accepts.
#[derive(Debug, Clone)]
pub(crate) struct OfferedTokens {
    anonymous: bool,
    user_names: bool,
    /// There are users with passwords.
    passwords: bool,
    clear_text: bool,
    certificates: bool,
    /// IssuerEndpointUrl of JSON Web Tokens.
    issued: Option<String>,
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
            issued: users.and_then(Users::issuer_endpoint_url),
        }
    }
}

/// Rule for the host in the EndpointUrl that a client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnnouncedHost {
    /// The host that the client used if it used the port of the endpoint; otherwise the configured one. For an endpoint with one
    /// address.
    #[default]
    OfClientOnPort,
    /// The host that the client used, whatever port it used. For an endpoint at all addresses of the host.
    OfClient,
    /// The configured host, for every client.
    Configured,
}

/// Configuration of one endpoint of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointConfig {
    /// EndpointUrl: `opc.tcp://host:port` or `opc.iox2://ApplicationName`.
    pub url: String,
    /// Rule for the host in the URL that a client gets.
    pub announced_host: AnnouncedHost,
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
            announced_host: AnnouncedHost::default(),
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
            announced_host: AnnouncedHost::default(),
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
        offered: &OfferedTokens,
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
        // A token is too long to be encrypted with RSA by itself. It is sent where the channel encrypts it.
        let encrypts = self.security_mode == MessageSecurityMode::SignAndEncrypt;
        if let Some(issuer) = &offered.issued
            && (encrypts || is_private)
        {
            policies.push(UserTokenPolicy {
                issued_token_type: UaString::from(JWT_TYPE),
                issuer_endpoint_url: UaString::from(issuer.as_str()),
                ..policy(JWT_POLICY, UserTokenType::IssuedToken, SECURITY_POLICY_NONE)
            });
        }
        policies
    }

    /// Returns the same endpoint with another rule for its host.
    #[must_use]
    pub fn with_announced_host(mut self, rule: AnnouncedHost) -> Self {
        self.announced_host = rule;
        self
    }

    /// Returns the EndpointUrl for a client that reached the server as `requested_url`.
    ///
    /// A client that used another name of the same host gets the URL with that name: it is known to work for this client, and
    /// some clients insist on it. A URL that is not well-formed is never repeated.
    pub(crate) fn url_for(&self, requested_url: &str) -> String {
        let own = RequestedUrl::parse(&self.url);
        let requested = RequestedUrl::parse(requested_url);
        let (Some(own), Some(requested)) = (own, requested) else {
            return self.url.clone();
        };
        match self.announced_host {
            AnnouncedHost::Configured => self.url.clone(),
            _ if own.port() == requested.port() => requested.to_string(),
            AnnouncedHost::OfClient => own.with_host_of(&requested),
            AnnouncedHost::OfClientOnPort => self.url.clone(),
        }
    }

    /// Returns the EndpointDescription for a client that reached the server as `requested_url`.
    pub(crate) fn describe(
        &self,
        application: &ApplicationDescription,
        offered: &OfferedTokens,
        certificate: Option<&[u8]>,
        requested_url: &str,
    ) -> EndpointDescription {
        EndpointDescription {
            endpoint_url: UaString::from(self.url_for(requested_url)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authentication::AnonymousOnly;

    fn endpoint(url: &str, rule: AnnouncedHost) -> EndpointConfig {
        EndpointConfig::without_security(url, TCP_PROFILE).with_announced_host(rule)
    }

    #[test]
    fn endpoint_urls_keep_the_host_name_of_the_client() {
        let one = endpoint("opc.tcp://127.0.0.1:4841/", AnnouncedHost::OfClientOnPort);
        let url = |requested: &str| one.url_for(requested);
        assert_eq!(url("opc.tcp://localhost:4841"), "opc.tcp://localhost:4841");
        assert_eq!(url("opc.tcp://localhost:4840"), "opc.tcp://127.0.0.1:4841/");
        assert_eq!(url(""), "opc.tcp://127.0.0.1:4841/");
        assert_eq!(url("opc.iox2://Machine"), "opc.tcp://127.0.0.1:4841/");
        let description = one.describe(
            &ApplicationDescription::default(),
            &OfferedTokens::of(&AnonymousOnly, None),
            None,
            "opc.tcp://[::1]:4841",
        );
        assert_eq!(description.endpoint_url, "opc.tcp://[::1]:4841");
    }

    #[test]
    fn an_endpoint_at_all_addresses_keeps_the_host_behind_another_port() {
        let all = endpoint("opc.tcp://plc7:4840/line", AnnouncedHost::OfClient);
        for (requested, expected) in [
            ("opc.tcp://plant:14840", "opc.tcp://plant:4840/line"),
            (
                "opc.tcp://[fd00::7]:14840/x",
                "opc.tcp://[fd00::7]:4840/line",
            ),
            ("opc.tcp://10.0.0.7", "opc.tcp://10.0.0.7"),
        ] {
            assert_eq!(all.url_for(requested), expected);
        }
    }

    #[test]
    fn an_advertised_host_is_announced_to_every_client() {
        let advertised = endpoint("opc.tcp://plant.example:4841", AnnouncedHost::Configured);
        for requested in ["opc.tcp://127.0.0.1:4841", "opc.tcp://plc7:4840", ""] {
            assert_eq!(
                advertised.url_for(requested),
                "opc.tcp://plant.example:4841"
            );
        }
    }

    #[test]
    fn a_url_that_is_not_well_formed_is_not_repeated() {
        for rule in [AnnouncedHost::OfClient, AnnouncedHost::OfClientOnPort] {
            let own = endpoint("opc.tcp://plc7:4840", rule);
            for garbage in [
                "opc.tcp://<script>:4840",
                "opc.tcp://plc7 evil:4840",
                "opc.tcp://plc7\n:4840",
                "opc.tcp://user@plc7:4840",
                "opc.tcp://:4840",
                "opc.tcp://[::1:4840",
                "opc.tcp://[::g]:4840",
                "opc.tcp://plc7:4840:4840",
                "http://plc7:4840",
            ] {
                assert_eq!(own.url_for(garbage), "opc.tcp://plc7:4840", "{garbage:?}");
            }
        }
    }
}
