//! One accepted socket with its state machine and what the handler keeps for it.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use takt_rt::readiness::{Event, Interest};
use takt_ua::StatusCode;

use crate::error::TransportError;
use crate::handler::{CompletionWaker, Outcome, RequestHandler};
use crate::server_connection::ServerConnection;
use crate::server_event::ServerEvent;

/// How long a client may take to close its side after it was told why the connection ends. Closing at once would reset
/// the connection if the client has sent more, and it might never read the Error message.
const LINGER: Duration = Duration::from_secs(1);

/// What is to become of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Stay,
    Remove,
}

pub(crate) struct ServedConnection<C> {
    socket: OwnedFd,
    address: SocketAddr,
    machine: ServerConnection,
    /// What the handler keeps; `None` until the SecureChannel is open, and after.
    handled: Option<C>,
    waker: CompletionWaker,
    /// What the Readiness is asked for.
    pub(crate) interest: Interest,
    /// Set when the connection has ended and only waits for the client to notice.
    linger_until: Option<Instant>,
    said_all: bool,
}

impl<C> ServedConnection<C> {
    pub(crate) fn new(
        socket: OwnedFd,
        address: SocketAddr,
        machine: ServerConnection,
        waker: CompletionWaker,
    ) -> Self {
        Self {
            socket,
            address,
            machine,
            handled: None,
            waker,
            interest: Interest::READ,
            linger_until: None,
            said_all: false,
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// What the handler has to be told of when the connection goes.
    pub(crate) fn take_handled(&mut self) -> Option<C> {
        self.handled.take()
    }

    /// Whether it has ended and only lingers.
    pub(crate) fn is_lingering(&self) -> bool {
        self.linger_until.is_some()
    }

    /// What to wait for: no more requests while the client does not take its responses.
    pub(crate) fn wanted_interest(&self) -> Interest {
        let write = if self.machine.transmit().is_empty() {
            Interest::NONE
        } else {
            Interest::WRITE
        };
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

    /// The socket is ready.
    pub(crate) fn ready<H>(&mut self, event: Event, handler: &H, now: Instant) -> Fate
    where
        H: RequestHandler<Connection = C>,
    {
        if self.is_lingering() {
            return self.linger(event, now);
        }
        if event.is_hangup() {
            return Fate::Remove;
        }
        if event.is_writable() && self.flush(now) == Fate::Remove {
            return Fate::Remove;
        }
        if event.is_readable() && !self.machine.is_congested() {
            match self.receive() {
                Ok(true) => {}
                Ok(false) => return Fate::Remove,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => return Fate::Remove,
            }
        }
        self.serve(handler, now)
    }

    /// Receives once: whatever is left makes the socket ready again. `false` at the end.
    fn receive(&mut self) -> Result<bool, Errno> {
        let space = self.machine.receive_space();
        let (_, count) = recv(&self.socket, space, RecvFlags::empty())?;
        self.machine.received(count);
        Ok(count > 0)
    }

    /// Handles what has been received and sends what there is to send.
    fn serve<H>(&mut self, handler: &H, now: Instant) -> Fate
    where
        H: RequestHandler<Connection = C>,
    {
        loop {
            let fate = match self.handle_events(handler, now) {
                Ok(Fate::Stay) => self.flush(now),
                Ok(Fate::Remove) => {
                    self.flush(now);
                    Fate::Remove
                }
                Err(error) => self.end(handler, &error, now),
            };
            // Requests were left in the buffer because of unsent bytes, and those are gone: they will not make the
            // socket ready again.
            let again = self.machine.is_held_back() && !self.machine.is_congested();
            if fate == Fate::Remove || self.is_lingering() || !again {
                return fate;
            }
        }
    }

    fn handle_events<H>(&mut self, handler: &H, now: Instant) -> Result<Fate, TransportError>
    where
        H: RequestHandler<Connection = C>,
    {
        while let Some(event) = self.machine.poll(now)? {
            match event {
                ServerEvent::Request(mut request) => {
                    let Some(handled) = &mut self.handled else {
                        // The machine gives requests only after it said that the channel is open.
                        return Err(TransportError::Closed);
                    };
                    let (id, body) = (request.request_id, request.body);
                    let (outcome, written) =
                        request.respond(|encoder| handler.handle(handled, id, body, encoder))?;
                    match outcome {
                        Outcome::Complete if written => {}
                        Outcome::Complete => request.fault(StatusCode::BadResponseTooLarge)?,
                        Outcome::Deferred => request.defer(),
                    }
                }
                ServerEvent::Opened(channel) => {
                    let waker = Arc::clone(&self.waker);
                    self.handled = Some(handler.connect(self.address, channel, waker));
                }
                ServerEvent::Closed => return Ok(Fate::Remove),
            }
        }
        Ok(Fate::Stay)
    }

    /// The handler has completed deferred requests.
    pub(crate) fn complete<H>(&mut self, handler: &H, now: Instant) -> Fate
    where
        H: RequestHandler<Connection = C>,
    {
        while let Some(handled) = &mut self.handled {
            let Some((request_id, body)) = handler.take_completed(handled) else {
                break;
            };
            if let Err(error) = self.machine.respond_deferred(request_id, &body, now) {
                return self.end(handler, &error, now);
            }
        }
        if self.is_lingering() {
            return Fate::Stay;
        }
        // Requests may have been held back because too many were deferred.
        self.serve(handler, now)
    }

    /// A deadline may have passed.
    pub(crate) fn handle_timeout<H>(&mut self, handler: &H, now: Instant) -> Fate
    where
        H: RequestHandler<Connection = C>,
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
        H: RequestHandler<Connection = C>,
    {
        self.machine.close(status, reason);
        self.begin_linger(handler, now)
    }

    /// Ends the connection because of `error`.
    fn end<H>(&mut self, handler: &H, error: &TransportError, now: Instant) -> Fate
    where
        H: RequestHandler<Connection = C>,
    {
        if error.is_peer_misbehaved() {
            tracing::warn!(client = %self.address, %error, "closing the connection");
        } else {
            tracing::debug!(client = %self.address, %error, "closing the connection");
        }
        self.machine.fail(error);
        self.begin_linger(handler, now)
    }

    fn begin_linger<H>(&mut self, handler: &H, now: Instant) -> Fate
    where
        H: RequestHandler<Connection = C>,
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

    /// Says that nothing more follows, once everything is sent.
    fn say_all(&mut self) -> Fate {
        if self.machine.transmit().is_empty() && !self.said_all {
            self.said_all = true;
            if shutdown(&self.socket, Shutdown::Write).is_err() {
                return Fate::Remove;
            }
        }
        Fate::Stay
    }

    /// Throws away what still comes until the client closes its side.
    fn linger(&mut self, event: Event, now: Instant) -> Fate {
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

    /// Sends once: what the socket does not take now waits until it is ready for more.
    fn flush(&mut self, now: Instant) -> Fate {
        let unsent = self.machine.transmit();
        if unsent.is_empty() {
            return Fate::Stay;
        }
        match send(&self.socket, unsent, SendFlags::NOSIGNAL) {
            Ok(count) => self.machine.transmitted(count, now),
            Err(Errno::AGAIN | Errno::INTR) => self.machine.transmitted(0, now),
            Err(_) => return Fate::Remove,
        }
        Fate::Stay
    }
}
