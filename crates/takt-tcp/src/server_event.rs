//! What a [`ServerConnection`](crate::ServerConnection) tells its driver, and how a request is answered.

use takt_ua::StatusCode;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::MessageSecurityMode;

use crate::chunk::MessageType;
use crate::error::TransportError;
use crate::fault;
use crate::outbound::Outbound;
use crate::token::Token;

/// What a [`ServerConnection`](crate::ServerConnection) has to say.
#[derive(Debug)]
pub enum ServerEvent<'a> {
    /// The SecureChannel is open.
    Opened(ChannelDescription<'a>),
    /// A request to be answered.
    Request(Request<'a>),
    /// What has arrived needs this much memory more than the budget has, in bytes: make room and poll again, or
    /// [end](crate::ServerConnection::fail) the connection.
    OutOfMemory {
        /// What is lacking, at most.
        bytes: usize,
    },
    /// The client closed the SecureChannel: close the socket (7.1.4).
    Closed,
}

/// What is known of a SecureChannel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelDescription<'a> {
    /// Its SecureChannelId.
    pub channel_id: u32,
    /// The EndpointUrl of the client's Hello, as it came.
    pub endpoint_url: &'a str,
    /// The SecurityPolicy's URI.
    pub security_policy_uri: &'a str,
    /// Whether messages are signed and encrypted.
    pub security_mode: MessageSecurityMode,
    /// The client's certificate (DER); empty with SecurityPolicy None.
    pub client_certificate: &'a [u8],
}

/// A request in the receive buffer, and the place where its response goes.
#[derive(Debug)]
pub struct Request<'a> {
    /// Identifies it on this connection.
    pub request_id: u32,
    /// TypeId and structure, in the OPC UA Binary DataEncoding.
    pub body: &'a [u8],
    pub(crate) outbound: &'a mut Outbound,
    pub(crate) token: &'a Token,
    pub(crate) deferred: &'a mut usize,
}

impl Request<'_> {
    /// Lets `encode` write the response (TypeId and structure) straight behind its headers in the send buffer. The encoder's
    /// limit is what this client accepts. Writing nothing sends nothing; the returned flag tells.
    ///
    /// # Errors
    /// When the response cannot be secured; the connection is of no more use then.
    pub fn respond<R>(
        &mut self,
        encode: impl FnOnce(&mut Encoder<'_>) -> R,
    ) -> Result<(R, bool), TransportError> {
        let kind = MessageType::Message;
        self.outbound
            .message(kind, self.token, self.request_id, encode)
    }

    /// Answers with a ServiceFault, or with an abort chunk where the request is not even a request.
    ///
    /// # Errors
    /// As for [`respond`](Self::respond).
    pub fn fault(&mut self, status: StatusCode) -> Result<(), TransportError> {
        let handle = fault::handle_of_request(self.body);
        send_fault(self.outbound, self.token, self.request_id, handle, status)
    }

    /// The response comes later, by [`ServerConnection::respond_deferred`](crate::ServerConnection::respond_deferred).
    pub fn defer(self) {
        *self.deferred += 1;
    }
}

/// Answers with a ServiceFault, or with an abort chunk if there is no request to be answered.
pub(crate) fn send_fault(
    outbound: &mut Outbound,
    token: &Token,
    request_id: u32,
    request_handle: Option<u32>,
    status: StatusCode,
) -> Result<(), TransportError> {
    if let Some(handle) = request_handle {
        let kind = MessageType::Message;
        let (result, _) = outbound.message(kind, token, request_id, |encoder| {
            fault::encode_fault(encoder, handle, status).inspect_err(|_| encoder.truncate(0))
        })?;
        if result.is_ok() {
            return Ok(());
        }
    }
    outbound.abort(token, request_id, status, "")
}
