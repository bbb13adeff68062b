//! Members of SecurityGroups who ask for keys.

use takt_space::{Caller, Peer};
use takt_ua::StatusCode;

/// Member of a SecurityGroup who asks for its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyHolder {
    /// A Unix user, whom the kernel has authenticated.
    User(u32),
    /// An application with this ApplicationUri in its certificate, on an encrypted channel.
    Application(String),
}

impl KeyHolder {
    /// Returns the member behind a request.
    pub(super) fn of(caller: &Caller) -> Result<Self, StatusCode> {
        let security = &caller.channel.security;
        match caller.peer() {
            Peer::Tcp { .. } if security.is_encrypted() => {
                let certificate = security.client_certificate.leaf();
                let uri = certificate.and_then(|certificate| certificate.application_uri.clone());
                uri.map(Self::Application)
                    .ok_or(StatusCode::BadUserAccessDenied)
            }
            _ => user(caller).map(Self::User),
        }
    }

    /// Returns the name of the member in the option `--security-group`.
    pub(super) fn member(&self) -> String {
        match self {
            Self::User(user) => user.to_string(),
            Self::Application(uri) => uri.clone(),
        }
    }
}

/// Returns the Unix user of the caller, if the kernel has authenticated it.
fn user(caller: &Caller) -> Result<u32, StatusCode> {
    match caller.peer() {
        Peer::SharedMemory { user, .. } => user.ok_or(StatusCode::BadUserAccessDenied),
        // A channel that is not encrypted would show the keys to others.
        Peer::Tcp { .. } => Err(StatusCode::BadSecurityModeInsufficient),
    }
}
