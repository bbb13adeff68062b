//! The client: one connection to one application.

mod connect;
pub(crate) mod public;
mod receive;
#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iceoryx2::prelude::Node;
use takt_rt::readiness::Waker;
use takt_ua::StatusCode;
use takt_ua::binary::{EncodeError, Encoder};

use crate::channel::{NotDelivered, Receiver, Sender};
use crate::error::ShmError;
use crate::header::{FLAG_WAKE, MessageHeader};
use crate::pooled_ipc::PooledIpc;
use crate::runtime::Runtime;
use crate::socket;
use crate::wait::WaitPolicy;

/// How a client is set up.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// How it waits for responses.
    pub wait: WaitPolicy,
    /// The longest response, in bytes, that it takes.
    pub max_response: u32,
    /// Another runtime directory than the usual one.
    pub runtime_directory: Option<PathBuf>,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            wait: WaitPolicy::default(),
            max_response: 64 << 20,
            runtime_directory: None,
        }
    }
}

/// A connection to the endpoint `opc.iox2://<ApplicationName>`, with a channel of its own.
///
/// A request allocates nothing once its largest request and response have been seen. When the server ends or dies, a waiting
/// request fails at once with [`ShmError::ConnectionClosed`], as do all later ones: make a new connection then.
pub struct ShmClient {
    // The order matters when the client is dropped: ports before the node, and goodbye when nothing is left to clean up.
    sender: Sender,
    receiver: Receiver,
    _node: Node<PooledIpc>,
    socket: Connected,
    /// The server sleeps on it; `None` if it spins.
    server: Option<Waker>,
    /// We sleep on it.
    doorbell: Waker,
    wait: WaitPolicy,
    max_response: u32,
    next_id: u32,
    /// The request that the last response was for.
    answered: u32,
    /// Requests whose answers have not come yet, or were not waited for.
    outstanding: u32,
    closed: bool,
    response: Vec<u8>,
    server_process: u32,
    _runtime: Arc<Runtime>,
}

/// The socket; says goodbye when dropped.
#[derive(Debug)]
struct Connected(OwnedFd);

impl Drop for Connected {
    fn drop(&mut self) {
        socket::say_goodbye(&self.0);
    }
}

impl ShmClient {
    /// Sends a request and waits for its response.
    ///
    /// `encode` writes TypeId and structure of the request (OPC 10000-6, 5.2.2.15 and 6.7.2.5) straight into shared memory; if
    /// the memory turns out to be too small it runs again with more. The response is copied out of shared memory,
    /// where the server could still change it.
    ///
    /// # Errors
    /// [`ShmError::ConnectionClosed`] when the server has ended, [`ShmError::Timeout`] when there is no answer in time (a
    /// late answer is discarded), [`ShmError::Refused`] when it answered with a StatusCode instead of a message,
    /// [`ShmError::Busy`] when it has too many of our requests already.
    pub fn request(
        &mut self,
        encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<&[u8], ShmError> {
        match self.exchange(encode, timeout) {
            Ok(()) => Ok(&self.response),
            Err(error) => {
                self.closed |= error.is_fatal();
                Err(error)
            }
        }
    }

    fn exchange(
        &mut self,
        encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<(), ShmError> {
        let start = Instant::now();
        if self.outstanding > 0 && !self.closed {
            self.discard_late()?;
        }
        let id = self.post(encode, timeout)?;
        self.wait_for(Some(id), start, timeout)
    }

    /// Sends a request without waiting for its response: see [`receive`](Self::receive). Have no more than three such
    /// requests unanswered: there is room for four responses, and those that do not fit are lost.
    ///
    /// # Errors
    /// As [`request`](Self::request), apart from those of the response.
    pub fn send(
        &mut self,
        encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<u32, ShmError> {
        let sent = self.post(encode, timeout);
        if let Err(error) = &sent {
            self.closed |= error.is_fatal();
        }
        sent
    }

    /// Waits for the next response, whichever request it answers: its id, and the message or the StatusCode that it
    /// was refused with.
    ///
    /// # Errors
    /// [`ShmError::Timeout`] when nothing came in time, [`ShmError::ConnectionClosed`] when the server has ended.
    pub fn receive(
        &mut self,
        timeout: Duration,
    ) -> Result<(u32, Result<&[u8], StatusCode>), ShmError> {
        if self.closed {
            return Err(ShmError::ConnectionClosed);
        }
        match self.wait_for(None, Instant::now(), timeout) {
            Ok(()) => Ok((self.answered, Ok(&self.response))),
            Err(ShmError::Refused(status)) => Ok((self.answered, Err(status))),
            Err(error) => {
                self.closed |= error.is_fatal();
                Err(error)
            }
        }
    }

    fn post(
        &mut self,
        encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<u32, ShmError> {
        if self.closed {
            return Err(ShmError::ConnectionClosed);
        }
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        let header = MessageHeader {
            request_id: id,
            flags: if self.wait.sleeps() { FLAG_WAKE } else { 0 },
            timeout_nanos: u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX),
            ..MessageHeader::default()
        };
        match self.sender.send(header, encode)? {
            Ok(()) => self.outstanding = self.outstanding.saturating_add(1),
            Err(NotDelivered) if self.is_connected() => {
                return Err(ShmError::Busy("requests without an answer"));
            }
            Err(NotDelivered) => return Err(ShmError::ConnectionClosed),
        }
        if let Some(server) = &self.server {
            server.wake();
        }
        Ok(id)
    }

    /// Whether the server is still there. Asks the kernel, which knows at once.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        !self.closed && socket::ending(&self.socket.0) == socket::Ending::None
    }

    /// The process id of the server, from the kernel.
    #[must_use]
    pub fn server_process(&self) -> u32 {
        self.server_process
    }

    /// The longest request, in bytes, that the server takes.
    #[must_use]
    pub fn max_request(&self) -> u32 {
        self.sender.limit()
    }

    /// How this side waits.
    #[must_use]
    pub fn wait_policy(&self) -> WaitPolicy {
        self.wait
    }

    /// Waits in another way from the next request on.
    pub fn set_wait_policy(&mut self, wait: WaitPolicy) {
        self.wait = wait;
    }
}
