//! Texts of the Property Problem of a mirror, and errors that last until somebody acts.

use takt_app::{ClientError, Identity};
use takt_ua::StatusCode;

use super::options::MirrorOptions;
use super::scan::ScanError;

/// Number of connections that a mirror uses at once: for values, for Writes and Calls, for Events, and for a while after a
/// reconnection to browse the server again.
const CONNECTIONS: usize = 4;

/// Text for a server that sends nothing, while its connection is open.
pub(super) const SILENT: &str = "the server sends nothing; its values are the last ones";

/// Returns true if further attempts fail too until somebody changes something. A server may lock out a user that tries often.
pub(super) fn is_lasting(error: &ScanError) -> bool {
    match error {
        ScanError::Client(error) => error.is_lasting(),
        ScanError::Limit { .. } => true,
        ScanError::OtherSession | ScanError::Stopped => false,
    }
}

/// Returns true if the server was there, and answered with something that the mirror cannot use: further attempts soon cost it a
/// session each, and end alike.
pub(super) fn is_faulty(error: &ScanError) -> bool {
    match error {
        ScanError::Client(error) => !error.is_connection() && !error.is_session_lost(),
        ScanError::Limit { .. } => true,
        ScanError::OtherSession | ScanError::Stopped => false,
    }
}

/// Returns true if the attempt ended before the login: one side does not trust the other one, or there is no password. It locks
/// nobody out.
pub(super) fn is_before_login(error: &ScanError) -> bool {
    matches!(
        error,
        ScanError::Client(
            ClientError::ServerCertificate { .. }
                | ClientError::NotTrusted { .. }
                | ClientError::PasswordFile { .. }
        )
    )
}

/// Returns the reason why a mirror is away, and the options that concern it.
pub(super) fn text(error: &ScanError, options: &MirrorOptions) -> String {
    match error {
        ScanError::Client(cause) => format!("{error}{}", advice(cause, options)),
        _ => error.to_string(),
    }
}

fn advice(error: &ClientError, options: &MirrorOptions) -> String {
    match error {
        error if error.refuses_user() => match &options.identity {
            Identity::UserName { name, .. } => format!(
                "; the server refuses the user {name} or the password of the mirror: check both"
            ),
            Identity::PasswordFile { name, file } => format!(
                "; the server refuses the user {name} or the password of the mirror: check both (the file \
                 {} is read for each attempt)",
                file.display()
            ),
            _ => "; the mirror needs a user and a password".to_owned(),
        },
        ClientError::PasswordFile { .. } => {
            "; the file of the password is read for each attempt".to_owned()
        }
        ClientError::ServerCertificate { cause, .. }
            if cause.status_code() == StatusCode::BadCertificateHostNameInvalid =>
        {
            format!(
                "; the mirror {} can accept a certificate without this host (any_host)",
                options.name
            )
        }
        _ => String::new(),
    }
}

/// Returns the text for a server that connects to the registry less often than the mirror needs (reverse connect).
pub(super) fn too_few_connections() -> String {
    format!(
        "the server opens too few connections to the registry: the mirror needs {CONNECTIONS} at once, for values, for Writes \
         and Calls, for Events and for browsing after a reconnection; let the server open more connections, for example by \
         more entries with the address at which the registry waits for it"
    )
}

#[cfg(test)]
mod tests {
    use takt_crypto::CertificateError;

    use super::*;

    fn refused(status: StatusCode) -> ScanError {
        let service = "ActivateSessionRequest";
        ScanError::Client(ClientError::Service { service, status })
    }

    fn certificate(cause: CertificateError) -> ScanError {
        ScanError::Client(ClientError::ServerCertificate {
            endpoint: "opc.tcp://10.0.0.7:4840".to_owned(),
            thumbprint: String::new(),
            certificates: None,
            issuer: String::new(),
            cause,
        })
    }

    #[test]
    fn refusals_last_and_lost_connections_do_not() {
        for status in [
            StatusCode::BadUserAccessDenied,
            StatusCode::BadIdentityTokenRejected,
            StatusCode::BadIdentityTokenInvalid,
        ] {
            assert!(is_lasting(&refused(status)), "{status}");
        }
        assert!(is_lasting(&certificate(CertificateError::Untrusted)));
        assert!(is_lasting(&certificate(CertificateError::HostName)));
        assert!(!is_lasting(&certificate(CertificateError::Time)));
        assert!(!is_lasting(&refused(StatusCode::BadTooManySessions)));
        let timeout = ClientError::Timeout {
            endpoint: "opc.tcp://10.0.0.7:4840".to_owned(),
            timeout: std::time::Duration::from_secs(1),
        };
        assert!(!is_faulty(&ScanError::Client(ClientError::Timeout {
            endpoint: String::new(),
            timeout: std::time::Duration::ZERO,
        })));
        assert!(is_faulty(&refused(StatusCode::BadTooManySessions)));
        assert!(!is_faulty(&refused(StatusCode::BadSessionIdInvalid)));
        assert!(!is_faulty(&ScanError::OtherSession));
        assert!(!is_lasting(&ScanError::Client(timeout)));
    }

    #[test]
    fn a_refusal_before_the_login_is_none_of_the_user() {
        let not_trusted = ClientError::NotTrusted {
            endpoint: "opc.tcp://10.0.0.7:4840".to_owned(),
            thumbprint: String::new(),
            issuer: None,
            own: None,
            status: StatusCode::BadSecurityChecksFailed,
        };
        assert!(is_before_login(&ScanError::Client(not_trusted)));
        assert!(is_before_login(&certificate(CertificateError::Untrusted)));
        assert!(!is_before_login(&refused(StatusCode::BadUserAccessDenied)));
    }

    #[test]
    fn the_text_names_the_user_and_what_helps() {
        let mut options: MirrorOptions = "Press=opc.tcp://10.0.0.7:4840".parse().unwrap();
        let denied = refused(StatusCode::BadUserAccessDenied);
        assert!(text(&denied, &options).contains("needs a user"));
        options.identity = Identity::PasswordFile {
            name: "anna".to_owned(),
            file: "/etc/press".into(),
        };
        let shown = text(&denied, &options);
        for part in ["BadUserAccessDenied", "anna", "the file /etc/press is read"] {
            assert!(shown.contains(part), "{shown}");
        }
        let shown = text(&certificate(CertificateError::HostName), &options);
        assert!(shown.contains("the mirror Press can accept"), "{shown}");
        assert!(too_few_connections().contains("needs 4"));
    }
}
