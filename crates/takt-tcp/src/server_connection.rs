//! One client's connection as a state machine without a socket: HEL, OPN, MSG, CLO from the server's side
//! (OPC 10000-6, 6.7 and 7.1).
//!
//! The driver reads into [`receive_space`](ServerConnection::receive_space), calls
//! [`received`](ServerConnection::received), takes events with [`poll`](ServerConnection::poll) until there are none,
//! and sends the bytes of [`transmit`](ServerConnection::transmit). The time is always an argument.

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_crypto::PeerCertificate;
use takt_ua::StatusCode;

use crate::chunk::{self, ChunkHeader, HEADER_SIZE, MessageType, SYMMETRIC_HEADER_SIZE};
use crate::config::ServerConnectionConfig;
use crate::error::TransportError;
use crate::fault;
use crate::hello::{self, Hello, NegotiatedLimits};
use crate::inbound::{Body, Chunk, Inbound, Message};
use crate::memory::{ConnectionMemory, Refused, SMALL_RESPONSES};
use crate::open_channel;
use crate::outbound::{AHEAD, Outbound};
use crate::reverse_hello::ReverseHello;
use crate::server_channel::{ClaimedSecurity, OpenRequest, ServerChannel};
use crate::server_event::{Request, RequestBody, ServerEvent};

/// Time without received bytes after which a connection keeps no memory for buffers.
const IDLE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    AwaitHello,
    AwaitOpen,
    Open,
    Closed,
}

/// Permission to use asymmetric cryptography, which takes milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turns {
    /// Always: nobody else waits.
    Free,
    /// Not now: other connections are served first.
    Waiting,
    /// For the next OpenSecureChannel request.
    One,
}

/// A client's connection.
#[derive(Debug)]
pub struct ServerConnection {
    config: Arc<ServerConnectionConfig>,
    state: State,
    inbound: Inbound,
    outbound: Outbound,
    endpoint_url: String,
    channel: Option<ServerChannel>,
    /// Policy and certificate of a client without a channel.
    claimed: ClaimedSecurity,
    deferred: usize,
    memory: ConnectionMemory,
    /// True if polling stopped because of congestion.
    held_back: bool,
    turns: Turns,
    /// True if polling stopped because the next message needs a turn.
    waits_for_turn: bool,
    /// True if the server has opened the connection and the client has not sent its Hello.
    waits_for_client: bool,
    /// Deadline for Hello and OpenSecureChannel.
    handshake_deadline: Instant,
    chunk_deadline: Option<Instant>,
    send_deadline: Option<Instant>,
    /// Time at which an open connection without an unfinished message frees its buffers, if nothing is received until then.
    idle_at: Option<Instant>,
}

enum Step {
    Nothing,
    Opened,
    Renewed,
    Request { request_id: u32, body: Body },
    OutOfMemory { bytes: usize },
    Closed,
}

impl ServerConnection {
    /// Creates a connection that was accepted `now`. `channel_id` shall be unique among the server's connections and
    /// not repeat soon after a restart (OPC 10000-6, 6.7.2.2).
    #[must_use]
    pub fn new(config: Arc<ServerConnectionConfig>, channel_id: u32, now: Instant) -> Self {
        let limits = NegotiatedLimits {
            local: config.limits.at_least_minimum(),
            max_sent_chunk_count: u32::MAX,
        };
        Self {
            state: State::AwaitHello,
            inbound: Inbound::new(channel_id),
            outbound: Outbound::new(limits, channel_id).dividing_later(),
            endpoint_url: String::new(),
            channel: None,
            claimed: ClaimedSecurity::default(),
            deferred: 0,
            memory: ConnectionMemory::new(Arc::clone(&config)),
            held_back: false,
            turns: Turns::Free,
            waits_for_turn: false,
            waits_for_client: false,
            handshake_deadline: now + config.handshake_timeout,
            chunk_deadline: None,
            send_deadline: None,
            idle_at: None,
            config,
        }
    }

    /// Creates a connection that the server has opened: it begins with `hello` and waits for the client's Hello without a
    /// time limit (OPC 10000-6, 7.1.3).
    ///
    /// # Errors
    /// [`TransportError`] if a text of `hello` is too long.
    pub fn reverse(
        config: Arc<ServerConnectionConfig>,
        channel_id: u32,
        hello: &ReverseHello,
        now: Instant,
    ) -> Result<Self, TransportError> {
        let mut connection = Self::new(config, channel_id, now);
        hello.write(connection.outbound.raw())?;
        connection.waits_for_client = true;
        Ok(connection)
    }

    /// Returns the buffer for received bytes. It is empty while complete requests have to be [polled](Self::poll)
    /// first.
    pub fn receive_space(&mut self) -> &mut [u8] {
        self.inbound.space()
    }

    /// Notes that `count` bytes were written to [`receive_space`](Self::receive_space).
    pub fn received(&mut self, count: usize) {
        self.inbound.buffer.filled(count);
    }

    /// Returns the next event, or `None` if there is none. Call it after bytes were received, and after bytes were
    /// sent if the connection [was congested](Self::is_congested).
    ///
    /// # Errors
    /// The error that ends the connection: send the remaining bytes of [`transmit`](Self::transmit), which include
    /// the Error message for the client, and close the socket.
    pub fn poll(&mut self, now: Instant) -> Result<Option<ServerEvent<'_>>, TransportError> {
        let step = match self.advance(now) {
            Ok(step) => step,
            Err(error) => {
                self.fail(&error);
                return Err(error);
            }
        };
        Ok(match (step, &self.channel) {
            (Step::Request { request_id, body }, Some(channel)) => {
                self.outbound.room = response_room(&self.memory, &self.outbound);
                Some(ServerEvent::Request(Request {
                    request_id,
                    body: match body {
                        Body::Received(range) => {
                            RequestBody::Received(self.inbound.buffer.get(range))
                        }
                        Body::Assembled => RequestBody::Assembled(self.inbound.assembled()),
                    },
                    outbound: &mut self.outbound,
                    token: channel.tokens.sending(now),
                    deferred: &mut self.deferred,
                }))
            }
            (Step::Opened, Some(channel)) => Some(ServerEvent::Opened(
                channel.describe(self.inbound.channel_id, &self.endpoint_url),
            )),
            (Step::Renewed, _) => Some(ServerEvent::Renewed),
            (Step::OutOfMemory { bytes }, _) => Some(ServerEvent::OutOfMemory { bytes }),
            (Step::Closed, _) => Some(ServerEvent::Closed),
            _ => None,
        })
    }

    /// Continues until there is an event.
    fn advance(&mut self, now: Instant) -> Result<Step, TransportError> {
        // The previous event has been handled.
        self.inbound.trim();
        self.recount();
        self.waits_for_turn = false;
        loop {
            self.held_back = self.state != State::Closed && self.is_congested();
            if self.state == State::Closed || self.held_back {
                // A client that is not read from cannot be late.
                self.chunk_deadline = None;
                return Ok(Step::Nothing);
            }
            let header = self.inbound.peek_chunk()?;
            let inbound = match &header {
                Some(header) => self.inbound.capacity_with(header),
                None => self.inbound.capacity_for_space(),
            };
            // Before the chunk is taken: after `OutOfMemory`, the next poll finds it again.
            match self.memory.grow(inbound + self.outbound.capacity()) {
                Ok(()) => {}
                Err(Refused::Budget { bytes }) => return Ok(Step::OutOfMemory { bytes }),
                Err(Refused::Connection(error)) => return Err(error),
            }
            let Some(header) = header else {
                self.chunk_deadline = match self.chunk_deadline {
                    _ if !self.inbound.is_incomplete() => None,
                    None => Some(now + self.config.chunk_timeout),
                    // Further bytes do not move it: a client that sends byte by byte is late all the same.
                    begun => begun,
                };
                let is_idle = self.state == State::Open && !self.inbound.is_incomplete();
                self.idle_at = is_idle.then(|| now + IDLE);
                return Ok(Step::Nothing);
            };
            self.chunk_deadline = None;
            if self.needs_turn(&header) {
                self.waits_for_turn = self.turns == Turns::Waiting;
                if self.waits_for_turn {
                    return Ok(Step::Nothing);
                }
                if self.turns == Turns::One {
                    self.turns = Turns::Waiting;
                }
            }
            let chunk = self.inbound.take_chunk(header);
            match (self.state, chunk.header.message_type) {
                (State::AwaitHello, MessageType::Hello) => self.hello(&chunk, now)?,
                // OPC 10000-6, 7.1.2.6: the client refuses the ReverseHello.
                (State::AwaitHello, MessageType::Error) if self.waits_for_client => {
                    let body = &self.inbound.chunk(&chunk)[HEADER_SIZE..];
                    let (status, reason) = hello::decode_reason(body)?;
                    // An Error message is not answered by another one.
                    self.state = State::Closed;
                    return Err(TransportError::Peer { status, reason });
                }
                (State::AwaitOpen | State::Open, MessageType::OpenSecureChannel) => {
                    match self.open(&chunk, now)? {
                        true => return Ok(Step::Opened),
                        // Asymmetric cryptography takes long: the driver serves other connections before the next one.
                        false if self.is_secured() => return Ok(Step::Renewed),
                        false => {}
                    }
                }
                (State::Open, MessageType::Message) => {
                    let token_id = self.inbound.token_of(&chunk)?;
                    let channel = self.channel.as_mut().ok_or(TransportError::Closed)?;
                    let security = channel.tokens.receive(token_id, now)?;
                    let message = self.inbound.message(&chunk, security)?;
                    // After the chunk is verified: a forged one must not end the older token.
                    channel.tokens.used(token_id);
                    // An aborted request needs no response: its client has given it up.
                    if let Message::Complete { request_id, body } = message {
                        return Ok(Step::Request { request_id, body });
                    }
                }
                (State::Open, MessageType::CloseSecureChannel) => {
                    let token_id = self.inbound.token_of(&chunk)?;
                    let channel = self.channel.as_mut().ok_or(TransportError::Closed)?;
                    let security = channel.tokens.receive(token_id, now)?;
                    // OPC 10000-6, 7.1.4: the body has no meaning, but a forged message must not close the channel.
                    self.inbound.open(&chunk, SYMMETRIC_HEADER_SIZE, security)?;
                    self.state = State::Closed;
                    return Ok(Step::Closed);
                }
                (State::AwaitOpen, MessageType::Message | MessageType::CloseSecureChannel) => {
                    let id = chunk::secure_channel_id(self.inbound.chunk(&chunk));
                    return Err(TransportError::SecureChannelUnknown(id));
                }
                (_, other) => return Err(TransportError::MessageType(other.code())),
            }
        }
    }

    fn hello(&mut self, chunk: &Chunk, now: Instant) -> Result<(), TransportError> {
        let body = &self.inbound.chunk(chunk)[chunk::HEADER_SIZE..];
        let hello = Hello::decode(body, &self.outbound.limits.local)?;
        self.endpoint_url = hello.endpoint_url;
        self.outbound.limits = hello.limits;
        self.inbound.set_limits(&hello.limits.local);
        hello::emit_acknowledge(self.outbound.raw(), &hello.limits);
        self.handshake_deadline = now + self.config.handshake_timeout;
        self.waits_for_client = false;
        self.state = State::AwaitOpen;
        Ok(())
    }

    /// Issues or renews a token; returns whether the channel is new.
    fn open(&mut self, chunk: &Chunk, now: Instant) -> Result<bool, TransportError> {
        let is_new = self.channel.is_none();
        if let Some(channel) = &self.channel {
            // Chunks of one message are sent without other chunks between them (OPC 10000-6, 6.7.3).
            self.outbound
                .fill(channel.tokens.sending(now), usize::MAX)?;
        }
        let channel = self.channel.as_ref();
        let claimed = &mut self.claimed;
        let opening = OpenRequest::read(channel, &self.config, chunk, &self.inbound, claimed)?;
        opening.decide()?;
        let buffers = (&mut self.inbound, &mut self.outbound);
        ServerChannel::open(
            &mut self.channel,
            &self.config,
            chunk,
            opening,
            buffers,
            now,
        )?;
        self.state = State::Open;
        Ok(is_new)
    }

    /// Returns what the client has sent as its certificate; empty without one.
    pub(crate) fn client(&self) -> &Arc<PeerCertificate> {
        match &self.channel {
            Some(channel) => channel.client(),
            None => &self.claimed.client,
        }
    }

    /// Returns the SecurityPolicyUri of the channel, or that which the client has requested; empty before a request.
    pub(crate) fn policy_uri(&self) -> &str {
        match &self.channel {
            Some(channel) => channel.policy_uri(),
            None => &self.claimed.policy_uri,
        }
    }

    /// Asks the policy whether the channel of the client may live on, now that the trust list has changed.
    ///
    /// # Errors
    /// The check that failed: the connection has to end.
    pub fn keep_client(&self) -> Result<(), TransportError> {
        self.channel
            .as_ref()
            .map_or(Ok(()), ServerChannel::keep_client)
    }

    /// Sends the response to a request that was [deferred](Request::defer); `body` is TypeId and structure. It is divided into
    /// chunks while they are sent. A response that is too large for the client is replaced by a ServiceFault.
    ///
    /// # Errors
    /// An error if the response cannot be secured or the connection is closed.
    pub fn respond_deferred(
        &mut self,
        request_id: u32,
        body: Vec<u8>,
        now: Instant,
    ) -> Result<(), TransportError> {
        self.deferred = self.deferred.saturating_sub(1);
        let channel = match &self.channel {
            Some(channel) if self.state == State::Open => channel,
            _ => return Err(TransportError::Closed),
        };
        let token = channel.tokens.sending(now);
        self.outbound.room = response_room(&self.memory, &self.outbound);
        let refused = if body.is_empty() || body.len() > self.outbound.max_message(token) {
            Some(StatusCode::BadResponseTooLarge)
        } else if !self.outbound.may_keep(body.capacity()) {
            Some(StatusCode::BadOutOfMemory)
        } else {
            None
        };
        if let Some(status) = refused {
            match fault::handle_of_response(&body) {
                Some(handle) => {
                    let fault = fault::message(handle, status);
                    self.outbound.encoded_message(token, request_id, fault)?;
                }
                None => self.outbound.abort(token, request_id, status, "")?,
            }
        } else {
            self.outbound.encoded_message(token, request_id, body)?;
        }
        self.recount();
        Ok(())
    }

    /// Charges the current size of the buffers.
    fn recount(&mut self) {
        let total = self.inbound.capacity() + self.outbound.capacity();
        if total == self.memory.held() {
            return;
        }
        if self.memory.grow(total).is_err() {
            // Buffers for responses double when they grow; the written bytes fit.
            self.outbound.shrink();
        }
        let total = self.inbound.capacity() + self.outbound.capacity();
        self.memory.note(total);
    }

    /// Returns the number of bytes of memory that the connection holds. They are charged to a budget of its
    /// [configuration](ServerConnectionConfig::memory).
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory.held()
    }

    /// Sets whether the client uses an activated Session, which decides the budget that memory is charged to.
    pub fn set_session(&mut self, has_session: bool) {
        self.memory.set_session(has_session);
    }

    /// Frees unused memory.
    pub fn release_memory(&mut self) {
        self.inbound.release(false);
        self.outbound.shrink();
        self.recount();
    }

    /// Ends the connection in favour of other connections and frees its memory. Returns `true` if an Error message
    /// has to be sent, and `false` if the client has received a part of another message and could not parse one.
    pub fn abandon(&mut self, error: &TransportError) -> bool {
        let is_clean = self.outbound.forget() && self.state != State::Closed;
        self.fail(error);
        if !is_clean {
            self.outbound.forget();
        }
        self.recount();
        is_clean
    }

    /// Returns the bytes to be sent; empty if there are none.
    #[must_use]
    pub fn transmit(&self) -> &[u8] {
        self.outbound.unsent()
    }

    /// Notes that `count` bytes of [`transmit`](Self::transmit) were sent; 0 if the socket takes none now.
    pub fn transmitted(&mut self, count: usize, now: Instant) {
        self.outbound.sent(count);
        if self.outbound.has_waiting()
            && let (State::Open, Some(channel)) = (self.state, &self.channel)
            && let Err(error) = self.outbound.fill(channel.tokens.sending(now), AHEAD)
        {
            self.fail(&error);
        }
        self.recount();
        self.send_deadline = match self.send_deadline {
            _ if self.outbound.unsent().is_empty() => None,
            // Only progress moves the deadline.
            Some(deadline) if count == 0 => Some(deadline),
            _ => Some(now + self.config.send_timeout),
        };
    }

    /// Returns whether no more requests are handled because the client receives its responses too slowly, or has too
    /// many outstanding. Then nothing shall be received either.
    #[must_use]
    pub fn is_congested(&self) -> bool {
        let unsent = self.outbound.unsent_count();
        unsent > self.config.max_unsent
            || self.deferred >= self.config.max_deferred
            // Without memory for more responses, requests wait until some responses are sent.
            || unsent > SMALL_RESPONSES && self.memory.room() < SMALL_RESPONSES
    }

    /// Returns whether the SecureChannel has a SecurityPolicy other than None.
    pub(crate) fn is_secured(&self) -> bool {
        let channel = self.channel.as_ref();
        channel.is_some_and(ServerChannel::is_secured)
    }

    /// Sets the permission to use asymmetric cryptography.
    pub(crate) fn set_turns(&mut self, turns: Turns) {
        self.turns = turns;
    }

    /// Returns whether the last [`poll`](Self::poll) stopped in front of a message for which the connection has no turn.
    pub(crate) const fn waits_for_turn(&self) -> bool {
        self.waits_for_turn
    }

    /// Returns whether the next chunk opens a SecureChannel, or renews its token, with asymmetric cryptography.
    fn needs_turn(&self, header: &ChunkHeader) -> bool {
        header.message_type == MessageType::OpenSecureChannel
            && match self.state {
                State::AwaitOpen => !open_channel::is_without_security(self.inbound.unread()),
                State::Open => self.is_secured(),
                State::AwaitHello | State::Closed => false,
            }
    }

    /// Returns whether the Hello was received.
    pub(crate) const fn has_said_hello(&self) -> bool {
        !matches!(self.state, State::AwaitHello)
    }

    /// Returns whether the last [`poll`](Self::poll) stopped because the connection was congested: received requests
    /// may not have been returned yet.
    #[must_use]
    pub fn is_held_back(&self) -> bool {
        self.held_back
    }

    /// Returns whether the SecureChannel has been closed, by either side.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is due.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        let state = match (self.state, &self.channel) {
            (State::Closed, _) => None,
            (State::AwaitHello, _) if self.waits_for_client => None,
            (State::Open, Some(channel)) => Some(channel.tokens.accepted_until()),
            _ => Some(self.handshake_deadline),
        };
        let idle_at = self.idle_at.filter(|_| self.state != State::Closed);
        [state, self.chunk_deadline, self.send_deadline, idle_at]
            .into_iter()
            .flatten()
            .min()
    }

    /// Ends the connection if the client has missed a deadline, and frees the memory of buffers if it is idle.
    ///
    /// # Errors
    /// The missed deadline; as for [`poll`](Self::poll).
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), TransportError> {
        let over = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= now);
        let error = match (self.state, &self.channel) {
            // First, because it also holds for a closed connection whose client does not read the Error message.
            _ if over(self.send_deadline) => TransportError::Timeout("read its responses"),
            (State::Closed, _) => return Ok(()),
            _ if over(self.chunk_deadline) => TransportError::Timeout("complete a message"),
            (State::Open, Some(channel)) if over(Some(channel.tokens.accepted_until())) => {
                TransportError::TokenExpired
            }
            (State::AwaitHello, _)
                if !self.waits_for_client && over(Some(self.handshake_deadline)) =>
            {
                TransportError::Timeout("say Hello")
            }
            (State::AwaitOpen, _) if over(Some(self.handshake_deadline)) => {
                TransportError::Timeout("open a SecureChannel")
            }
            _ => {
                if over(self.idle_at) {
                    self.idle_at = None;
                    self.release_memory();
                }
                return Ok(());
            }
        };
        self.fail(&error);
        Err(error)
    }

    /// Ends the connection from this side: an Error message has to be sent, and nothing more is received.
    pub fn fail(&mut self, error: &TransportError) {
        self.close(error.public_status_code(), &error.public_reason());
    }

    /// Ends the connection from this side with any StatusCode, `BadShutdown` for instance.
    pub fn close(&mut self, status: StatusCode, reason: &str) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.chunk_deadline = None;
            self.idle_at = None;
            // The Error message must not wait for them.
            self.outbound.forget_waiting();
            hello::emit_error(self.outbound.raw(), status, reason);
            // Nothing more is received.
            self.inbound.release(true);
            self.recount();
        }
    }
}

/// Returns the size in bytes of the memory that may be allocated for responses.
fn response_room(memory: &ConnectionMemory, outbound: &Outbound) -> usize {
    let small = SMALL_RESPONSES.saturating_sub(outbound.unsent_count());
    memory.room().max(small)
}
