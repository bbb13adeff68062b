//! Errors of a client's requests.

use std::io;

use takt_ua::StatusCode;
use takt_ua::binary::EncodeError;

use crate::client_connection::SendRequestError;
use crate::error::TransportError;
use takt_ua::endpoint_url::EndpointUrl;

/// Error of a request without a response.
#[derive(Debug, thiserror::Error)]
pub enum TcpClientError {
    /// The TCP connection could not be established.
    #[error("cannot connect to {url}: {error}")]
    Connect {
        /// URL of the server.
        url: EndpointUrl,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// No response within the given time. The connection can still be used; a late response is discarded.
    #[error("no response from the server in time")]
    Timeout,
    /// The request does not fit the limits of server or client; nothing was sent.
    #[error("the request cannot be encoded within the limits of this connection: {0}")]
    Encode(#[source] EncodeError),
    /// The server aborted its response. The connection can still be used.
    #[error("the server aborted its response: {status}")]
    Aborted {
        /// RequestId of the request.
        request_id: u32,
        /// StatusCode of the reason.
        status: StatusCode,
        /// Text of the reason; may be empty.
        reason: String,
    },
    /// The connection has ended.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

impl TcpClientError {
    /// Returns the StatusCode for the application.
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        match self {
            Self::Connect { error, .. } if error.kind() == io::ErrorKind::TimedOut => {
                StatusCode::BadTimeout
            }
            Self::Connect { .. } => StatusCode::BadConnectionRejected,
            Self::Timeout => StatusCode::BadTimeout,
            Self::Encode(_) => StatusCode::BadRequestTooLarge,
            Self::Aborted { status, .. } => *status,
            Self::Transport(error) => error.status_code(),
        }
    }

    /// Returns whether the connection can no longer be used.
    #[must_use]
    pub const fn is_fatal(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Transport(_))
    }
}

impl From<SendRequestError> for TcpClientError {
    fn from(error: SendRequestError) -> Self {
        match error {
            SendRequestError::Encode(error) => Self::Encode(error),
            SendRequestError::Transport(error) => Self::Transport(error),
        }
    }
}
