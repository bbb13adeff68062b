//! Errors of a connection, and the StatusCodes that are sent to the peer.

use takt_ua::StatusCode;
use takt_ua::binary::DecodeError;

use crate::security_error::SecurityError;

/// Reason for which a connection ended.
///
/// A server that ends a connection first sends [`public_status_code`](Self::public_status_code) in an Error message
/// (OPC 10000-6, 7.1.5).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The message type is unknown or not allowed in this state.
    #[error("message type {:?} is unknown or not allowed here", String::from_utf8_lossy(.0))]
    MessageType([u8; 3]),
    /// The IsFinal byte is not `C`, `F` or `A`, or the message type does not allow it.
    #[error("chunk type {:?} is unknown or not allowed here", char::from(*.0))]
    ChunkType(u8),
    /// The MessageSize is too small for the headers or exceeds the negotiated buffer size.
    #[error("a chunk of {size} bytes; it must hold its headers and have at most {limit} bytes")]
    ChunkSize {
        /// MessageSize in the header, in bytes.
        size: usize,
        /// Largest allowed size, in bytes.
        limit: usize,
    },
    /// The body of a message is larger than allowed.
    #[error("a message has more than {limit} bytes")]
    MessageTooLarge {
        /// Largest allowed body, in bytes.
        limit: usize,
    },
    /// A message has more chunks than allowed.
    #[error("a message has more than {limit} chunks")]
    TooManyChunks {
        /// Largest allowed number of chunks.
        limit: u32,
    },
    /// The chunks of two messages are mixed; the chunks of one message shall be sent sequentially
    /// (OPC 10000-6, 6.7.3).
    #[error("a chunk of request {found} came between the chunks of request {expected}")]
    ChunksMixed {
        /// RequestId of the message in progress.
        expected: u32,
        /// RequestId of the received chunk.
        found: u32,
    },
    /// The EndpointUrl of a Hello or ReverseHello is longer than 4096 bytes, not valid UTF-8, or not served here.
    #[error("the EndpointUrl is too long or not served here")]
    EndpointUrl,
    /// The ServerUri of a ReverseHello is longer than 4096 bytes, not valid UTF-8, or names another server than the
    /// expected one.
    #[error("the ServerUri of the ReverseHello is too long or not expected here")]
    ServerUri,
    /// A buffer size is below the 8192 bytes that the standard requires.
    #[error("a buffer size of {0} bytes; OPC UA requires at least 8192")]
    BufferSize(u32),
    /// The SecureChannelId is not the one of this connection.
    #[error("SecureChannelId {0} is not in use on this connection")]
    SecureChannelUnknown(u32),
    /// A renewal names a SecureChannel other than the open one.
    #[error("a renewal names SecureChannelId {0}, which is not open on this connection")]
    SecureChannelIdInvalid(u32),
    /// The TokenId was never issued, has expired or was replaced.
    #[error("security token {0} is unknown or has expired")]
    TokenUnknown(u32),
    /// The SecureChannel's last token expired without a renewal.
    #[error("the security token expired and was not renewed")]
    TokenExpired,
    /// The SequenceNumber does not follow the last one.
    #[error("sequence number {found} does not follow {last}")]
    SequenceNumber {
        /// Last accepted number.
        last: u32,
        /// Received number.
        found: u32,
    },
    /// The response belongs to a request that was never sent.
    #[error("a response to request {0}, which was never sent")]
    RequestIdUnknown(u32),
    /// The SecurityPolicy is not offered here.
    #[error("SecurityPolicy {0:?} is not offered here")]
    SecurityPolicy(String),
    /// The MessageSecurityMode is invalid or not allowed with the SecurityPolicy.
    #[error("MessageSecurityMode {0} is invalid or not allowed with the SecurityPolicy")]
    SecurityMode(i32),
    /// The SecurityTokenRequestType is neither Issue nor Renew, or is an Issue on an open channel or a Renew without
    /// one.
    #[error("SecurityTokenRequestType {0} is not valid now")]
    RequestType(i32),
    /// The length of a nonce differs from the one that the SecurityPolicy requires.
    #[error("a nonce of {found} bytes; the SecurityPolicy requires {expected}")]
    Nonce {
        /// Required length, in bytes.
        expected: usize,
        /// Received length, in bytes.
        found: usize,
    },
    /// Signature, padding, certificate or keys are not valid.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// The body of a message of the transport itself cannot be decoded.
    #[error("{message} cannot be decoded: {error}")]
    Decoding {
        /// Name of the message.
        message: &'static str,
        /// Position and cause.
        #[source]
        error: DecodeError,
    },
    /// A message needs more memory than the limit of the connection, or a budget of the server, leaves.
    #[error("{limit} bytes of memory are not enough for the messages of this connection")]
    NotEnoughMemory {
        /// Limit that would be exceeded, in bytes.
        limit: usize,
    },
    /// The server needs the resources of this connection for other connections.
    #[error("{0}")]
    GivesWay(&'static str),
    /// The peer did not send or receive in time.
    #[error("the peer took too long to {0}")]
    Timeout(&'static str),
    /// The peer ended the connection with an Error message.
    #[error("the peer closed the connection: {status}{}{reason}", if reason.is_empty() { "" } else { ": " })]
    Peer {
        /// StatusCode of the Error message.
        status: StatusCode,
        /// Reason in the Error message; may be empty.
        reason: String,
    },
    /// The connection was closed without an Error message.
    #[error("the connection was closed")]
    Closed,
}

impl TransportError {
    /// Returns the StatusCode for the application (OPC 10000-6, Table 79 and 6.7.7).
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        match self {
            Self::MessageType(_) | Self::ChunkType(_) => StatusCode::BadTcpMessageTypeInvalid,
            Self::ChunkSize { .. } | Self::MessageTooLarge { .. } | Self::TooManyChunks { .. } => {
                StatusCode::BadTcpMessageTooLarge
            }
            Self::EndpointUrl | Self::ServerUri => StatusCode::BadTcpEndpointUrlInvalid,
            Self::BufferSize(_) => StatusCode::BadConnectionRejected,
            Self::SecureChannelUnknown(_) => StatusCode::BadTcpSecureChannelUnknown,
            Self::SecureChannelIdInvalid(_) => StatusCode::BadSecureChannelIdInvalid,
            Self::TokenUnknown(_) => StatusCode::BadSecureChannelTokenUnknown,
            Self::TokenExpired => StatusCode::BadSecureChannelClosed,
            // OPC 10000-6, 6.7.7: reported as Bad_SecurityChecksFailed; only the log tells that the number was the
            // reason.
            Self::SequenceNumber { .. } | Self::ChunksMixed { .. } | Self::RequestIdUnknown(_) => {
                StatusCode::BadSecurityChecksFailed
            }
            Self::Security(error) => error.status_code(),
            Self::SecurityPolicy(_) => StatusCode::BadSecurityPolicyRejected,
            Self::SecurityMode(_) => StatusCode::BadSecurityModeRejected,
            Self::RequestType(_) => StatusCode::BadRequestTypeInvalid,
            Self::Nonce { .. } => StatusCode::BadNonceInvalid,
            Self::Decoding { error, .. } => error.status_code(),
            Self::NotEnoughMemory { .. } | Self::GivesWay(_) => {
                StatusCode::BadTcpNotEnoughResources
            }
            Self::Timeout(_) => StatusCode::BadTimeout,
            Self::Peer { status, .. } => *status,
            Self::Closed => StatusCode::BadConnectionClosed,
        }
    }

    /// Returns the StatusCode for the peer, which may tell less than [`status_code`](Self::status_code).
    #[must_use]
    pub fn public_status_code(&self) -> StatusCode {
        match self {
            Self::Security(error) => error.public_status_code(),
            _ => self.status_code(),
        }
    }

    /// Returns whether the peer broke the protocol, or was refused what it requested, as opposed to being slow or having
    /// disconnected. Such errors deserve a warning in the log.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        !matches!(
            self,
            Self::TokenExpired
                | Self::NotEnoughMemory { .. }
                | Self::GivesWay(_)
                | Self::Timeout(_)
                | Self::Peer { .. }
                | Self::Closed
        )
    }

    /// Returns the reason that is sent to the peer. It does not tell why a security check failed
    pub(crate) fn public_reason(&self) -> String {
        if self.public_status_code() == StatusCode::BadSecurityChecksFailed {
            String::new()
        } else {
            self.to_string()
        }
    }
}
