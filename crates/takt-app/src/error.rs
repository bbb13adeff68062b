//! What can go wrong between a Client and the application that it talks to.

use std::time::Duration;

use takt_ua::StatusCode;
use takt_ua::binary::{DecodeError, EncodeError};

/// A failed request, or a connection that could not be made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// Nobody serves the endpoint now, or it refused the connection.
    #[error("no connection to {endpoint}: {reason}")]
    Unreachable {
        /// The endpoint as given.
        endpoint: String,
        /// What the transport says.
        reason: String,
    },
    /// The Unix user or group of one side may not talk to the other.
    #[error("{endpoint} is not for this user: {reason} (BadUserAccessDenied)")]
    AccessDenied {
        /// The endpoint as given.
        endpoint: String,
        /// What the transport says.
        reason: String,
    },
    /// The connection ended while the request was under way: whether it was carried out is not known.
    #[error("the connection to {endpoint} closed: {reason}")]
    Closed {
        /// The endpoint as given.
        endpoint: String,
        /// What the transport says.
        reason: String,
    },
    /// No answer within the time that the request was given.
    #[error("no answer from {endpoint} within {timeout:?}")]
    Timeout {
        /// The endpoint as given.
        endpoint: String,
        /// The time that was given.
        timeout: Duration,
    },
    /// The service as a whole failed (a ServiceFault, or a bad ServiceResult; OPC 10000-4, 7.33).
    #[error("{service} failed: {status}")]
    Service {
        /// The request's name, for example `ReadRequest`.
        service: &'static str,
        /// The ServiceResult.
        status: StatusCode,
    },
    /// The service was carried out, this operation of it failed.
    #[error("{subject}: {status}")]
    Operation {
        /// The node, path or argument that the operation was about.
        subject: String,
        /// The operation's StatusCode.
        status: StatusCode,
    },
    /// The answer is no message that the standard allows here.
    #[error("the answer of {endpoint} makes no sense: {reason}")]
    Protocol {
        /// The endpoint as given.
        endpoint: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The request does not fit what the connection can carry.
    #[error("the request is too large for the connection: {0}")]
    TooLarge(#[from] EncodeError),
    /// The identity could not be given in the form that the server wants.
    #[error("{endpoint} wants an identity that this client cannot give: {reason}")]
    Identity {
        /// The endpoint as given.
        endpoint: String,
        /// What the server offers.
        reason: String,
    },
    /// An endpoint or a node was named in a way that cannot be understood.
    #[error("{0}")]
    Invalid(String),
}

impl ClientError {
    /// Returns the StatusCode that says the same (OPC 10000-4, 7.39).
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

    /// Returns whether the connection is gone or silent, so that another attempt makes sense later.
    pub fn is_connection(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Closed { .. } | Self::Timeout { .. }
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
