//! A connection to a server as a state machine without a socket: HEL, OPN, MSG, CLO from the client's side
//! (OPC 10000-6, 6.7 and 7.1).
//!
//! It is the counterpart of [`ServerConnection`](crate::ServerConnection) and is driven in the same way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_crypto::TrustList;
use takt_ua::StatusCode;
use takt_ua::binary::{EncodeError, Encoder};
use takt_ua::structures::CloseSecureChannelRequest;

use crate::chunk::{HEADER_SIZE, MessageType};
use crate::client_channel::{PendingOpen, request_header};
use crate::config::ClientConnectionConfig;
use crate::error::TransportError;
use crate::hello::{self, NegotiatedLimits, decode_acknowledge, decode_reason};
use crate::inbound::{Body, Chunk, Inbound, Message};
use crate::open_channel::Message as _;
use crate::outbound::Outbound;
use crate::token::ClientTokens;

/// Time between two looks at the trust list while requests are sent over a secured channel.
const TRUST_INTERVAL: Duration = Duration::from_secs(2);

/// Events of a [`ClientConnection`].
#[derive(Debug)]
pub enum ClientEvent<'a> {
    /// The SecureChannel is open: requests can be sent.
    Opened,
    /// A response.
    Response {
        /// RequestId of the request.
        request_id: u32,
        /// TypeId and structure, in the OPC UA Binary DataEncoding.
        body: &'a [u8],
    },
    /// The server gave up a response that it had begun (OPC 10000-6, 6.7.3).
    Aborted {
        /// RequestId of the aborted request.
        request_id: u32,
        /// StatusCode of the reason.
        status: StatusCode,
        /// Text of the reason; may be empty.
        reason: String,
    },
}

/// Error of a request that was not sent. The connection is not affected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendRequestError {
    /// The request cannot be encoded within the limits of server and client.
    #[error("the request cannot be encoded within the limits of this connection: {0}")]
    Encode(#[from] EncodeError),
    /// The connection is closed, not open yet, or cannot secure the request.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    AwaitAcknowledge,
    AwaitOpen,
    Open,
    Closed,
}

/// A connection to a server.
#[derive(Debug)]
pub struct ClientConnection {
    config: ClientConnectionConfig,
    state: State,
    inbound: Inbound,
    outbound: Outbound,
    tokens: Option<ClientTokens>,
    pending_open: Option<PendingOpen>,
    last_request_id: u32,
    /// Trust list against which the server was checked, and time of the next look at it. `None` without certificates.
    trust: Option<(Arc<TrustList>, Instant)>,
}

/// Results of [`ClientConnection::step`]; bodies stay in their buffers.
pub(crate) enum Step {
    Nothing,
    Opened,
    Response {
        request_id: u32,
        body: Body,
    },
    Aborted {
        request_id: u32,
        status: StatusCode,
        reason: String,
    },
}

impl ClientConnection {
    /// Creates a connection that begins with a Hello for `endpoint_url`.
    #[must_use]
    pub fn new(config: ClientConnectionConfig, endpoint_url: &str) -> Self {
        let limits = NegotiatedLimits {
            local: config.limits.at_least_minimum(),
            // The limit of the server is not known before its Acknowledge.
            max_sent_chunk_count: u32::MAX,
        };
        let mut outbound = Outbound::new(limits, 0);
        hello::emit_hello(outbound.raw(), &limits.local, endpoint_url);
        Self {
            config,
            state: State::AwaitAcknowledge,
            inbound: Inbound::new(0),
            outbound,
            tokens: None,
            pending_open: None,
            last_request_id: 0,
            trust: None,
        }
    }

    /// Returns the buffer for received bytes. It is empty while complete responses have to be [polled](Self::poll)
    /// first.
    pub fn receive_space(&mut self) -> &mut [u8] {
        self.inbound.space()
    }

    /// Notes that `count` bytes were written to [`receive_space`](Self::receive_space).
    pub fn received(&mut self, count: usize) {
        self.inbound.buffer.filled(count);
    }

    /// Returns the bytes to be sent; empty if there are none.
    #[must_use]
    pub fn transmit(&self) -> &[u8] {
        self.outbound.unsent()
    }

    /// Notes that `count` bytes of [`transmit`](Self::transmit) were sent.
    pub fn transmitted(&mut self, count: usize) {
        self.outbound.sent(count);
    }

    /// Returns whether requests can be sent.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Returns the SecureChannelId; 0 until the channel is open.
    #[must_use]
    pub fn channel_id(&self) -> u32 {
        self.outbound.channel_id
    }

    /// Returns the next event, or `None` if there is none.
    ///
    /// # Errors
    /// The error that ends the connection: send the remaining bytes of [`transmit`](Self::transmit) and close the
    /// socket.
    pub fn poll(&mut self, now: Instant) -> Result<Option<ClientEvent<'_>>, TransportError> {
        Ok(match self.step(now)? {
            Step::Nothing => None,
            Step::Opened => Some(ClientEvent::Opened),
            Step::Response { request_id, body } => Some(ClientEvent::Response {
                request_id,
                body: self.inbound.body(&body),
            }),
            Step::Aborted {
                request_id,
                status,
                reason,
            } => Some(ClientEvent::Aborted {
                request_id,
                status,
                reason,
            }),
        })
    }

    /// Does the work of [`poll`](Self::poll) for a driver that returns bodies out of a loop.
    pub(crate) fn step(&mut self, now: Instant) -> Result<Step, TransportError> {
        self.advance(now).inspect_err(|error| {
            // OPC 10000-6, 7.1.5: a client reports a fatal error by closing the channel; after an Error message it
            // just closes.
            if !matches!(error, TransportError::Peer { .. }) {
                self.close();
            }
            self.state = State::Closed;
        })
    }

    /// Returns the body of the last [`Step::Response`].
    pub(crate) fn body(&self, body: &Body) -> &[u8] {
        self.inbound.body(body)
    }

    fn advance(&mut self, now: Instant) -> Result<Step, TransportError> {
        while self.state != State::Closed {
            let Some(chunk) = self.inbound.next_chunk()? else {
                break;
            };
            match (self.state, chunk.header.message_type) {
                (_, MessageType::Error) => {
                    let (status, reason) =
                        decode_reason(&self.inbound.chunk(&chunk)[HEADER_SIZE..])?;
                    return Err(TransportError::Peer { status, reason });
                }
                (State::AwaitAcknowledge, MessageType::Acknowledge) => {
                    let body = &self.inbound.chunk(&chunk)[HEADER_SIZE..];
                    let limits = decode_acknowledge(body, &self.outbound.limits.local)?;
                    self.outbound.limits = limits;
                    self.inbound.set_limits(&limits.local);
                    self.state = State::AwaitOpen;
                    self.send_open()?;
                }
                (State::AwaitOpen | State::Open, MessageType::OpenSecureChannel) => {
                    self.opened(&chunk, now)?;
                    if self.state == State::AwaitOpen {
                        self.state = State::Open;
                        return Ok(Step::Opened);
                    }
                }
                (State::Open, MessageType::Message) => match self.message(&chunk, now)? {
                    Step::Nothing => {}
                    step => return Ok(step),
                },
                (_, other) => return Err(TransportError::MessageType(other.code())),
            }
        }
        Ok(Step::Nothing)
    }

    fn message(&mut self, chunk: &Chunk, now: Instant) -> Result<Step, TransportError> {
        let token_id = self.inbound.token_of(chunk)?;
        let tokens = self.tokens.as_ref().ok_or(TransportError::Closed)?;
        let security = tokens.receive(token_id, now)?;
        let message = self.inbound.message(chunk, security)?;
        let (Message::Complete { request_id, .. } | Message::Aborted { request_id, .. }) = message
        else {
            return Ok(Step::Nothing);
        };
        // OPC 10000-6, 6.7.7: the client verifies the RequestId. The caller ignores responses to requests that it has
        // given up.
        // RequestIds wrap: those of the lower half of the circle were used already.
        if self.last_request_id.wrapping_sub(request_id) > u32::MAX / 2 {
            return Err(TransportError::RequestIdUnknown(request_id));
        }
        Ok(match message {
            Message::Complete { request_id, body } => Step::Response { request_id, body },
            Message::Aborted { request_id, body } => {
                let (status, reason) = decode_reason(self.inbound.buffer.get(body))?;
                Step::Aborted {
                    request_id,
                    status,
                    reason,
                }
            }
            Message::Incomplete => Step::Nothing,
        })
    }

    /// Sends OpenSecureChannel: Issue for the first token, Renew for the following ones.
    fn send_open(&mut self) -> Result<(), TransportError> {
        self.last_request_id = next_request_id(self.last_request_id);
        let (id, is_new) = (self.last_request_id, self.tokens.is_none());
        let (inbound, outbound) = (&mut self.inbound, &mut self.outbound);
        let pending = PendingOpen::send(&self.config, id, is_new, inbound, outbound)?;
        self.pending_open = Some(pending);
        Ok(())
    }

    /// Takes the response to OpenSecureChannel.
    fn opened(&mut self, chunk: &Chunk, now: Instant) -> Result<(), TransportError> {
        let not_asked = TransportError::MessageType(MessageType::OpenSecureChannel.code());
        // A response that nobody asked for must not replace keys.
        let pending = self.pending_open.take().ok_or(not_asked)?;
        let (inbound, outbound) = (&mut self.inbound, &mut self.outbound);
        let token = pending.complete(&self.config, chunk, inbound, outbound, now)?;
        let list = self.config.policy.trust_list();
        self.trust = list.map(|list| (list, now + TRUST_INTERVAL));
        match &mut self.tokens {
            Some(tokens) => tokens.renew(token),
            None => self.tokens = Some(ClientTokens::new(token)),
        }
        Ok(())
    }

    /// Lets `encode` write a request (TypeId and structure) straight into the send buffer; returns its RequestId.
    ///
    /// # Errors
    /// [`SendRequestError`]; nothing is sent then.
    pub fn request(
        &mut self,
        encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<u32, SendRequestError> {
        let tokens = match &self.tokens {
            Some(tokens) if self.state == State::Open => tokens,
            _ => return Err(TransportError::Closed.into()),
        };
        let request_id = next_request_id(self.last_request_id);
        let kind = MessageType::Message;
        let mut failed = None;
        self.outbound
            .message(kind, tokens.current(), request_id, |encoder| {
                if let Err(error) = encode(encoder) {
                    failed = Some(error);
                    // Without a body, `message` appends nothing.
                    encoder.truncate(0);
                }
            })?;
        match failed {
            Some(error) => Err(error.into()),
            None => {
                // Only now: a response is accepted only for a RequestId that was sent.
                self.last_request_id = request_id;
                Ok(request_id)
            }
        }
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is due.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        match &self.tokens {
            // One renewal at a time. `TcpClient::maintain` relies on `None` here while one is under way.
            Some(tokens) if self.state == State::Open && self.pending_open.is_none() => {
                Some(tokens.current().renew_at())
            }
            _ => None,
        }
    }

    /// Renews the security token once 75 % of its lifetime are over (OPC 10000-4, 5.6.2.1). An idle client has to
    /// call this in time, otherwise the server closes the channel. If the trust list has changed, the certificate of the
    /// server is checked again, at most every two seconds.
    ///
    /// # Errors
    /// An error if no renewal can be made, or if the server is not trusted any more; the channel is closed then.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), TransportError> {
        if matches!(&self.trust, Some((_, next)) if *next <= now) {
            self.look_at_trust(now)?;
        }
        match self.next_timeout() {
            Some(at) if at <= now => self.send_open(),
            _ => Ok(()),
        }
    }

    #[cold]
    fn look_at_trust(&mut self, now: Instant) -> Result<(), TransportError> {
        let policy = Arc::clone(&self.config.policy);
        let (Some(list), Some((seen, next))) = (policy.trust_list(), &mut self.trust) else {
            return Ok(());
        };
        *next = now + TRUST_INTERVAL;
        if Arc::ptr_eq(seen, &list) {
            return Ok(());
        }
        *seen = list;
        let checked = policy.reconsider_peer(&self.config.server_certificate);
        Ok(checked.inspect_err(|_| self.close())?)
    }

    /// Sends CloseSecureChannel (OPC 10000-6, 7.1.4), if there is a channel: send the remaining bytes of
    /// [`transmit`](Self::transmit), then close the socket.
    pub fn close(&mut self) {
        if let (State::Open, Some(tokens)) = (self.state, &self.tokens) {
            let request_id = next_request_id(self.last_request_id);
            let request = CloseSecureChannelRequest {
                request_header: request_header(request_id),
            };
            let kind = MessageType::CloseSecureChannel;
            // If CloseSecureChannel cannot be secured, the socket is closed without it.
            let _ = self
                .outbound
                .message(kind, tokens.current(), request_id, |encoder| {
                    request.encode_message(encoder)
                });
        }
        self.state = State::Closed;
    }
}

/// Returns the next RequestId. RequestIds are counted from 1; 0 is skipped.
const fn next_request_id(last: u32) -> u32 {
    match last.wrapping_add(1) {
        0 => 1,
        id => id,
    }
}
