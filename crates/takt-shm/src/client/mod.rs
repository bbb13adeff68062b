//! Client: one connection to one application.

mod connect;
mod current;
mod receive;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_rt::readiness::{Events, Readiness};
use takt_rt::segment::SegmentView;
use takt_rt::shared_bytes::SharedBytes;
use takt_rt::waiting::SpinBudget;
use takt_ua::StatusCode;
use takt_ua::binary::{EncodeError, Encoder};

use crate::channel::attention::ServerState;
use crate::channel::doorbell::Doorbell;
use crate::channel::inbox::{Inbox, Message};
use crate::channel::liveness::Liveness;
use crate::channel::outbox::{Full, Outbox};
use crate::channel::post::PostBox;
use crate::channel::socket::{self, PeerCredentials, Post};
use crate::directory::runtime::Runtime;
use crate::error::ShmError;
use crate::header::{MAX_MESSAGE, MessageHeader};
use crate::wait_policy::WaitPolicy;

pub(crate) use connect::{hello, reach};
pub use current::CurrentValuePlace;

/// Options of a client.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Way of waiting for responses.
    pub wait: WaitPolicy,
    /// Length of the longest accepted response, in bytes.
    pub max_response: u32,
    /// Runtime directory other than the usual one of the user or the group.
    pub runtime_directory: Option<PathBuf>,
    /// Unix group, by name or number, with which the application shares; by default it is one of the same user.
    pub group: Option<String>,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            wait: WaitPolicy::default(),
            max_response: MAX_MESSAGE,
            runtime_directory: None,
            group: None,
        }
    }
}

/// Connection to the endpoint `opc.iox2://<ApplicationName>`, with a channel of its own.
///
/// A request allocates nothing once its largest request and response have been seen. When the server ends or dies, a waiting
/// request fails at once with [`ShmError::ConnectionClosed`], as do all later ones: make a new connection then.
pub struct ShmClient {
    outbox: Outbox,
    inbox: Inbox,
    socket: Connected,
    state: ServerState,
    /// Doorbell of the server.
    doorbell: Doorbell,
    /// Readiness of the socket.
    readiness: Readiness,
    events: Events,
    wait: WaitPolicy,
    /// Learned spinning time of the client, if its policy is adaptive.
    budget: Option<SpinBudget>,
    next_id: u32,
    /// Id of the request that was refused last.
    refused: u32,
    closed: bool,
    response: Vec<u8>,
    peer: PeerCredentials,
    /// Memory with current values.
    values: HashMap<u32, Arc<SegmentView>>,
    alive: Option<Liveness>,
    _runtime: Arc<Runtime>,
}

/// Connected socket; it sends Goodbye when it is dropped.
#[derive(Debug)]
struct Connected(PostBox);

impl Connected {
    fn socket(&self) -> &OwnedFd {
        self.0.socket()
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        socket::say_goodbye(self.0.socket());
    }
}

/// Descriptor of the socket, which hangs up when the server ends.
impl AsFd for ShmClient {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.socket().as_fd()
    }
}

impl ShmClient {
    /// Sends a request and waits for its response.
    ///
    /// `encode` writes TypeId and structure of the request (OPC 10000-6, 5.2.2.15 and 6.7.2.5) directly into shared memory; if
    /// the memory turns out to be too small, it runs again with more. The response is copied out of shared memory, where the
    /// server could still change it.
    ///
    /// # Errors
    /// [`ShmError::ConnectionClosed`] when the server has ended, [`ShmError::Timeout`] when there is no answer in time (a late
    /// answer is discarded), [`ShmError::Refused`] when it answered with a StatusCode instead of a message, [`ShmError::Busy`]
    /// when it has too many requests of this client already.
    pub fn request(
        &mut self,
        encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<&[u8], ShmError> {
        let message = self.exchange(encode, timeout)?;
        self.inbox.body(&message).copy_into(&mut self.response);
        Ok(&self.response)
    }

    /// Sends a request and waits for its response, which stays in the server's memory until the next request: only the bytes that
    /// are read are copied. A broken server could still be writing there, so its content has to be copied out before it is
    /// checked.
    ///
    /// # Errors
    /// The errors are those of [`request`](Self::request).
    pub fn request_in_place(
        &mut self,
        encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<SharedBytes<'_>, ShmError> {
        let message = self.exchange(encode, timeout)?;
        Ok(self.inbox.body(&message))
    }

    fn exchange(
        &mut self,
        encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<Message, ShmError> {
        // The clock is read while the server has the request.
        let result = self
            .post(0, encode, timeout)
            .and_then(|id| self.wait_for(Some(id), Instant::now(), timeout));
        self.prepare_next();
        self.note(result)
    }

    /// Sends a request without waiting for its response: see [`receive`](Self::receive).
    ///
    /// # Errors
    /// The errors of [`request`](Self::request), apart from those of the response.
    pub fn send(
        &mut self,
        encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<u32, ShmError> {
        let sent = self.post(0, encode, timeout);
        self.note(sent)
    }

    /// Waits for the next response to any request: its id, and the message or the StatusCode of its refusal. Answers that came
    /// too late for [`request`](Self::request) are among them.
    ///
    /// # Errors
    /// [`ShmError::Timeout`] when there was none in time, [`ShmError::ConnectionClosed`] when the server has ended.
    pub fn receive(
        &mut self,
        timeout: Duration,
    ) -> Result<(u32, Result<&[u8], StatusCode>), ShmError> {
        if self.closed {
            return Err(ShmError::ConnectionClosed);
        }
        let result = self.wait_for(None, Instant::now(), timeout);
        self.prepare_next();
        match self.note(result) {
            Ok(message) => {
                self.inbox.body(&message).copy_into(&mut self.response);
                Ok((message.header.request_id, Ok(&self.response)))
            }
            Err(ShmError::Refused(status)) => Ok((self.refused, Err(status))),
            Err(error) => Err(error),
        }
    }

    /// Remembers an error that ends the connection.
    fn note<T>(&mut self, result: Result<T, ShmError>) -> Result<T, ShmError> {
        if let Err(error) = &result {
            self.closed |= error.is_fatal();
        }
        result
    }

    fn post(
        &mut self,
        flags: u32,
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
            flags,
            timeout_nanos: u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX),
            ..MessageHeader::default()
        };
        self.outbox.acknowledge_with_next(self.inbox.received());
        // First: the places of messages that the server has taken are free again.
        self.outbox.free_taken(self.inbox.taken());
        let post = &self.socket.0;
        let sent = self.outbox.send(
            header,
            &mut |generation, fd| post.pass_on(generation, fd),
            encode,
        )?;
        match sent {
            Ok(()) => {
                self.call();
                Ok(id)
            }
            // The places may be taken because the server has ended, which only the kernel knows.
            Err(Full) if self.is_connected() => {
                // The server may wait for room, as this side does.
                self.make_room();
                Err(ShmError::Busy("requests without an answer"))
            }
            Err(Full) => Err(ShmError::ConnectionClosed),
        }
    }

    /// Prepares the memory of the next request: the server has read the last one.
    #[inline]
    fn prepare_next(&mut self) {
        self.outbox.free_taken(self.inbox.taken());
        self.outbox.prepare();
    }

    /// Makes the server look at the channel of this client.
    #[inline]
    fn call(&self) {
        self.state.call(|| self.doorbell.ring(&self.socket.0));
    }

    /// Returns true if the server is still there. It asks the kernel, which knows at once.
    #[must_use]
    pub fn is_connected(&mut self) -> bool {
        !self.closed && matches!(self.socket.0.receive(), Post::Nothing)
    }

    /// Returns the Unix user id of the server, from the kernel.
    #[must_use]
    pub fn server_user(&self) -> u32 {
        self.peer.user
    }

    /// Returns the process id of the server, from the kernel; 0 if it is in a PID namespace that cannot be seen from this one.
    #[must_use]
    pub fn server_process(&self) -> u32 {
        self.peer.process
    }

    /// Returns the length of the longest request that the server takes, in bytes.
    #[must_use]
    pub fn max_request(&self) -> u32 {
        self.outbox.limit()
    }

    /// Returns the way in which this side waits.
    #[must_use]
    pub fn wait_policy(&self) -> WaitPolicy {
        self.wait
    }

    /// Sets the way of waiting, from the next request on.
    pub fn set_wait_policy(&mut self, wait: WaitPolicy) {
        self.wait = wait;
        self.budget = wait.budget();
    }
}
