//! Why a client has no response.

use std::io;

use takt_ua::StatusCode;
use takt_ua::binary::EncodeError;

use crate::client_connection::SendRequestError;
use crate::endpoint_url::EndpointUrl;
use crate::error::TransportError;

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No TCP connection came about.
    #[error("cannot connect to {url}: {error}")]
    Connect {
        /// Where to.
        url: EndpointUrl,
        /// What the system said.
        error: io::Error,
    },
    /// Not within the time given. The connection can be used further; a response that is late is thrown away.
    #[error("no answer from the server in time")]
    Timeout,
    /// The request does not fit the limits of server or client; nothing was sent.
    #[error("the request cannot be encoded within the limits of this connection: {0}")]
    Encode(EncodeError),
    /// The server gave up its response. The connection can be used further.
    #[error("the server aborted its response: {status}")]
    Aborted {
        /// Why.
        status: StatusCode,
        /// The same in words; may be empty.
        reason: String,
    },
    /// The connection has ended.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

impl ClientError {
    /// The StatusCode for the application.
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

    /// Whether the connection is of no more use.
    #[must_use]
    pub const fn is_fatal(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Transport(_))
    }
}

impl From<SendRequestError> for ClientError {
    fn from(error: SendRequestError) -> Self {
        match error {
            SendRequestError::Encode(error) => Self::Encode(error),
            SendRequestError::Transport(error) => Self::Transport(error),
        }
    }
}
