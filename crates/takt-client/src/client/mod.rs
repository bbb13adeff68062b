//! A session with one application, over the transport of its endpoint.
//!
//! [`Client`] opens the connection and the session (OPC 10000-4, 5.7), sends one request at a time, and reconnects
//! automatically: after a lost connection the next request connects again, and a request that changes nothing is sent
//! once more. Only [`Client::connect`] waits for a server that is not there: requests make one attempt, so that the
//! end of a server is an error at once. A Client is used by one thread.

mod answer_budget;
mod attribute;
mod attributes;
mod batches;
mod browse_path;
mod certificates;
mod choice;
mod connection;
mod current;
mod data_type_cache;
mod data_types;
mod discovery;
mod ephemeral_key;
mod event_fields;
mod event_query;
mod find_by_type;
mod history;
mod in_place;
mod left_sessions;
mod link;
mod message;
mod methods;
mod namespace_array;
mod namespaces;
mod offers;
mod options;
mod request;
mod requests;
mod security;
mod security_keys;
mod server_run;
mod session;
mod tokens;
mod transport;
mod unanswered;
mod value_in_place;
mod views;

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use takt_rt::clock::after;
use takt_rt::readiness::Waker;
use takt_rt::shared_bytes::SharedBytes;
use takt_ua::NodeId;
use takt_ua::binary::Encoder;
use takt_ua::structures::RequestHeader;

#[cfg(feature = "async")]
pub(crate) use self::{
    connection::Connection,
    history::HistoryServices,
    message::encode_message,
    security::Secured,
    transport::{tcp_error, timed_out, untrusted},
    views::ViewServices,
};
pub use answer_budget::AnswerBudget;
pub use attribute::Attribute;
pub(crate) use attributes::AttributeServices;
pub(crate) use batches::{Batched, Batches};
pub use choice::{ClientSecurity, SecurityChoice};
pub use current::CurrentValue;
pub use data_type_cache::{DataTypeCache, DeclaredValue};
pub use data_types::ValueType;
pub use discovery::DiscoveryClient;
pub use event_fields::DeclaredField;
pub use event_query::EventQuery;
pub use find_by_type::TypedNode;
pub use history::HistoryRange;
pub use in_place::OutputsInPlace;
pub use left_sessions::LeftSessions;
pub use options::{ClientOptions, Identity, ReverseClient, Waiting};
pub use request::{ServiceRequest, ServiceResponse};
pub(crate) use requests::{Requests, ready};
pub use transport::EncodedResponse;
pub use value_in_place::ValueInPlace;
pub use views::Follow;

use crate::endpoint::Endpoint;
use crate::error::{ClientError, ConnectionError};
pub(crate) use link::{Link, is_repeatable};
pub(crate) use message::{decode_message, remaining, request_header};
use namespace_array::NamespaceArray;
#[cfg(feature = "async")]
pub(crate) use session::CLOSING;
use session::Session;
use transport::Transport;

/// A session with one application.
pub struct Client {
    endpoint: Endpoint,
    options: ClientOptions,
    link: Link<Transport>,
    request_handle: u32,
    namespaces: NamespaceArray,
    batches: Batches,
    interrupt: Option<Waker>,
}

/// Pause between two attempts to connect, after the first attempt and after many.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

impl Client {
    /// Connects to `endpoint` and opens a session. A server that is not there yet is waited for, up to the timeout.
    pub fn connect(endpoint: &Endpoint, options: ClientOptions) -> Result<Self, ClientError> {
        let mut client = Self::new(endpoint, options);
        let deadline = client.deadline();
        let mut pause = SHORTEST_PAUSE;
        loop {
            match client.open(deadline) {
                Ok(()) => return Ok(client),
                Err(error) if !error.is_connection() => return Err(error),
                Err(error) if Instant::now() + pause >= deadline => return Err(error),
                Err(_) => std::thread::sleep(pause),
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Creates a Client that connects with its first request.
    pub fn new(endpoint: &Endpoint, options: ClientOptions) -> Self {
        if let (Endpoint::Tcp(url), Some(reverse)) = (endpoint, &options.reverse) {
            reverse.listener.expect(&options.expected(url));
        }
        Self {
            endpoint: endpoint.clone(),
            options,
            link: Link::default(),
            request_handle: 0,
            namespaces: NamespaceArray::default(),
            batches: Batches::default(),
            interrupt: None,
        }
    }

    /// Returns the endpoint of this Client.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the options of this Client.
    pub fn options(&self) -> &ClientOptions {
        &self.options
    }

    /// Changes the identity of the next session; an open session is closed.
    pub fn set_identity(&mut self, identity: Identity) {
        self.close();
        self.options.identity = identity;
    }

    /// Returns a budget for the answers to several calls together, with the limit of one call.
    pub fn answer_budget(&self) -> AnswerBudget {
        AnswerBudget::new(self.options.max_memory)
    }

    /// Time limit of a request, connecting included.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.options.timeout = timeout;
    }

    /// Returns whether a session is open, as far as this side knows.
    pub fn is_connected(&self) -> bool {
        self.link.connected.is_some()
    }

    /// Returns the number of sessions so far. Information from the server (its NamespaceArray, registered nodes) is
    /// valid for one epoch.
    pub fn epoch(&self) -> u64 {
        self.link.epoch
    }

    /// Resumes the session on a new connection after the loss of one, if the server still has it (OPC 10000-4, 5.7.3):
    /// its Subscriptions go on, and the [epoch](Self::epoch) stays.
    pub(crate) fn resume_sessions(&mut self) {
        self.link.resumes = true;
        ready(self.link.know_run(self.options.timeout));
    }

    /// Returns the number of connections so far. Responses that a connection still owes are lost with it.
    pub(crate) fn connections(&self) -> u64 {
        self.link.connections
    }

    /// Opens the connection and the session if there are none.
    pub(crate) fn reopen(&mut self) -> Result<(), ClientError> {
        let deadline = self.deadline();
        self.open(deadline)
    }

    /// Sends `request` and waits for its response.
    pub fn call<Q: ServiceRequest>(&mut self, mut request: Q) -> Result<Q::Response, ClientError> {
        let deadline = self.deadline();
        // One repetition: a server that ends twice may end because of this request.
        let mut attempts_left = 2;
        loop {
            attempts_left -= 1;
            let error = match self.call_once(&mut request, deadline) {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            if !is_repeatable::<Q>(&error) || attempts_left == 0 || Instant::now() >= deadline {
                return Err(error);
            }
            if error.is_session_lost() {
                // It is not closed: the server does not know it any more.
                self.disconnect();
            }
        }
    }

    /// Closes the session and the connection. The next request opens new ones.
    pub fn close(&mut self) {
        drop(ready(self.link.close(&self.endpoint, &self.options)));
    }

    /// Sets the interrupt, which ends [`wait_for_end`](Self::wait_for_end).
    pub fn set_interrupt(&mut self, interrupt: Waker) {
        self.interrupt = Some(interrupt);
    }

    /// Sleeps until the other side closes the connection or has died, the interrupt wakes, or the time has passed.
    pub fn wait_for_end(&self, timeout: Duration) {
        let interrupt = self.interrupt.iter();
        let mut descriptors: Vec<PollFd<'_>> = interrupt
            .map(|waker| PollFd::from_borrowed_fd(waker.as_fd(), PollFlags::IN))
            .collect();
        if let Some((transport, _)) = &self.link.connected {
            // Without IN: a late response shall not end the sleep.
            descriptors.push(PollFd::new(transport, PollFlags::RDHUP));
        }
        // `None`: no timeout, instead of one that is too long for the system.
        let timeout = Timespec::try_from(timeout).ok();
        // A signal may end the wait early, which is harmless.
        let _ = poll(&mut descriptors, timeout.as_ref());
    }

    /// Returns whether the other side has closed the connection, or died.
    pub fn is_hung_up(&self) -> bool {
        let Some((transport, _)) = &self.link.connected else {
            return false;
        };
        let mut descriptors = [PollFd::new(transport, PollFlags::RDHUP)];
        let ended = poll(&mut descriptors, Some(&Timespec::default()));
        ended.is_ok_and(|count| count > 0)
    }

    fn deadline(&self) -> Instant {
        match self.link.connected {
            Some(_) => after(Instant::now(), self.options.timeout),
            None => self.options.connect_deadline(),
        }
    }

    fn call_once<Q: ServiceRequest>(
        &mut self,
        request: &mut Q,
        deadline: Instant,
    ) -> Result<Q::Response, ClientError> {
        self.open(deadline)?;
        let timeout = remaining(deadline);
        self.request_handle = self.request_handle.wrapping_add(1);
        let Some((transport, session)) = self.link.connected.as_mut() else {
            return Err(not_connected(&self.endpoint));
        };
        let header = request.header_mut();
        *header = RequestHeader {
            // The caller's own; all else depends on the session.
            additional_header: std::mem::take(&mut header.additional_header),
            ..request_header(session.authentication_token(), self.request_handle, timeout)
        };
        let result = transport.call(request, timeout);
        self.lost_if_closed(result)
    }

    /// Sends the message body that `encode` writes (TypeId and request), and passes the body of the response to
    /// `decode`, without allocating. `encode` gets the session's authentication token for the request header.
    pub fn exchange<R>(
        &mut self,
        encode: impl Fn(&NodeId, &mut Encoder<'_>) -> Result<(), takt_ua::binary::EncodeError>,
        decode: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, ClientError> {
        let (transport, session, timeout) = self.session()?;
        let token = session.authentication_token();
        let result = transport.exchange(|encoder| encode(token, encoder), decode, timeout);
        self.lost_if_closed(result)
    }

    /// Does the same as `exchange`, with a response in the memory where the server wrote it. `encode` gets whether
    /// the request shall have the layout of shared memory.
    fn exchange_in_place<R>(
        &mut self,
        encode: impl Fn(&NodeId, bool, &mut Encoder<'_>) -> Result<(), takt_ua::binary::EncodeError>,
        decode: impl FnOnce(SharedBytes<'_>) -> R,
    ) -> Result<R, ClientError> {
        let (transport, session, timeout) = self.session()?;
        let token = session.authentication_token();
        let laid_out = transport.is_shared_memory();
        let encode = |encoder: &mut Encoder<'_>| encode(token, laid_out, encoder);
        let result = transport.exchange_in_place(encode, decode, timeout);
        self.lost_if_closed(result)
    }

    /// Returns the session, and the time limit of a request.
    fn session(&mut self) -> Result<(&mut Transport, &Session, Duration), ClientError> {
        // With an open session no time has passed yet, so the clock is not read.
        let mut timeout = self.options.timeout.max(Duration::from_millis(1));
        if self.link.connected.is_none() {
            let deadline = self.deadline();
            self.open(deadline)?;
            timeout = remaining(deadline);
        }
        match self.link.connected.as_mut() {
            Some((transport, session)) => Ok((transport, session, timeout)),
            None => Err(not_connected(&self.endpoint)),
        }
    }

    /// Opens a session if there is none, in one attempt.
    fn open(&mut self, deadline: Instant) -> Result<(), ClientError> {
        if self.link.connected.is_some() {
            return Ok(());
        }
        let epoch = self.link.epoch;
        let opened = ready(self.link.open(&self.endpoint, &self.options, deadline));
        if self.link.epoch != epoch {
            self.batches.reset();
        }
        opened
    }
}

impl Requests for Client {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn batches(&self) -> &Batches {
        &self.batches
    }

    fn max_memory(&self) -> usize {
        self.options.max_memory
    }

    async fn call<Q: ServiceRequest>(&mut self, request: Q) -> Result<Q::Response, ClientError> {
        Self::call(self, request)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.close();
    }
}

fn not_connected(endpoint: &Endpoint) -> ClientError {
    ClientError::unreachable(endpoint, ConnectionError::NoSession)
}
