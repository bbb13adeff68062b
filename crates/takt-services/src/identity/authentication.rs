//! Authentication of users when a Session is activated (OPC 10000-4, 5.7.3 and 7.40).

use takt_space::{Channel, UserIdentity};
use takt_ua::StatusCode;

/// Authentication rules for the user identity tokens of ActivateSession.
///
/// The supported tokens are announced as UserTokenPolicies in every EndpointDescription.
pub trait Authenticator: Send + Sync {
    /// Returns true if clients may act without a user.
    fn allows_anonymous(&self) -> bool {
        true
    }

    /// Returns true if UserName tokens are offered.
    fn allows_user_names(&self) -> bool {
        false
    }

    /// Returns true if [`user_name`](Self::user_name) takes UserName tokens that came unencrypted over `opc.tcp` with
    /// SecurityPolicy None, from the loopback interface. Passwords of [`Users`](crate::Users) are never accepted so. Over shared
    /// memory tokens are not encrypted.
    fn allows_clear_text(&self) -> bool {
        false
    }

    /// Checks a user's name and password, which were received through `channel`.
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

    /// Notes a name and password that belong neither to an application nor to a user who may have any.
    fn refused(&self, channel: &Channel, name: &str) {
        let _ = (channel, name);
    }
}

/// Default authenticator: every client is anonymous; UserName tokens are answered with `BadIdentityTokenRejected`.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnonymousOnly;

impl Authenticator for AnonymousOnly {}
