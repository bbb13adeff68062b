//! Users of a server (OPC 10000-4, 7.40), and the role of everybody else.

use takt_crypto::{Certificate, PolicyProfile};
use takt_space::{Peer, UserRole};
use takt_ua::StatusCode;

/// Users with passwords or certificates. Applications authenticate themselves by other means
/// ([`Authenticator`](crate::Authenticator)).
pub trait Users: Send + Sync {
    /// Returns true if UserName tokens are offered.
    fn allows_user_names(&self) -> bool;

    /// Returns true if X509 tokens are offered.
    fn allows_certificates(&self) -> bool;

    /// Returns true if there is a user with this name and a password.
    fn has_password(&self, name: &str) -> bool;

    /// Checks name and password, which came from `peer`. Called on a thread for such checks, which may take long.
    ///
    /// # Errors
    /// `BadUserAccessDenied` for a wrong name or password, and after too many failures.
    fn user_name(&self, peer: &Peer, name: &str, password: &[u8]) -> Result<UserRole, StatusCode>;

    /// Returns name and role of the user with this certificate, whose key the client has.
    ///
    /// # Errors
    /// `BadIdentityTokenRejected` if no user has it, or it is not valid now.
    fn certificate(
        &self,
        certificate: &Certificate,
        profile: &PolicyProfile,
    ) -> Result<(String, UserRole), StatusCode>;

    /// Returns the role of anonymous users beyond the loopback interface.
    fn anonymous(&self) -> UserRole;
}
