//! Errors between a Client and the application that it is connected to.

use std::time::Duration;

use takt_ua::StatusCode;
use takt_ua::binary::{DecodeError, EncodeError};

/// Error of a request or of a connection.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// No application serves the endpoint, or it refused the connection.
    #[error("no connection to {endpoint}: {reason}")]
    Unreachable {
        /// Given endpoint.
        endpoint: String,
        /// Error of the transport.
        reason: String,
    },
    /// The Unix user or group of one side may not connect to the other.
    #[error("access to {endpoint} denied: {reason} (BadUserAccessDenied)")]
    AccessDenied {
        /// Given endpoint.
        endpoint: String,
        /// Error of the transport.
        reason: String,
    },
    /// The connection ended while the request was under way: it is not known whether it was executed.
    #[error("the connection to {endpoint} closed: {reason}")]
    Closed {
        /// Given endpoint.
        endpoint: String,
        /// Error of the transport.
        reason: String,
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
    /// The standard does not allow the response here.
    #[error("invalid response from {endpoint}: {reason}")]
    Protocol {
        /// Given endpoint.
        endpoint: String,
        /// Error in the response.
        reason: String,
    },
    /// The request does not fit the limits of the connection.
    #[error("the request is too large for the connection: {0}")]
    TooLarge(#[from] EncodeError),
    /// The server requires an identity in a form that is not supported.
    #[error("{endpoint} requires an identity that this client does not support: {reason}")]
    Identity {
        /// Given endpoint.
        endpoint: String,
        /// Forms that the server offers.
        reason: String,
    },
    /// The name of an endpoint or a node is not valid.
    #[error("{0}")]
    Invalid(String),
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
            Self::TooLarge(_) => StatusCode::BadRequestTooLarge,
            Self::Identity { .. } => StatusCode::BadIdentityTokenRejected,
            Self::Invalid(_) => StatusCode::BadInvalidArgument,
        }
    }

    /// Returns whether the connection is gone or silent, so that a later attempt may succeed.
    pub fn is_connection(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Closed { .. } | Self::Timeout { .. }
        )
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

    /// Returns an operation that failed with `status`.
    pub fn operation(subject: impl ToString, status: StatusCode) -> Self {
        Self::Operation {
            subject: subject.to_string(),
            status,
        }
    }

    pub(crate) fn decode(endpoint: impl ToString, error: &DecodeError) -> Self {
        Self::Protocol {
            endpoint: endpoint.to_string(),
            reason: error.to_string(),
        }
    }
}
