//! Errors between a Client and the application that it is connected to.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use takt_crypto::{CertificateError, StoreError};
use takt_layout::LayoutError;
use takt_shm::ShmError;
use takt_ua::binary::{DecodeError, EncodeError};
use takt_ua::{ParseQualifiedNameError, StatusCode};

use crate::certificates::CertificatesError;
use crate::endpoint::EndpointError;

/// Error of a request or of a connection. [`source`](std::error::Error::source) returns its cause, down to the error of the
/// transport and of the operating system.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No application serves the endpoint, or it refused the connection.
    #[error("no connection to {endpoint}: {cause}")]
    Unreachable {
        /// Given endpoint.
        endpoint: String,
        /// Cause.
        #[source]
        cause: ConnectionError,
    },
    /// The Unix user or group of one side may not connect to the other.
    #[error("access to {endpoint} denied: {} (BadUserAccessDenied)", denial(cause))]
    AccessDenied {
        /// Given endpoint.
        endpoint: String,
        /// Error of shared memory.
        #[source]
        cause: ShmError,
    },
    /// The connection ended while the request was under way: it is not known whether it was executed.
    #[error("the connection to {endpoint} closed: {cause}")]
    Closed {
        /// Given endpoint.
        endpoint: String,
        /// Cause.
        #[source]
        cause: ConnectionError,
    },
    /// There was no response within the time limit of the request.
    #[error("no answer from {endpoint} within {timeout:?}")]
    Timeout {
        /// Given endpoint.
        endpoint: String,
        /// Time limit of the request.
        timeout: Duration,
    },
    /// The service as a whole failed (a ServiceFault, or a bad ServiceResult; OPC 10000-4, 7.33).
    #[error("{service} failed: {status}")]
    Service {
        /// Name of the request, for example `ReadRequest`.
        service: &'static str,
        /// The ServiceResult.
        status: StatusCode,
    },
    /// The service was executed, but this operation of it failed.
    #[error("{subject}: {status}")]
    Operation {
        /// Node, path or argument of the operation.
        subject: String,
        /// StatusCode of the operation.
        status: StatusCode,
    },
    /// The server has no type with this name, or no namespace of the type.
    #[error("{what} does not exist at the server{}", suggested(similar.as_deref()))]
    NoSuchType {
        /// The type or the namespace.
        what: String,
        /// Most similar name of a type.
        similar: Option<String>,
    },
    /// The standard does not allow the response here.
    #[error("invalid response from {endpoint}: {cause}")]
    Protocol {
        /// Given endpoint.
        endpoint: String,
        /// Error in the response.
        #[source]
        cause: ProtocolError,
    },
    /// The answers of the server take more memory than the client grants them.
    #[error(
        "{endpoint} sends more than {limit} bytes of {of}: this is the limit of the memory for answers (max_memory)"
    )]
    TooMuch {
        /// Given endpoint.
        endpoint: String,
        /// The content of the answers.
        of: &'static str,
        /// Limit in bytes: [`ClientOptions::max_memory`](crate::ClientOptions::max_memory), or that of an
        /// [`AnswerBudget`](crate::client::AnswerBudget).
        limit: usize,
    },
    /// The request does not fit the limits of the connection.
    #[error("the request is too large for the connection: {0}")]
    TooLarge(#[from] EncodeError),
    /// The server requires an identity in a form that is not supported.
    #[error("{endpoint} does not accept the identity of the user: {reason}")]
    Identity {
        /// Given endpoint.
        endpoint: String,
        /// Forms that the server offers.
        reason: String,
    },
    /// The password of the user cannot be read.
    #[error("the password of the user cannot be read from {}: {cause}", file.display())]
    PasswordFile {
        /// File of the password.
        file: PathBuf,
        /// Error of the operating system.
        #[source]
        cause: io::Error,
    },
    /// The certificate of the user or its private key cannot be used.
    #[error("the certificate of the user cannot be used: {0}")]
    UserCertificate(#[source] StoreError),
    /// The server offers secure endpoints only.
    #[error("{endpoint} offers secure endpoints only: {offered}")]
    SecurityRequired {
        /// Given endpoint.
        endpoint: String,
        /// Names of the SecurityPolicies that the server offers.
        offered: String,
    },
    /// The server offers no endpoint with the wanted security.
    #[error("{endpoint} has no endpoint for the security {wanted}: {refused}")]
    NoSecureEndpoint {
        /// Given endpoint.
        endpoint: String,
        /// The choice.
        wanted: String,
        /// Endpoints of the server, each with the reason against it.
        refused: String,
        /// Choices of security that the server has endpoints for.
        possible: Vec<String>,
    },
    /// The server's certificate did not pass a check.
    #[error("the certificate of {endpoint} is refused: {cause}")]
    ServerCertificate {
        /// Given endpoint.
        endpoint: String,
        /// SHA-1 thumbprint of the certificate.
        thumbprint: String,
        /// Folder of certificates that the application has chosen; `None` is the default.
        certificates: Option<PathBuf>,
        /// Name of the issuer (CA) of the last certificate that the server has sent.
        issuer: String,
        /// Failed check.
        #[source]
        cause: CertificateError,
    },
    /// The server refused this application's certificate, or a message was changed on its way.
    #[error("{endpoint} refused the secure channel: {status}")]
    NotTrusted {
        /// Given endpoint.
        endpoint: String,
        /// SHA-1 thumbprint of the own certificate.
        thumbprint: String,
        /// Name of the issuer (CA) of the own certificate; `None` if it is self-signed.
        issuer: Option<String>,
        /// Check that the own certificate fails here too, so that trust would not help.
        own: Option<CertificateError>,
        /// StatusCode of the server.
        status: StatusCode,
    },
    /// The server's proof or the confirmation of its endpoints is wrong.
    #[error("{endpoint} cannot be trusted: {reason}")]
    Proof {
        /// Given endpoint.
        endpoint: String,
        /// The mistake.
        reason: &'static str,
    },
    /// The certificate of this application cannot be used.
    #[error("{endpoint} needs a certificate of this application: {cause}")]
    Certificates {
        /// Given endpoint.
        endpoint: String,
        /// Cause.
        #[source]
        cause: CertificatesError,
    },
    /// The certificate of this application has a key of another kind than the SecurityPolicy demands.
    #[error(
        "{endpoint}: SecurityPolicy {policy} needs a certificate with a key of the kind {needed}; that of this application is {found}"
    )]
    CertificateKind {
        /// Given endpoint.
        endpoint: String,
        /// Name of the SecurityPolicy.
        policy: &'static str,
        /// Kind of key that it needs.
        needed: String,
        /// Kind of key of the given certificate.
        found: String,
    },
    /// The text is not an endpoint.
    #[error("{0}")]
    Endpoint(#[from] EndpointError),
    /// The group whose shared memory is to be used does not exist, or its directory is not safe to use.
    #[error("{0}")]
    Group(#[source] ShmError),
    /// A segment of a path is not a QualifiedName.
    #[error("`{segment}`: {cause}")]
    Segment {
        /// Given segment.
        segment: String,
        /// Error in the text.
        #[source]
        cause: ParseQualifiedNameError,
    },
    /// The secret of a registration over `opc.tcp` could not be stored.
    #[error("the registration secret cannot be kept in {}: {cause}", path.display())]
    Secret {
        /// File of the secret.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        cause: io::Error,
    },
    /// The operating system returned no random numbers.
    #[error("no random numbers from the system: {0}")]
    Random(#[source] getrandom::Error),
    /// A parameter, or an application to which a request is addressed, is not valid.
    #[error("{0}")]
    Invalid(String),
}

/// Cause of a connection that could not be opened or has ended.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// Error of the connection over TCP.
    #[error("{}", without_url(.0))]
    Tcp(#[from] takt_tcp::TcpClientError),
    /// The server has not connected to this client.
    #[error("{0}")]
    Reverse(#[from] takt_tcp::ReverseError),
    /// Error of the connection over shared memory.
    #[error("{0}")]
    SharedMemory(#[from] ShmError),
    /// The Session was closed and could not be opened again.
    #[error("no session")]
    NoSession,
    /// The server sent nothing for longer than it promised.
    #[error("the server has been silent for too long")]
    Silent,
}

/// Error in a response.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// The response cannot be decoded.
    #[error("{0}")]
    Decode(#[from] DecodeError),
    /// The response does not have the fixed layout of shared memory.
    #[error("{0}")]
    Layout(#[from] LayoutError),
    /// The other side broke the protocol of shared memory.
    #[error("{0}")]
    SharedMemory(#[from] ShmError),
    /// The content of the response contradicts the request or the standard.
    #[error("{0}")]
    Content(String),
}

/// Returns the reason without the URL, which the errors above name.
fn without_url(cause: &takt_tcp::TcpClientError) -> String {
    match cause {
        takt_tcp::TcpClientError::Connect { error, .. } => error.to_string(),
        other => other.to_string(),
    }
}

/// Returns the end of a sentence that suggests a name.
fn suggested(similar: Option<&str>) -> String {
    similar.map_or(String::new(), |similar| {
        format!(" (did you mean {similar}?)")
    })
}

/// Returns the reason for a refusal, without the words that announce it.
fn denial(cause: &ShmError) -> String {
    match cause {
        ShmError::AccessDenied(reason) => reason.clone(),
        other => other.to_string(),
    }
}

impl ClientError {
    /// Returns the corresponding StatusCode (OPC 10000-4, 7.39).
    pub fn status_code(&self) -> StatusCode {
        match self {
            Self::Unreachable { .. } => StatusCode::BadNotConnected,
            Self::AccessDenied { .. } => StatusCode::BadUserAccessDenied,
            Self::Closed { .. } => StatusCode::BadConnectionClosed,
            Self::Timeout { .. } => StatusCode::BadTimeout,
            Self::Service { status, .. } | Self::Operation { status, .. } => *status,
            Self::Protocol { .. } => StatusCode::BadUnknownResponse,
            Self::NoSuchType { .. } => StatusCode::BadNoMatch,
            Self::TooLarge(_) => StatusCode::BadRequestTooLarge,
            Self::TooMuch { .. } => StatusCode::BadResponseTooLarge,
            Self::Identity { .. } => StatusCode::BadIdentityTokenRejected,
            Self::SecurityRequired { .. } | Self::NoSecureEndpoint { .. } => {
                StatusCode::BadSecurityPolicyRejected
            }
            Self::ServerCertificate { cause, .. } => cause.status_code(),
            Self::NotTrusted { status, .. } => *status,
            Self::Proof { .. } => StatusCode::BadSecurityChecksFailed,
            Self::Endpoint(_)
            | Self::Group(_)
            | Self::Segment { .. }
            | Self::Secret { .. }
            | Self::Certificates { .. }
            | Self::CertificateKind { .. }
            | Self::UserCertificate(_)
            | Self::PasswordFile { .. }
            | Self::Random(_)
            | Self::Invalid(_) => StatusCode::BadInvalidArgument,
        }
    }

    /// Returns whether the connection is gone or silent, so that a later attempt may succeed.
    pub fn is_connection(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Closed { .. } | Self::Timeout { .. }
        )
    }

    /// Returns whether a later attempt may succeed although nobody does anything: the connection is gone or silent, or the server has
    /// no memory, no place or no time at the moment.
    pub fn is_temporary(&self) -> bool {
        self.is_connection()
            || matches!(
                self,
                Self::Service {
                    status: StatusCode::BadOutOfMemory
                        | StatusCode::BadResourceUnavailable
                        | StatusCode::BadTooManySessions
                        | StatusCode::BadTooManySubscriptions
                        | StatusCode::BadTooManyMonitoredItems
                        | StatusCode::BadTooManyOperations
                        | StatusCode::BadTooManyPublishRequests
                        | StatusCode::BadTcpServerTooBusy
                        | StatusCode::BadTcpNotEnoughResources
                        | StatusCode::BadMaxConnectionsReached
                        | StatusCode::BadServerTooBusy
                        | StatusCode::BadServerHalted
                        | StatusCode::BadShutdown
                        | StatusCode::BadRequestTimeout
                        | StatusCode::BadTimeout,
                    ..
                }
            )
    }

    /// Returns whether the host has refused the connection: the server has ended, and its Sessions with it.
    pub(crate) fn is_refused(&self) -> bool {
        let Self::Unreachable { cause, .. } = self else {
            return false;
        };
        matches!(cause, ConnectionError::Tcp(takt_tcp::TcpClientError::Connect { error, .. })
            if error.kind() == std::io::ErrorKind::ConnectionRefused)
    }

    /// Returns whether the server refused the request, without executing it, because it does not know the session.
    pub fn is_session_lost(&self) -> bool {
        matches!(
            self,
            Self::Service {
                status: StatusCode::BadSessionIdInvalid
                    | StatusCode::BadSessionClosed
                    | StatusCode::BadSessionNotActivated
                    | StatusCode::BadSecureChannelIdInvalid
                    | StatusCode::BadSecureChannelClosed,
                ..
            }
        )
    }

    /// Returns whether the server refuses the user.
    pub fn refuses_user(&self) -> bool {
        match self {
            Self::AccessDenied { .. } | Self::Identity { .. } => true,
            Self::Service { status, .. } => matches!(
                *status,
                StatusCode::BadUserAccessDenied
                    | StatusCode::BadIdentityTokenInvalid
                    | StatusCode::BadIdentityTokenRejected
                    | StatusCode::BadUserSignatureInvalid
            ),
            _ => false,
        }
    }

    /// Returns whether further attempts fail too, until somebody changes users, certificates or options, here or at the server.
    pub fn is_lasting(&self) -> bool {
        match self {
            // A clock that is wrong may be set.
            Self::ServerCertificate { cause, .. } => !matches!(
                cause.status_code(),
                StatusCode::BadCertificateTimeInvalid | StatusCode::BadCertificateIssuerTimeInvalid
            ),
            Self::PasswordFile { .. }
            | Self::UserCertificate(_)
            | Self::SecurityRequired { .. }
            | Self::NoSecureEndpoint { .. }
            | Self::NotTrusted { .. }
            | Self::Certificates { .. }
            | Self::CertificateKind { .. }
            | Self::Endpoint(_)
            | Self::Group(_) => true,
            error => error.refuses_user(),
        }
    }

    /// Returns an operation that failed with `status`.
    pub fn operation(subject: impl ToString, status: StatusCode) -> Self {
        Self::Operation {
            subject: subject.to_string(),
            status,
        }
    }

    /// Returns the error of a response that is not valid.
    pub(crate) fn protocol(endpoint: impl ToString, cause: impl Into<ProtocolError>) -> Self {
        Self::Protocol {
            endpoint: endpoint.to_string(),
            cause: cause.into(),
        }
    }

    /// Returns the error of answers that take more memory than `limit` bytes.
    pub(crate) fn too_much(endpoint: impl ToString, of: &'static str, limit: usize) -> Self {
        Self::TooMuch {
            endpoint: endpoint.to_string(),
            of,
            limit,
        }
    }

    /// Returns the error of a connection that has ended.
    pub(crate) fn closed(endpoint: impl ToString, cause: impl Into<ConnectionError>) -> Self {
        Self::Closed {
            endpoint: endpoint.to_string(),
            cause: cause.into(),
        }
    }

    /// Returns the error of a connection that could not be opened.
    pub fn unreachable(endpoint: impl ToString, cause: impl Into<ConnectionError>) -> Self {
        Self::Unreachable {
            endpoint: endpoint.to_string(),
            cause: cause.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_url_is_named_once() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let url = "opc.tcp://plc:4840";
        let cause = takt_tcp::TcpClientError::Connect {
            url: url.parse().unwrap(),
            error: refused,
        };
        let shown = ClientError::unreachable(url, cause).to_string();
        assert_eq!(shown, format!("no connection to {url}: connection refused"));
    }
}
