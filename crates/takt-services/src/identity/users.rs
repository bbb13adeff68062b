//! Users of a server (OPC 10000-4, 7.40), and the Roles of everybody else.

use takt_crypto::{Certificate, PolicyProfile};
use takt_space::{Caller, Peer, RoleSet};
use takt_ua::StatusCode;

use super::forwarded_identity::ForwardedIdentity;

/// A user with a token of an authorization service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedUser {
    /// The authorization service.
    pub issuer: String,
    /// Name of the user at that service.
    pub subject: String,
    /// Roles.
    pub roles: RoleSet,
    /// End of the token in seconds since 1970: the Session ends then, unless it is activated again with another token.
    pub expires: i64,
}

/// Users with passwords or certificates. Applications authenticate themselves by other means
/// ([`Authenticator`](crate::Authenticator)).
pub trait Users: Send + Sync {
    /// Returns true if UserName tokens are offered.
    fn allows_user_names(&self) -> bool;

    /// Returns true if X509 tokens are offered.
    fn allows_certificates(&self) -> bool;

    /// Returns true if there is a user with this name and a password.
    fn has_password(&self, name: &str) -> bool;

    /// Returns true if [`user_name`](Self::user_name) takes no noteworthy time for this name.
    fn is_quick(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Checks name and password, which came from `peer`. Called on a thread for such checks, which may take long.
    ///
    /// # Errors
    /// `BadUserAccessDenied` for a wrong name or password.
    fn user_name(&self, peer: &Peer, name: &str, password: &[u8]) -> Result<RoleSet, StatusCode>;

    /// Returns name and Roles of the user with this certificate, whose key the client has.
    ///
    /// # Errors
    /// `BadIdentityTokenRejected` if no user has it, or it is not valid now.
    fn certificate(
        &self,
        certificate: &Certificate,
        profile: &PolicyProfile,
    ) -> Result<(String, RoleSet), StatusCode>;

    /// Returns the issuerEndpointUrl of JSON Web Tokens (OPC 10000-6, Table 54), if they are accepted.
    fn issuer_endpoint_url(&self) -> Option<String> {
        None
    }

    /// Returns the user with this JSON Web Token.
    ///
    /// # Errors
    /// `BadIdentityTokenRejected` for a token that is not valid here and now, `BadUserAccessDenied` for one without a role.
    fn issued(&self, token: &[u8]) -> Result<IssuedUser, StatusCode> {
        let _ = token;
        Err(StatusCode::BadIdentityTokenRejected)
    }

    /// Returns the most Roles that a user may have who uses this server through another one, which forwards the requests. `None`:
    /// those that the other server gives.
    fn limit(&self, user: &ForwardedIdentity) -> Option<RoleSet> {
        let _ = user;
        None
    }

    /// Returns the Roles of a peer without a user: those of its Unix user, if the operating system confirms it.
    fn anonymous(&self, peer: &Peer) -> RoleSet;

    /// Notes that operations of a request are refused with `BadUserAccessDenied`. `service` is the name of the Service: Write or Call.
    fn refused(&self, caller: &Caller, service: &'static str) {
        let _ = (caller, service);
    }
}
