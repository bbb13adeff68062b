//! Sessions that are refused to clients, in the log: an operator sees the reason without an audit trail.

use takt_space::Channel;
use takt_ua::StatusCode;

use crate::server::Server;

/// Applications and user of a refused request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refused<'a> {
    /// `CreateSession` or `ActivateSession`.
    pub(super) service: &'static str,
    pub(super) channel: &'a Channel,
    /// ApplicationUri that the client names; empty if it is not known.
    pub(super) application_uri: &'a str,
    /// Name of the user whom the client claims to be.
    pub(super) user: Option<&'a str>,
    /// Check that failed, in the words of an operator, if it is known better than its StatusCode tells.
    pub(super) reason: Option<&'static str>,
}

impl Refused<'_> {
    /// Writes the reason to the log, with the policy and the certificate of the channel. Floods of refusals are counted instead.
    #[cold]
    pub(super) fn log(&self, server: &Server, status: StatusCode) {
        // Sessions end, by a restart or a timeout: clients find out in this way, and create others.
        if matches!(
            status,
            StatusCode::BadSessionIdInvalid | StatusCode::BadSessionClosed
        ) {
            return;
        }
        let Some(left_out) = server.refusals.admit(std::time::Instant::now()) else {
            return;
        };
        let security = &self.channel.security;
        let certificate = security.client_certificate.leaf();
        tracing::warn!(
            client = %self.channel.peer,
            application = self.application_uri,
            user = self.user,
            policy = security.policy_uri,
            certificate = certificate.and_then(|one| one.application_uri.as_deref()),
            reason = self.reason.unwrap_or_else(|| reason(status)),
            %status,
            refused_before = left_out,
            "{} is refused",
            self.service
        );
    }
}

/// Returns the check that failed, in the words of an operator (OPC 10000-4, 5.7.2.3 and 5.7.3.3).
fn reason(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BadServerUriInvalid => "the client asks for another server",
        StatusCode::BadSecurityModeInsufficient => "the channel is for discovery only",
        StatusCode::BadCertificateInvalid => {
            "the certificate is not the one that opened the channel"
        }
        StatusCode::BadCertificateUriInvalid => {
            "the ApplicationUri of the client is not the one in its certificate"
        }
        StatusCode::BadNonceInvalid => "a nonce has the wrong length, or was used before",
        StatusCode::BadApplicationSignatureInvalid => {
            "the client does not prove that it has the key of its certificate"
        }
        StatusCode::BadUserSignatureInvalid => {
            "the user does not prove to have the key of the certificate"
        }
        StatusCode::BadIdentityTokenInvalid => "the token of the user cannot be read",
        StatusCode::BadIdentityTokenRejected => {
            "no UserTokenPolicy is for this token, or its user is not trusted"
        }
        StatusCode::BadUserAccessDenied => {
            "the name or the password is wrong, or the Session is another user's"
        }
        StatusCode::BadTooManySessions => "there are too many Sessions",
        StatusCode::BadTooManyOperations => "too many passwords are tried",
        StatusCode::BadOutOfMemory => "the memory for clients is used up",
        StatusCode::BadSecureChannelIdInvalid => "the Session was created on another channel",
        _ => "the request cannot be carried out",
    }
}
