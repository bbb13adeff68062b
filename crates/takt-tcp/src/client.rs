//! The client's loop: one connection, one thread, blocking or spinning.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use takt_rt::clock::after;
use takt_ua::binary::{EncodeError, Encoder};

use crate::client_connection::{ClientConnection, Step};
use crate::client_error::TcpClientError;
use crate::config::ClientConnectionConfig;
use crate::error::TransportError;
use crate::inbound::Body;
use takt_ua::endpoint_url::EndpointUrl;

/// The shortest time for which a socket's own timeout is used. That timeout is as coarse as the kernel's timer tick
/// (up to 10 ms); shorter waits take one more system call.
const COARSE: Duration = Duration::from_millis(100);

/// Way of waiting for a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WaitMode {
    /// Sleep in the kernel until the response arrives.
    #[default]
    Block,
    /// Poll without pause: the shortest latency, at the cost of a whole core.
    Spin,
    /// Spin for this time, then block.
    SpinThenBlock(Duration),
}

/// Configuration of a [`TcpClient`].
#[derive(Debug, Clone, Default)]
pub struct TcpClientConfig {
    /// Limits and security.
    pub connection: ClientConnectionConfig,
    /// Way of waiting for responses.
    pub wait: WaitMode,
}

/// A connection with an open SecureChannel to an opc.tcp server of any vendor.
///
/// The first request after three quarters of the security token's lifetime renews the token, and so does a wait for a response. A client
/// that does neither for longer calls [`maintain`](Self::maintain) regularly.
#[derive(Debug)]
pub struct TcpClient {
    socket: TcpStream,
    machine: ClientConnection,
    url: EndpointUrl,
    wait: WaitMode,
    /// Current receive timeout of the socket itself.
    receive_timeout: Duration,
}

impl TcpClient {
    /// Connects and opens a SecureChannel, within `timeout`; resolving a host name is not included.
    ///
    /// # Errors
    /// [`TcpClientError`]; a server's refusal is a [`TransportError::Peer`].
    pub fn connect(
        url: &EndpointUrl,
        config: TcpClientConfig,
        timeout: Duration,
    ) -> Result<Self, TcpClientError> {
        let wait = Wait::begin(timeout);
        let socket = connect_socket(url, &wait).map_err(|error| TcpClientError::Connect {
            url: url.clone(),
            error,
        })?;
        Self::open(socket, url, &url.to_string(), config, &wait)
    }

    /// Opens a SecureChannel over a connection that the server has opened, with the EndpointUrl of its ReverseHello: see
    /// [`ReverseListener::take`](crate::ReverseListener::take).
    ///
    /// # Errors
    /// [`TcpClientError`]; a server's refusal is a [`TransportError::Peer`].
    pub fn accept(
        socket: TcpStream,
        url: &EndpointUrl,
        endpoint_url: &str,
        config: TcpClientConfig,
        timeout: Duration,
    ) -> Result<Self, TcpClientError> {
        let wait = Wait::begin(timeout);
        let failed = |_| TransportError::Closed;
        // The waiting room has used it without blocking; this client waits with the socket's own timeout.
        socket.set_nonblocking(false).map_err(failed)?;
        socket.set_nodelay(true).map_err(failed)?;
        Self::open(socket, url, endpoint_url, config, &wait)
    }

    fn open(
        socket: TcpStream,
        url: &EndpointUrl,
        endpoint_url: &str,
        config: TcpClientConfig,
        wait: &Wait,
    ) -> Result<Self, TcpClientError> {
        let machine = ClientConnection::new(config.connection, endpoint_url);
        let mut client = Self {
            socket,
            machine,
            url: url.clone(),
            wait: config.wait,
            // It differs from every timeout, so the first wait sets that of the socket.
            receive_timeout: Duration::ZERO,
        };
        while !client.machine.is_open() {
            client.flush(wait)?;
            client.receive_bytes(wait)?;
            client.discard_all()?;
        }
        Ok(client)
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn url(&self) -> &EndpointUrl {
        &self.url
    }

    /// Returns the SecureChannelId that the server assigned.
    #[must_use]
    pub fn channel_id(&self) -> u32 {
        self.machine.channel_id()
    }

    /// Returns whether requests can be sent, as far as the client knows.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.machine.is_open()
    }

    /// Changes the way of waiting for responses.
    pub fn set_wait_mode(&mut self, wait: WaitMode) {
        self.wait = wait;
    }

    /// Sends the request (TypeId and structure) that `encode` writes, and waits for its response, which stays in the
    /// receive buffer: TypeId and structure, possibly a ServiceFault. Responses to other requests that arrive
    /// meanwhile are discarded.
    ///
    /// # Errors
    /// [`TcpClientError`].
    pub fn request(
        &mut self,
        timeout: Duration,
        encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<&[u8], TcpClientError> {
        let wait = Wait::begin(timeout);
        let wanted = self.send_in(&wait, encode)?;
        let (_, body) = self.response(Some(wanted), &wait)?;
        Ok(self.machine.body(&body))
    }

    /// Sends a request without waiting for its response: see [`receive`](Self::receive).
    ///
    /// # Errors
    /// [`TcpClientError`]. A server that does not read before its responses are received makes this time out; keep no
    /// more unanswered requests than the server accepts.
    pub fn send(
        &mut self,
        timeout: Duration,
        encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<u32, TcpClientError> {
        self.send_in(&Wait::begin(timeout), encode)
    }

    /// Waits for the next response to any request.
    ///
    /// # Errors
    /// [`TcpClientError`].
    pub fn receive(&mut self, timeout: Duration) -> Result<(u32, &[u8]), TcpClientError> {
        let (request_id, body) = self.response(None, &Wait::begin(timeout))?;
        Ok((request_id, self.machine.body(&body)))
    }

    /// Renews the security token if it is due, and notices a connection that the server has closed. A client that
    /// sends nothing else calls this at least once per quarter of the token's lifetime (revised by the server; an
    /// hour if it agreed). Responses that were not received yet are discarded.
    ///
    /// # Errors
    /// [`TcpClientError`].
    pub fn maintain(&mut self, timeout: Duration) -> Result<(), TcpClientError> {
        let wait = Wait::begin(timeout);
        self.machine.handle_timeout(wait.start)?;
        self.flush(&wait)?;
        self.discard_all()?;
        // This finds a connection that the server has closed, even if no renewal is due.
        self.receive_some(RecvFlags::DONTWAIT)?;
        self.discard_all()?;
        // There is no next timeout while a renewal is under way.
        while self.machine.is_open() && self.machine.next_timeout().is_none() {
            self.receive_bytes(&wait)?;
            self.discard_all()?;
        }
        Ok(())
    }

    fn discard_all(&mut self) -> Result<(), TransportError> {
        while !matches!(self.machine.step(Instant::now())?, Step::Nothing) {}
        Ok(())
    }

    /// Tells the server that the channel is closed (OPC 10000-6, 7.1.4); so does dropping the client.
    pub fn close(self) {}

    fn send_in(
        &mut self,
        wait: &Wait,
        encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<u32, TcpClientError> {
        self.machine.handle_timeout(wait.start)?;
        let request_id = self.machine.request(encode)?;
        self.flush(wait)?;
        Ok(request_id)
    }

    /// Waits for the response to request `wanted`, or for any response.
    fn response(
        &mut self,
        wanted: Option<u32>,
        wait: &Wait,
    ) -> Result<(u32, Body), TcpClientError> {
        loop {
            loop {
                match self.machine.step(Instant::now())? {
                    Step::Nothing => break,
                    Step::Opened => {}
                    Step::Response { request_id, body } => {
                        if wanted.is_none_or(|wanted| wanted == request_id) {
                            return Ok((request_id, body));
                        }
                    }
                    Step::Aborted {
                        request_id,
                        status,
                        reason,
                    } => {
                        if wanted.is_none_or(|wanted| wanted == request_id) {
                            return Err(TcpClientError::Aborted {
                                request_id,
                                status,
                                reason,
                            });
                        }
                    }
                }
            }
            self.receive_or_renew(wait)?;
        }
    }

    /// Receives at least one byte. A security token that is due meanwhile is renewed: the server may have nothing to send for longer.
    fn receive_or_renew(&mut self, wait: &Wait) -> Result<(), TcpClientError> {
        while let Some(renewal) = self.machine.next_timeout()
            && renewal < wait.deadline
        {
            match self.receive_bytes(&wait.until(renewal)) {
                // This is not the caller's timeout: the renewal is due.
                Err(TcpClientError::Timeout) => {
                    self.machine.handle_timeout(Instant::now())?;
                    self.flush(wait)?;
                }
                received => return received,
            }
        }
        self.receive_bytes(wait)
    }

    /// Sends all pending bytes.
    fn flush(&mut self, wait: &Wait) -> Result<(), TcpClientError> {
        while !self.machine.transmit().is_empty() {
            // The socket blocks: without DONTWAIT, a server that does not read would hold the caller past its timeout.
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match send(&self.socket, self.machine.transmit(), flags) {
                Ok(count) => self.machine.transmitted(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait_for_room(wait)?,
                Err(_) => return Err(self.last_words()),
            }
        }
        Ok(())
    }

    fn wait_for_room(&self, wait: &Wait) -> Result<(), TcpClientError> {
        let remaining = wait.remaining();
        if remaining.is_zero() {
            return Err(TcpClientError::Timeout);
        }
        self.wait_for(PollFlags::OUT, remaining);
        Ok(())
    }

    /// Waits until the socket is ready, for at most `timeout`. Errors of the socket are reported by the next call.
    fn wait_for(&self, what: PollFlags, timeout: Duration) {
        let mut fds = [PollFd::new(&self.socket, what)];
        let _ = poll(&mut fds, Timespec::try_from(timeout).ok().as_ref());
    }

    /// Receives at least one byte.
    fn receive_bytes(&mut self, wait: &Wait) -> Result<(), TcpClientError> {
        let spin_until = match self.wait {
            WaitMode::Block => None,
            WaitMode::Spin => Some(wait.deadline),
            WaitMode::SpinThenBlock(spin) => Some(wait.deadline.min(after(Instant::now(), spin))),
        };
        if let Some(until) = spin_until {
            loop {
                if self.receive_some(RecvFlags::DONTWAIT)? {
                    return Ok(());
                }
                if Instant::now() >= until {
                    break;
                }
                std::hint::spin_loop();
            }
            if until == wait.deadline {
                return Err(TcpClientError::Timeout);
            }
        }
        // Not the rest of it: a constant timeout spares the system call that changes that of the socket.
        let mut remaining = wait.timeout;
        loop {
            let flags = if remaining < COARSE {
                self.wait_for(PollFlags::IN, remaining);
                RecvFlags::DONTWAIT
            } else {
                self.set_receive_timeout(remaining)?;
                RecvFlags::empty()
            };
            if self.receive_some(flags)? {
                return Ok(());
            }
            remaining = wait.remaining();
            if remaining.is_zero() {
                return Err(TcpClientError::Timeout);
            }
        }
    }

    /// One receive; returns `false` if nothing arrived within the time that the socket or `flags` allow.
    fn receive_some(&mut self, flags: RecvFlags) -> Result<bool, TcpClientError> {
        let space = self.machine.receive_space();
        if space.is_empty() {
            // The buffer is full of complete responses: handle these first.
            return Ok(true);
        }
        match recv(&self.socket, space, flags) {
            Ok((_, count)) if count > 0 => {
                self.machine.received(count);
                Ok(true)
            }
            // A signal counts as nothing received: the caller looks at its deadline and waits again.
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Ok(_) | Err(_) => Err(self.broken()),
        }
    }

    /// Sets the socket's own timeout, with which waiting takes one system call. It is set only if it differs by more
    /// than an eighth, so that a constant timeout costs no system call.
    fn set_receive_timeout(&mut self, timeout: Duration) -> Result<(), TcpClientError> {
        if self.receive_timeout.abs_diff(timeout) > timeout / 8 {
            let set = self.socket.set_read_timeout(Some(timeout));
            set.map_err(|_| TransportError::Closed)?;
            self.receive_timeout = timeout;
        }
        Ok(())
    }

    /// Returns the error after a failed send. The server may have sent its reason before it closed the connection.
    fn last_words(&mut self) -> TcpClientError {
        while let Ok(true) = self.receive_some(RecvFlags::DONTWAIT) {
            if let Err(error) = self.discard_all() {
                return error.into();
            }
        }
        self.broken()
    }

    /// Returns the error of a socket that has failed or was closed by the server.
    fn broken(&mut self) -> TcpClientError {
        self.machine.close();
        TransportError::Closed.into()
    }
}

/// Time that a caller is willing to wait.
#[derive(Debug, Clone, Copy)]
struct Wait {
    start: Instant,
    timeout: Duration,
    deadline: Instant,
}

impl Wait {
    fn begin(timeout: Duration) -> Self {
        let start = Instant::now();
        Self {
            start,
            timeout,
            deadline: after(start, timeout),
        }
    }

    /// Returns the part of the wait up to `deadline`.
    fn until(&self, deadline: Instant) -> Self {
        Self {
            start: self.start,
            timeout: deadline.saturating_duration_since(Instant::now()),
            deadline,
        }
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

fn connect_socket(url: &EndpointUrl, wait: &Wait) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in url.resolve()? {
        let remaining = wait.remaining();
        // `connect_timeout` reports a timeout of zero as invalid input.
        if remaining.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, remaining) {
            Ok(socket) => {
                // A request must not wait for the acknowledgement of the one before.
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl AsFd for TcpClient {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for TcpClient {
    fn drop(&mut self) {
        self.machine.close();
        // Unsent bytes are not waited for: the server sees the socket close.
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let _ = send(&self.socket, self.machine.transmit(), flags);
    }
}
