//! UserTokenPolicies (OPC 10000-4, 7.42): the kinds of user tokens that an endpoint accepts.

use takt_crypto::PolicyProfile;
use takt_ua::enumerations::{MessageSecurityMode, UserTokenType};
use takt_ua::structures::UserTokenPolicy;
use takt_ua::{SECURITY_POLICY_NONE, UaString};

use super::authentication::Authenticator;
use super::users::Users;

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

    /// Returns the UserTokenPolicies of an endpoint. Without security of messages, tokens are protected by themselves.
    pub(crate) fn policies(&self, messages: Messages) -> Vec<UserTokenPolicy> {
        let protects = messages.has_certificate && !messages.is_secured() && !messages.is_private;
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
        if self.anonymous {
            policies.push(policy(ANONYMOUS_POLICY, UserTokenType::Anonymous, ""));
        }
        if self.user_names {
            let user_name = UserTokenType::UserName;
            if protects {
                let id = PROTECTED_USER_NAME_POLICY;
                policies.push(policy(id, user_name, TOKEN_POLICY_URI));
            }
            if messages.is_secured() {
                policies.push(policy(USER_NAME_POLICY, user_name, ""));
            } else if messages.is_private || self.clear_text {
                policies.push(policy(USER_NAME_POLICY, user_name, SECURITY_POLICY_NONE));
                if !self.passwords {
                    // Secrets of applications only. Some clients take the first policy, and cannot encrypt a token on a channel
                    // without security.
                    policies.rotate_right(1);
                }
            }
        }
        if self.certificates {
            let certificate = UserTokenType::Certificate;
            if protects {
                let id = PROTECTED_CERTIFICATE_POLICY;
                policies.push(policy(id, certificate, TOKEN_POLICY_URI));
            } else if messages.is_secured() {
                policies.push(policy(CERTIFICATE_POLICY, certificate, ""));
            }
        }
        // A token is too long to be encrypted with RSA by itself. It is sent where the channel encrypts it.
        let encrypts = messages.security_mode == MessageSecurityMode::SignAndEncrypt;
        if let Some(issuer) = &self.issued
            && (encrypts || messages.is_private)
        {
            policies.push(UserTokenPolicy {
                issued_token_type: UaString::from(JWT_TYPE),
                issuer_endpoint_url: UaString::from(issuer.as_str()),
                ..policy(JWT_POLICY, UserTokenType::IssuedToken, SECURITY_POLICY_NONE)
            });
        }
        policies
    }
}

/// Protection of the messages in which an endpoint gets tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Messages {
    pub(crate) security_mode: MessageSecurityMode,
    /// True for shared memory, which nobody else can read.
    pub(crate) is_private: bool,
    /// True if the client gets a certificate, with which it can protect a token.
    pub(crate) has_certificate: bool,
}

impl Messages {
    fn is_secured(self) -> bool {
        self.security_mode != MessageSecurityMode::None
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
