//! Who may activate a Session (OPC 10000-4, 5.7.3 and 7.40).

use takt_space::{Channel, UserIdentity};
use takt_ua::StatusCode;

/// Decides about the user identity tokens of ActivateSession.
///
/// The tokens that it supports are announced as UserTokenPolicies in every EndpointDescription.
pub trait Authenticator: Send + Sync {
    /// Whether clients may act without a user.
    fn allows_anonymous(&self) -> bool {
        true
    }

    /// Whether UserName tokens are offered. With SecurityPolicy None the password crosses the transport in the clear.
    fn allows_user_names(&self) -> bool {
        false
    }

    /// Checks a user's name and password, which came through `channel`.
    ///
    /// # Errors
    /// The StatusCode for the client: usually `BadUserAccessDenied` or `BadIdentityTokenRejected`.
    fn user_name(
        &self,
        channel: &Channel,
        name: &str,
        password: &[u8],
    ) -> Result<UserIdentity, StatusCode> {
        let _ = (channel, name, password);
        Err(StatusCode::BadIdentityTokenRejected)
    }
}

/// Everybody is anonymous; UserName tokens are answered with `BadIdentityTokenRejected`.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnonymousOnly;

impl Authenticator for AnonymousOnly {}
