//! What can go wrong on a connection, and the StatusCode that the peer is told.

use takt_ua::StatusCode;
use takt_ua::binary::DecodeError;

use crate::security::SecurityError;

/// Why a connection ended.
///
/// A server that ends one sends [`status_code`](Self::status_code) in an Error message first (OPC 10000-6 7.1.5).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// Three bytes that name no message type, or a type that is not allowed now.
    #[error("message type {:?} is unknown or not allowed here", String::from_utf8_lossy(.0))]
    MessageType([u8; 3]),
    /// An IsFinal byte other than `C`, `F`, `A`, or one that the message type does not allow.
    #[error("chunk type {:?} is unknown or not allowed here", char::from(*.0))]
    ChunkType(u8),
    /// A MessageSize too small for its headers or above the negotiated buffer size.
    #[error("a chunk of {size} bytes; allowed are {limit}, and not fewer than its headers take")]
    ChunkSize {
        /// What the header says, in bytes.
        size: usize,
        /// The largest allowed, in bytes.
        limit: usize,
    },
    /// A message with a larger body than allowed.
    #[error("a message of more than {limit} bytes")]
    MessageTooLarge {
        /// The largest body allowed, in bytes.
        limit: usize,
    },
    /// A message in more chunks than allowed.
    #[error("a message of more than {limit} chunks")]
    TooManyChunks {
        /// The most chunks allowed.
        limit: u32,
    },
    /// The chunks of two messages mixed: those of one message shall be sent sequentially (6.7.3).
    #[error("a chunk of request {found} between those of request {expected}")]
    ChunksMixed {
        /// The message in progress.
        expected: u32,
        /// The RequestId that came.
        found: u32,
    },
    /// The EndpointUrl of a Hello is longer than 4096 bytes, no text, or not served here.
    #[error("the EndpointUrl of the Hello is too long or not served here")]
    EndpointUrl,
    /// A buffer size below the 8192 bytes that the standard demands.
    #[error("a buffer size of {0} bytes; OPC UA demands 8192")]
    BufferSize(u32),
    /// A SecureChannelId that is not this connection's.
    #[error("SecureChannelId {0} is not in use on this connection")]
    SecureChannelUnknown(u32),
    /// A renewal names another SecureChannel than the one that is open.
    #[error("a renewal for SecureChannelId {0}, which is not the one that is open here")]
    SecureChannelIdInvalid(u32),
    /// A TokenId that was never issued, has expired or was replaced.
    #[error("security token {0} is unknown or has expired")]
    TokenUnknown(u32),
    /// The SecureChannel's last token expired without a renewal.
    #[error("the security token expired and was not renewed")]
    TokenExpired,
    /// A SequenceNumber that does not follow the last one.
    #[error("sequence number {found} does not follow {last}")]
    SequenceNumber {
        /// The last one accepted.
        last: u32,
        /// The one that came.
        found: u32,
    },
    /// A response to a request that was never sent.
    #[error("a response to request {0}, which was never sent")]
    RequestIdUnknown(u32),
    /// A SecurityPolicy that is not offered here.
    #[error("SecurityPolicy {0:?} is not offered here")]
    SecurityPolicy(String),
    /// A MessageSecurityMode that is invalid or does not go with the SecurityPolicy.
    #[error("MessageSecurityMode {0} does not go with the SecurityPolicy")]
    SecurityMode(i32),
    /// A SecurityTokenRequestType other than Issue and Renew, an Issue on an open channel, a Renew on none.
    #[error("SecurityTokenRequestType {0} is not valid now")]
    RequestType(i32),
    /// A nonce that is not as long as the SecurityPolicy demands.
    #[error("a nonce of {found} bytes; the SecurityPolicy demands {expected}")]
    Nonce {
        /// What the policy demands, in bytes.
        expected: usize,
        /// What came, in bytes.
        found: usize,
    },
    /// Signature, padding, certificate or keys are not right.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// The body of a message of the transport itself cannot be decoded.
    #[error("{message} cannot be decoded: {error}")]
    Decoding {
        /// Which message.
        message: &'static str,
        /// Where and why.
        error: DecodeError,
    },
    /// A message needs more memory than the limit of the connection, or a budget of the server, leaves.
    #[error("{limit} bytes of memory are not enough for the messages of this connection")]
    NotEnoughMemory {
        /// The limit that would be exceeded, in bytes.
        limit: usize,
    },
    /// The server needs the resources of this connection for others.
    #[error("{0}")]
    GivesWay(&'static str),
    /// The peer did not send (or take) in time.
    #[error("the peer took too long to {0}")]
    Timeout(&'static str),
    /// The peer ended the connection with an Error message.
    #[error("the peer closed the connection: {status}{}{reason}", if reason.is_empty() { "" } else { ": " })]
    Peer {
        /// The StatusCode that it gave.
        status: StatusCode,
        /// Its explanation; may be empty.
        reason: String,
    },
    /// The connection was closed without an Error message.
    #[error("the connection was closed")]
    Closed,
}

impl TransportError {
    /// The StatusCode for the Error message (OPC 10000-6 Table 79 and 6.7.7), and for the application.
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        match self {
            Self::MessageType(_) | Self::ChunkType(_) => StatusCode::BadTcpMessageTypeInvalid,
            Self::ChunkSize { .. } | Self::MessageTooLarge { .. } | Self::TooManyChunks { .. } => {
                StatusCode::BadTcpMessageTooLarge
            }
            Self::EndpointUrl => StatusCode::BadTcpEndpointUrlInvalid,
            Self::BufferSize(_) => StatusCode::BadConnectionRejected,
            Self::SecureChannelUnknown(_) => StatusCode::BadTcpSecureChannelUnknown,
            Self::SecureChannelIdInvalid(_) => StatusCode::BadSecureChannelIdInvalid,
            Self::TokenUnknown(_) => StatusCode::BadSecureChannelTokenUnknown,
            Self::TokenExpired => StatusCode::BadSecureChannelClosed,
            // 6.7.7: reported as Bad_SecurityChecksFailed; that it was the number is for the log only.
            Self::SequenceNumber { .. }
            | Self::ChunksMixed { .. }
            | Self::RequestIdUnknown(_)
            | Self::Security(_) => StatusCode::BadSecurityChecksFailed,
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

    /// Whether the peer broke the protocol, as opposed to wanting what is not offered here, being slow or
    /// gone. Worth a warning in a log.
    #[must_use]
    pub const fn is_peer_misbehaved(&self) -> bool {
        !matches!(
            self,
            Self::EndpointUrl
                | Self::BufferSize(_)
                | Self::SecurityPolicy(_)
                | Self::SecurityMode(_)
                | Self::TokenExpired
                | Self::NotEnoughMemory { .. }
                | Self::GivesWay(_)
                | Self::Timeout(_)
                | Self::Peer { .. }
                | Self::Closed
        )
    }

    /// What the peer may read of it. Nothing about why a security check failed (OPC 10000-6 6.7.3).
    pub(crate) fn public_reason(&self) -> String {
        if self.status_code() == StatusCode::BadSecurityChecksFailed {
            String::new()
        } else {
            self.to_string()
        }
    }
}
