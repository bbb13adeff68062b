//! Events that a [`ServerConnection`](crate::ServerConnection) reports to its driver, and responses to requests.

use std::sync::Arc;

use takt_crypto::PeerCertificate;
use takt_ua::StatusCode;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::MessageSecurityMode;

use crate::chunk::MessageType;
use crate::error::TransportError;
use crate::fault;
use crate::outbound::Outbound;
use crate::token::Token;

/// Events of a [`ServerConnection`](crate::ServerConnection).
#[derive(Debug)]
pub enum ServerEvent<'a> {
    /// The SecureChannel is open.
    Opened(ChannelDescription<'a>),
    /// The token of a secured channel was renewed, which took milliseconds: serve other connections before the next poll.
    Renewed,
    /// A request to be answered.
    Request(Request<'a>),
    /// The received bytes need more memory than the budget has: make room and poll again, or
    /// [end](crate::ServerConnection::fail) the connection.
    OutOfMemory {
        /// Upper bound of the lacking memory, in bytes.
        bytes: usize,
    },
    /// The client closed the SecureChannel: close the socket (OPC 10000-6, 7.1.4).
    Closed,
}

/// Description of a SecureChannel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelDescription<'a> {
    /// Its SecureChannelId.
    pub channel_id: u32,
    /// EndpointUrl of the client's Hello, unchanged.
    pub endpoint_url: &'a str,
    /// The SecurityPolicy's URI.
    pub security_policy_uri: &'a str,
    /// MessageSecurityMode: whether messages are signed and encrypted.
    pub security_mode: MessageSecurityMode,
    /// The certificate of the client; empty with SecurityPolicy None.
    pub client_certificate: &'a Arc<PeerCertificate>,
    /// The certificate of this server that the client has used (DER); empty with SecurityPolicy None.
    pub server_certificate: &'a [u8],
}

/// Body of a request: TypeId and structure, in the OPC UA Binary DataEncoding.
#[derive(Debug)]
pub enum RequestBody<'a> {
    /// Part of the receive buffer: the request has one chunk.
    Received(&'a [u8]),
    /// Memory of its own: the request has several chunks. It may be taken.
    Assembled(&'a mut Vec<u8>),
}

impl RequestBody<'_> {
    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Received(bytes) => bytes,
            Self::Assembled(bytes) => bytes,
        }
    }
}

/// A request in the receive buffer, and the buffer for its response.
#[derive(Debug)]
pub struct Request<'a> {
    /// RequestId, which identifies the request on this connection.
    pub request_id: u32,
    /// Its body.
    pub body: RequestBody<'a>,
    pub(crate) outbound: &'a mut Outbound,
    pub(crate) token: &'a Token,
    pub(crate) deferred: &'a mut usize,
}

impl Request<'_> {
    /// Lets `encode` write the response to the body (TypeId and structure) straight behind its headers in the send buffer. The
    /// encoder's limit is what this client accepts. If nothing is written, nothing is sent; the returned flag tells
    /// whether a response was sent.
    ///
    /// # Errors
    /// An error if the response cannot be secured; the connection can no longer be used then.
    pub fn respond<R>(
        &mut self,
        encode: impl FnOnce(&mut RequestBody<'_>, &mut Encoder<'_>) -> R,
    ) -> Result<(R, bool), TransportError> {
        let kind = MessageType::Message;
        let body = &mut self.body;
        self.outbound
            .message(kind, self.token, self.request_id, |encoder| {
                encode(body, encoder)
            })
    }

    /// Answers with a ServiceFault, or with an abort chunk if the body is not a request.
    ///
    /// # Errors
    /// As for [`respond`](Self::respond).
    pub fn fault(&mut self, status: StatusCode) -> Result<(), TransportError> {
        let handle = fault::handle_of_request(self.body.bytes());
        send_fault(self.outbound, self.token, self.request_id, handle, status)
    }

    /// Defers the response, which follows by
    /// [`ServerConnection::respond_deferred`](crate::ServerConnection::respond_deferred).
    pub fn defer(self) {
        *self.deferred += 1;
    }
}

/// Answers with a ServiceFault, or with an abort chunk if the body is not a request.
fn send_fault(
    outbound: &mut Outbound,
    token: &Token,
    request_id: u32,
    request_handle: Option<u32>,
    status: StatusCode,
) -> Result<(), TransportError> {
    if let Some(handle) = request_handle {
        let kind = MessageType::Message;
        let (result, _) = outbound.message(kind, token, request_id, |encoder| {
            // Without a body, `message` appends nothing, and the abort chunk follows.
            fault::encode_fault(encoder, handle, status).inspect_err(|_| encoder.truncate(0))
        })?;
        if result.is_ok() {
            return Ok(());
        }
    }
    outbound.abort(token, request_id, status, "")
}
