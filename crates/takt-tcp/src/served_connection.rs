//! An accepted socket with its state machine and the handler's state for it.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use takt_rt::log_limit::LogLimit;
use takt_rt::readiness::{Interest, ReadyEvent};
use takt_ua::StatusCode;
use takt_ua::request_handler::{CompletionWaker, RequestOutcome};

use crate::error::TransportError;
use crate::handler::{TcpChannels, TcpPeer};
use crate::local_users::LocalUsers;
use crate::server_connection::{ServerConnection, Turns};
use crate::server_event::{RequestBody, ServerEvent};

/// Time that a client gets to close its side after the Error message. Closing at once would reset the connection if
/// the client has sent more, and the client might never read the Error message.
const LINGER: Duration = Duration::from_secs(1);

/// Bytes of buffers from which on the messages of a connection are large. Handling one takes longer than a slice of work,
/// which is 2000 KiB for requests that can be divided.
const LARGE: usize = 1 << 20;

/// Number of requests of a connection that are handled before other connections are served, however short they are: hundreds of
/// them may be in one buffer.
const BATCH: usize = 64;

/// Next step for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Stay,
    Remove,
    /// The connection lacks this number of bytes of memory: make room and [serve](ServedConnection::serve) it, or end
    /// it.
    Starve(usize),
}

/// Progress of a client. Clients without a Session give way when connections run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    /// Connected, nothing received.
    Connected,
    /// Hello received, no SecureChannel.
    Greeted,
    /// SecureChannel without an activated Session.
    Channel,
    /// Activated Session in use.
    Session,
}

pub(crate) struct ServedConnection<C> {
    socket: OwnedFd,
    address: SocketAddr,
    /// Number of connections accepted before.
    number: u64,
    /// Limit of the server on lines about clients that misbehave.
    log: Arc<LogLimit>,
    /// Question for the Unix user of the client.
    users: Arc<LocalUsers>,
    machine: ServerConnection,
    /// State of the handler; `None` until the SecureChannel is open, and after it is closed.
    handled: Option<C>,
    waker: CompletionWaker,
    /// Events that the Readiness waits for.
    pub(crate) interest: Interest,
    /// End of the wait for the client to close its side; set when the connection has ended.
    linger_until: Option<Instant>,
    said_all: bool,
    /// Time at which bytes were last received or sent.
    last_progress: Instant,
    /// True if the connection had a large message when it was served last.
    had_large: bool,
    /// True if requests may be in the buffer that were left for the next turn.
    is_interrupted: bool,
    /// Place in the order of connections with large messages that wait for their turn.
    pub(crate) large_place: Option<u64>,
    /// True if the connection stands in the line for asymmetric cryptography.
    pub(crate) waits_in_line: bool,
}

impl<C> ServedConnection<C> {
    pub(crate) fn new(
        socket: OwnedFd,
        address: SocketAddr,
        (number, log, users): (u64, Arc<LogLimit>, Arc<LocalUsers>),
        mut machine: ServerConnection,
        waker: CompletionWaker,
        now: Instant,
    ) -> Self {
        // This connection is one of many: asymmetric cryptography waits for its turn.
        machine.set_turns(Turns::Waiting);
        Self {
            socket,
            address,
            number,
            log,
            users,
            machine,
            waits_in_line: false,
            handled: None,
            waker,
            interest: Interest::READ,
            linger_until: None,
            said_all: false,
            last_progress: now,
            had_large: false,
            is_interrupted: false,
            large_place: None,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of connections accepted before.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns whether the client has sent its Hello.
    pub(crate) fn has_said_hello(&self) -> bool {
        self.machine.has_said_hello()
    }

    /// Returns the size of its buffers in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.machine.memory()
    }

    pub(crate) fn last_progress(&self) -> Instant {
        self.last_progress
    }

    /// Returns the progress of the client; `None` once the connection has ended.
    pub(crate) fn stage<H>(&self, handler: &H) -> Option<Stage>
    where
        H: TcpChannels<Connection = C>,
    {
        Some(match &self.handled {
            _ if self.is_lingering() => return None,
            Some(handled) if handler.has_session(handled) => Stage::Session,
            Some(_) => Stage::Channel,
            None if self.machine.has_said_hello() => Stage::Greeted,
            None => Stage::Connected,
        })
    }

    /// Frees unused memory and returns its size in bytes.
    pub(crate) fn release_memory(&mut self) -> usize {
        let before = self.machine.memory();
        self.machine.release_memory();
        before - self.machine.memory()
    }

    /// Ends the connection in favour of other connections and frees its memory.
    pub(crate) fn abandon<H>(&mut self, handler: &H, error: &TransportError, now: Instant) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        tracing::debug!(client = %self.address, %error, "closing the connection");
        if self.machine.abandon(error) {
            self.begin_linger(handler, now)
        } else {
            Fate::Remove
        }
    }

    /// Returns whether the connection has an open SecureChannel with a SecurityPolicy other than None.
    pub(crate) fn is_secured(&self) -> bool {
        !self.is_lingering() && self.machine.is_secured()
    }

    /// Asks the policy whether the channel of the client may live on.
    pub(crate) fn keep_client(&self) -> Result<(), TransportError> {
        self.machine.keep_client()
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Returns the handler's state, for the notification that the connection has ended.
    pub(crate) fn take_handled(&mut self) -> Option<C> {
        self.handled.take()
    }

    /// Returns whether the connection has ended and only lingers.
    pub(crate) fn is_lingering(&self) -> bool {
        self.linger_until.is_some()
    }

    /// Returns the events to wait for: no requests while the client does not receive its responses.
    pub(crate) fn wanted_interest(&self) -> Interest {
        let write = if self.machine.transmit().is_empty() {
            Interest::NONE
        } else {
            Interest::WRITE
        };
        // A connection that lingers is read all the same: else its client's close would not be noticed.
        if self.machine.is_congested() && !self.is_lingering() {
            write
        } else {
            write | Interest::READ
        }
    }

    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        match self.linger_until {
            Some(until) => Some(until),
            None => self.machine.next_timeout(),
        }
    }

    /// Returns whether the connection is receiving, handling or sending a large message, or did so when it was served last.
    pub(crate) fn has_large_messages(&self) -> bool {
        !self.is_lingering() && (self.had_large || self.machine.memory() >= LARGE)
    }

    /// Returns whether the connection has received a message that needs asymmetric cryptography, and has to wait for its turn.
    pub(crate) fn waits_for_turn(&self) -> bool {
        !self.is_lingering() && self.machine.waits_for_turn()
    }

    /// Lets the connection handle one such message when it is served next.
    pub(crate) fn grant_turn(&mut self) {
        self.machine.set_turns(Turns::One);
    }

    /// Takes back a turn that was not used.
    pub(crate) fn end_turn(&mut self) {
        self.machine.set_turns(Turns::Waiting);
    }

    /// Handles a ready socket.
    pub(crate) fn ready<H>(&mut self, event: ReadyEvent, handler: &H, now: Instant) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        self.noting_large(|connection| connection.ready_now(event, handler, now))
    }

    fn noting_large(&mut self, serve: impl FnOnce(&mut Self) -> Fate) -> Fate {
        let before = self.machine.memory();
        let fate = serve(self);
        self.had_large = before.max(self.machine.memory()) >= LARGE;
        fate
    }

    fn ready_now<H>(&mut self, event: ReadyEvent, handler: &H, now: Instant) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        if self.is_lingering() {
            return self.linger(event, now);
        }
        if event.is_hangup() {
            return Fate::Remove;
        }
        // Before receiving: bytes that are sent now may end a congestion.
        if event.is_writable() && self.flush(now) == Fate::Remove {
            return Fate::Remove;
        }
        // While requests are left in the buffer, more bytes would only make it grow.
        if event.is_readable() && !self.machine.is_congested() && !self.is_interrupted {
            match self.receive() {
                Ok(true) => self.last_progress = now,
                Ok(false) => return Fate::Remove,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => return Fate::Remove,
            }
        }
        self.serve(handler, now)
    }

    /// Receives once; remaining bytes make the socket ready again. Returns `false` at the end of the stream.
    fn receive(&mut self) -> Result<bool, Errno> {
        let space = self.machine.receive_space();
        let (_, count) = recv(&self.socket, space, RecvFlags::empty())?;
        self.machine.received(count);
        Ok(count > 0)
    }

    /// Handles received bytes and sends pending bytes.
    pub(crate) fn serve<H>(&mut self, handler: &H, now: Instant) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        loop {
            let fate = match self.handle_events(handler, now) {
                Ok(Fate::Stay) => self.flush(now),
                Ok(fate) => {
                    // Responses go out before the socket closes; for one that starves, sending frees memory.
                    self.flush(now);
                    fate
                }
                Err(error) => self.end(handler, &error, now),
            };
            // Requests were left in the buffer because of unsent bytes. These bytes are sent now, and the requests do
            // not make the socket ready again.
            let again = self.machine.is_held_back() && !self.machine.is_congested();
            if fate != Fate::Stay || self.is_lingering() || !again {
                return fate;
            }
        }
    }

    fn handle_events<H>(&mut self, handler: &H, now: Instant) -> Result<Fate, TransportError>
    where
        H: TcpChannels<Connection = C>,
    {
        self.is_interrupted = false;
        let mut handled_now = 0;
        while let Some(event) = self.machine.poll(now)? {
            match event {
                ServerEvent::Request(mut request) => {
                    let Some(handled) = &mut self.handled else {
                        // The state machine returns requests only after `Opened`.
                        return Err(TransportError::Closed);
                    };
                    let id = request.request_id;
                    let is_large = request.body.bytes().len() >= LARGE;
                    let (outcome, written) = request.respond(|body, encoder| match body {
                        RequestBody::Received(body) => handler.handle(handled, id, body, encoder),
                        RequestBody::Assembled(body) => {
                            handler.handle_owned(handled, id, body, encoder)
                        }
                    })?;
                    match outcome {
                        RequestOutcome::Complete if written => {}
                        // A handler that writes nothing had no room for its response.
                        RequestOutcome::Complete => {
                            request.fault(StatusCode::BadResponseTooLarge)?
                        }
                        RequestOutcome::Deferred => request.defer(),
                    }
                    // This request may have activated or closed the Session.
                    let has_session = handler.has_session(handled);
                    self.machine.set_session(has_session);
                    handled_now += 1;
                    if is_large || handled_now >= BATCH || handler.is_turn_over() {
                        // Other connections are served before the requests behind this one, which may be in the buffer.
                        return Ok(self.interrupt());
                    }
                }
                ServerEvent::Opened(channel) => {
                    let waker = Arc::clone(&self.waker);
                    let peer = TcpPeer {
                        address: self.address,
                        user: self.users.client_of(&self.socket, self.address),
                    };
                    let handled = handler.connect(peer, channel, waker);
                    self.machine.set_session(handler.has_session(&handled));
                    self.handled = Some(handled);
                    // Opening took milliseconds: the others come first now.
                    if self.machine.is_secured() {
                        return Ok(self.interrupt());
                    }
                }
                ServerEvent::Renewed => return Ok(self.interrupt()),
                ServerEvent::OutOfMemory { bytes } => return Ok(Fate::Starve(bytes)),
                ServerEvent::Closed => return Ok(Fate::Remove),
            }
        }
        // Bytes behind a message that waits for its turn are not received.
        self.is_interrupted = self.machine.waits_for_turn();
        Ok(Fate::Stay)
    }

    /// Lets the server serve other connections before the requests that may be in the buffer.
    fn interrupt(&mut self) -> Fate {
        self.is_interrupted = true;
        self.call_again();
        Fate::Stay
    }

    /// Makes the server [continue](Self::complete) the connection in its next turn.
    pub(crate) fn call_again(&self) {
        (self.waker)();
    }

    /// Sends the responses of deferred requests that the handler has completed, and continues with received requests.
    pub(crate) fn complete<H>(&mut self, handler: &H, now: Instant) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        self.noting_large(|connection| connection.complete_now(handler, now))
    }

    fn complete_now<H>(&mut self, handler: &H, now: Instant) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        while let Some(handled) = &mut self.handled {
            let Some((request_id, body)) = handler.take_completed(handled) else {
                break;
            };
            if let Err(error) = self.machine.respond_deferred(request_id, body, now) {
                return self.end(handler, &error, now);
            }
        }
        if self.is_lingering() {
            return Fate::Stay;
        }
        // Requests may have been held back because too many were deferred.
        self.serve(handler, now)
    }

    /// Checks the deadlines.
    pub(crate) fn handle_timeout<H>(&mut self, handler: &H, now: Instant) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        match self.linger_until {
            Some(until) if until <= now => Fate::Remove,
            Some(_) => Fate::Stay,
            None => match self.machine.handle_timeout(now) {
                Ok(()) => Fate::Stay,
                Err(error) => self.end(handler, &error, now),
            },
        }
    }

    /// Refuses or ends the connection with `status`.
    pub(crate) fn close<H>(
        &mut self,
        handler: &H,
        status: StatusCode,
        reason: &str,
        now: Instant,
    ) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        self.machine.close(status, reason);
        self.begin_linger(handler, now)
    }

    /// Ends the connection because of `error`.
    pub(crate) fn end<H>(&mut self, handler: &H, error: &TransportError, now: Instant) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        if error.is_refusal()
            && let Some(left_out) = self.log.admit(now)
        {
            let policy = self.machine.policy_uri();
            let certificate = self.machine.client().leaf();
            tracing::warn!(
                client = %self.address,
                policy = (!policy.is_empty()).then_some(policy),
                certificate = certificate.and_then(|one| one.application_uri.as_deref()),
                %error,
                closed_before = left_out,
                "closing the connection"
            );
        } else {
            tracing::debug!(client = %self.address, %error, "closing the connection");
        }
        handler.failed(self.address, self.machine.client(), error);
        self.machine.fail(error);
        self.begin_linger(handler, now)
    }

    fn begin_linger<H>(&mut self, handler: &H, now: Instant) -> Fate
    where
        H: TcpChannels<Connection = C>,
    {
        if let Some(handled) = self.handled.take() {
            handler.disconnect(handled);
        }
        self.linger_until = Some(now + LINGER);
        if self.flush(now) == Fate::Remove {
            return Fate::Remove;
        }
        self.say_all()
    }

    /// Shuts down the sending side once everything is sent.
    fn say_all(&mut self) -> Fate {
        if self.machine.transmit().is_empty() && !self.said_all {
            self.said_all = true;
            if shutdown(&self.socket, Shutdown::Write).is_err() {
                return Fate::Remove;
            }
        }
        Fate::Stay
    }

    /// Discards received bytes until the client closes its side.
    fn linger(&mut self, event: ReadyEvent, now: Instant) -> Fate {
        if event.is_hangup() {
            return Fate::Remove;
        }
        if event.is_writable()
            && (self.flush(now) == Fate::Remove || self.say_all() == Fate::Remove)
        {
            return Fate::Remove;
        }
        if event.is_readable() {
            let mut discarded = [0_u8; 4096];
            return match recv(&self.socket, &mut discarded, RecvFlags::empty()) {
                Ok((_, 0)) => Fate::Remove,
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Fate::Stay,
                Err(_) => Fate::Remove,
            };
        }
        Fate::Stay
    }

    /// Sends once; the remaining bytes wait until the socket is ready for more.
    fn flush(&mut self, now: Instant) -> Fate {
        let unsent = self.machine.transmit();
        if unsent.is_empty() {
            return Fate::Stay;
        }
        match send(&self.socket, unsent, SendFlags::NOSIGNAL) {
            Ok(count) => {
                self.last_progress = now;
                self.machine.transmitted(count, now);
            }
            // The client takes nothing now: its time limit for reading begins, or goes on.
            Err(Errno::AGAIN | Errno::INTR) => self.machine.transmitted(0, now),
            Err(_) => return Fate::Remove,
        }
        Fate::Stay
    }
}
