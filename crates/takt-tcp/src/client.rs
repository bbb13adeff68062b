//! The client's loop: one connection, one thread, blocking or spinning.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use takt_ua::binary::{EncodeError, Encoder};

use crate::client_connection::{ClientConnection, Step};
use crate::client_error::ClientError;
use crate::config::ClientConnectionConfig;
use crate::endpoint_url::EndpointUrl;
use crate::error::TransportError;
use crate::inbound::Body;

/// A socket's own timeout is as coarse as the kernel's timer tick (up to 10 ms): shorter times are waited for with a
/// system call more.
const COARSE: Duration = Duration::from_millis(100);

/// How to wait for a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WaitMode {
    /// Sleep in the system until it comes.
    #[default]
    Block,
    /// Look again and again: the shortest latency, and a whole core.
    Spin,
    /// Spin for so long, then block.
    SpinThenBlock(Duration),
}

/// How a [`TcpClient`] connects and waits.
#[derive(Debug, Clone, Default)]
pub struct TcpClientConfig {
    /// Limits and security.
    pub connection: ClientConnectionConfig,
    /// How to wait for responses.
    pub wait: WaitMode,
}

/// A connection with an open SecureChannel to an opc.tcp server, ours or anybody's.
///
/// The security token is renewed by whatever request comes after three quarters of its lifetime. Who is silent for
/// longer calls [`maintain`](Self::maintain) now and then.
#[derive(Debug)]
pub struct TcpClient {
    socket: TcpStream,
    machine: ClientConnection,
    url: EndpointUrl,
    wait: WaitMode,
    /// What the socket's own receive timeout is set to.
    receive_timeout: Duration,
}

impl TcpClient {
    /// Connects and opens a SecureChannel, all in `timeout` (except asking the resolver for a host name).
    ///
    /// # Errors
    /// [`ClientError`]; a server's refusal is a [`TransportError::Peer`].
    pub fn connect(
        url: &EndpointUrl,
        config: TcpClientConfig,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let wait = Wait::begin(timeout);
        let socket = connect_socket(url, &wait).map_err(|error| ClientError::Connect {
            url: url.clone(),
            error,
        })?;
        let machine = ClientConnection::new(config.connection, &url.to_string());
        let mut client = Self {
            socket,
            machine,
            url: url.clone(),
            wait: config.wait,
            receive_timeout: Duration::ZERO,
        };
        while !client.machine.is_open() {
            client.flush(&wait)?;
            client.receive_bytes(&wait)?;
            client.discard_all()?;
        }
        Ok(client)
    }

    /// Where it is connected to.
    #[must_use]
    pub fn url(&self) -> &EndpointUrl {
        &self.url
    }

    /// The SecureChannelId that the server gave.
    #[must_use]
    pub fn channel_id(&self) -> u32 {
        self.machine.channel_id()
    }

    /// Whether requests can be sent, as far as is known here.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.machine.is_open()
    }

    /// Changes how to wait.
    pub fn set_wait_mode(&mut self, wait: WaitMode) {
        self.wait = wait;
    }

    /// Sends the request (TypeId and structure) that `encode` writes, and waits for its response, which stays in the receive
    /// buffer: TypeId and structure, perhaps a ServiceFault. Responses to other requests that come meanwhile are
    /// thrown away.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn request(
        &mut self,
        timeout: Duration,
        encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<&[u8], ClientError> {
        let wait = Wait::begin(timeout);
        let wanted = self.send_in(&wait, encode)?;
        let (_, body) = self.response(Some(wanted), &wait)?;
        Ok(self.machine.body(&body))
    }

    /// Sends a request without waiting for its response: see [`receive`](Self::receive).
    ///
    /// # Errors
    /// [`ClientError`]. A server that does not read until its responses are taken makes this time out: have no more
    /// unanswered requests than it accepts.
    pub fn send(
        &mut self,
        timeout: Duration,
        encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<u32, ClientError> {
        self.send_in(&Wait::begin(timeout), encode)
    }

    /// Waits for the next response, whichever request it answers.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn receive(&mut self, timeout: Duration) -> Result<(u32, &[u8]), ClientError> {
        let (request_id, body) = self.response(None, &Wait::begin(timeout))?;
        Ok((request_id, self.machine.body(&body)))
    }

    /// Renews the security token if it is time, and takes notice if the server has ended the connection. To be called at
    /// least each quarter of the token's lifetime (revised by the server; an hour if it agreed) by who sends nothing else.
    /// Responses that nobody has received yet are thrown away.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn maintain(&mut self, timeout: Duration) -> Result<(), ClientError> {
        let wait = Wait::begin(timeout);
        self.machine.handle_timeout(wait.start)?;
        self.flush(&wait)?;
        self.discard_all()?;
        self.receive_some(RecvFlags::DONTWAIT)?;
        self.discard_all()?;
        // While a renewal is under way there is no time for the next.
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

    /// Tells the server that the channel is closed (OPC 10000-6 7.1.4); so does dropping the client.
    pub fn close(self) {}

    fn send_in(
        &mut self,
        wait: &Wait,
        encode: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<u32, ClientError> {
        self.machine.handle_timeout(wait.start)?;
        let request_id = self.machine.request(encode)?;
        self.flush(wait)?;
        Ok(request_id)
    }

    /// Waits for a response, `wanted` or any.
    fn response(&mut self, wanted: Option<u32>, wait: &Wait) -> Result<(u32, Body), ClientError> {
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
                            return Err(ClientError::Aborted { status, reason });
                        }
                    }
                }
            }
            self.receive_bytes(wait)?;
        }
    }

    /// Sends everything that is to be sent.
    fn flush(&mut self, wait: &Wait) -> Result<(), ClientError> {
        while !self.machine.transmit().is_empty() {
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

    fn wait_for_room(&self, wait: &Wait) -> Result<(), ClientError> {
        let remaining = wait.remaining();
        if remaining.is_zero() {
            return Err(ClientError::Timeout);
        }
        self.wait_for(PollFlags::OUT, remaining);
        Ok(())
    }

    /// Waits until the socket is ready, exactly `timeout` at most. Whatever is wrong with it, the next call says so.
    fn wait_for(&self, what: PollFlags, timeout: Duration) {
        let mut fds = [PollFd::new(&self.socket, what)];
        let _ = poll(&mut fds, Timespec::try_from(timeout).ok().as_ref());
    }

    /// Receives at least one byte.
    fn receive_bytes(&mut self, wait: &Wait) -> Result<(), ClientError> {
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
                return Err(ClientError::Timeout);
            }
        }
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
                return Err(ClientError::Timeout);
            }
        }
    }

    /// One receive; `false` when nothing came in the time that the socket or `flags` allow.
    fn receive_some(&mut self, flags: RecvFlags) -> Result<bool, ClientError> {
        let space = self.machine.receive_space();
        if space.is_empty() {
            // Full of responses that are complete: there is enough to do.
            return Ok(true);
        }
        match recv(&self.socket, space, flags) {
            Ok((_, count)) if count > 0 => {
                self.machine.received(count);
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Ok(_) | Err(_) => Err(self.broken()),
        }
    }

    /// The socket's own timeout makes waiting one system call. It is only set anew when it differs by more than an eighth,
    /// so that one timeout for all requests costs nothing.
    fn set_receive_timeout(&mut self, timeout: Duration) -> Result<(), ClientError> {
        if self.receive_timeout.abs_diff(timeout) > timeout / 8 {
            let set = self.socket.set_read_timeout(Some(timeout));
            set.map_err(|_| TransportError::Closed)?;
            self.receive_timeout = timeout;
        }
        Ok(())
    }

    /// Sending failed: the server may have said why before it closed the connection.
    fn last_words(&mut self) -> ClientError {
        while let Ok(true) = self.receive_some(RecvFlags::DONTWAIT) {
            if let Err(error) = self.discard_all() {
                return error.into();
            }
        }
        self.broken()
    }

    /// The socket has failed, or the server closed it.
    fn broken(&mut self) -> ClientError {
        self.machine.close();
        TransportError::Closed.into()
    }
}

/// How long a caller is willing to wait.
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

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// `start + duration`, where `Duration::MAX` means that somebody has a lot of time.
fn after(start: Instant, duration: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    start + duration.min(YEAR)
}

fn connect_socket(url: &EndpointUrl, wait: &Wait) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in url.resolve()? {
        let remaining = wait.remaining();
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
        // What does not go out at once is not worth waiting for: the server sees the socket close.
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let _ = send(&self.socket, self.machine.transmit(), flags);
    }
}
