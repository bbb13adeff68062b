//! Users of a test: those that it needs, and nobody else.

use takt_crypto::{Certificate, PolicyProfile};
use takt_services::{IssuedUser, Users};
use takt_space::{Peer, RoleSet, UserRole};
use takt_ua::StatusCode;

/// Check of a password.
type Check = Box<dyn Fn(&[u8]) -> Result<RoleSet, StatusCode> + Send + Sync>;

/// Check of a token.
type TokenCheck = fn(&[u8]) -> Result<IssuedUser, StatusCode>;

/// Users of a test. By default there are none, and everybody is an observer.
pub(crate) struct TestUsers {
    /// A user with a password, and its check.
    pub(crate) login: Option<(&'static str, Check)>,
    /// issuerEndpointUrl of the authorization service, and the check of its tokens.
    pub(crate) issued: Option<(&'static str, TokenCheck)>,
    /// Roles of peers without a user.
    pub(crate) anonymous: fn(&Peer) -> RoleSet,
}

impl Default for TestUsers {
    fn default() -> Self {
        Self {
            login: None,
            issued: None,
            anonymous: |_| UserRole::Observer.into(),
        }
    }
}

impl Users for TestUsers {
    fn allows_user_names(&self) -> bool {
        self.login.is_some()
    }

    fn allows_certificates(&self) -> bool {
        false
    }

    fn has_password(&self, name: &str) -> bool {
        self.login.as_ref().is_some_and(|(known, _)| *known == name)
    }

    fn user_name(&self, _: &Peer, _: &str, password: &[u8]) -> Result<RoleSet, StatusCode> {
        match &self.login {
            Some((_, check)) => check(password),
            None => Err(StatusCode::BadUserAccessDenied),
        }
    }

    fn certificate(
        &self,
        _: &Certificate,
        _: &PolicyProfile,
    ) -> Result<(String, RoleSet), StatusCode> {
        Err(StatusCode::BadIdentityTokenRejected)
    }

    fn issuer_endpoint_url(&self) -> Option<String> {
        self.issued.map(|(url, _)| url.to_owned())
    }

    fn issued(&self, token: &[u8]) -> Result<IssuedUser, StatusCode> {
        match self.issued {
            Some((_, check)) => check(token),
            None => Err(StatusCode::BadIdentityTokenRejected),
        }
    }

    fn anonymous(&self, peer: &Peer) -> RoleSet {
        (self.anonymous)(peer)
    }
}
