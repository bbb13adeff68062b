//! A session with one application, over the transport of its endpoint.
//!
//! [`Client`] opens the connection and the session (OPC 10000-4, 5.7), sends one request at a time, and reconnects
//! automatically: after a lost connection the next request connects again, and a request that changes nothing is sent
//! once more. Only [`Client::connect`] waits for a server that is not there: requests make one attempt, so that the
//! end of a server is an error at once. A Client is used by one thread.

mod attributes;
mod browse_path;
mod current;
mod data_types;
mod in_place;
mod namespaces;
mod request;
mod security;
mod security_keys;
mod session;
mod tokens;
mod transport;
mod unanswered;
mod value_in_place;
mod views;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use takt_rt::readiness::Waker;
use takt_rt::shared_bytes::SharedBytes;
use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, Encoder};
use takt_ua::structures::{RequestHeader, ResponseHeader, ServiceFault};
use takt_ua::{DateTime, NodeId, NodeIdRef, Structure, UaString};

pub use attributes::Attribute;
pub use current::CurrentValue;
pub use data_types::ValueType;
pub use in_place::OutputsInPlace;
pub use request::{ServiceRequest, ServiceResponse};
pub use security::{ClientSecurity, SecurityChoice};
pub use transport::{EncodedResponse, Waiting};
pub use value_in_place::ValueInPlace;
pub use views::Follow;

use crate::endpoint::Endpoint;
use crate::error::{ClientError, ConnectionError, ProtocolError};
use namespaces::Namespaces;
use session::Session;
use transport::Transport;

/// Identity of a Client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Identity {
    /// The anonymous user.
    #[default]
    Anonymous,
    /// A name and its password or secret (OPC 10000-4, 7.40.4).
    UserName {
        /// The name.
        name: String,
        /// The password. Over TCP it is encrypted if the server has a certificate, and sent unencrypted on the loopback
        /// interface only.
        password: String,
    },
    /// A certificate (DER or PEM) and its private key (PEM) (OPC 10000-4, 7.40.5).
    Certificate {
        /// File of the certificate.
        certificate: PathBuf,
        /// File of the key.
        key: PathBuf,
    },
}

/// Options of a Client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOptions {
    /// ApplicationName in the sessions.
    pub application_name: String,
    /// ApplicationUri of the sessions; derived from the name if empty.
    pub application_uri: String,
    /// Time limit of a request, connecting included.
    pub timeout: Duration,
    /// Way in which the calling thread waits for a response.
    pub waiting: Waiting,
    /// Identity of the user of the sessions.
    pub identity: Identity,
    /// Time for which the server keeps an unused session.
    pub session_timeout: Duration,
    /// Directory in which shared-memory applications find each other; by default the value of `TAKT_RUNTIME_DIR`, or
    /// the user's runtime directory.
    pub runtime_directory: Option<PathBuf>,
    /// The Unix group, by name or number, that shares the shared-memory endpoints; by default only those of this
    /// user. Its applications find each other in `/run/takt/GROUP`, unless `TAKT_GROUP_ROOT` or `runtime_directory`
    /// names another directory.
    pub group: Option<String>,
    /// The Unix user id that has to run the application, over shared memory; by default any user with access.
    pub server_user: Option<u32>,
    /// Security of connections over TCP.
    pub security: ClientSecurity,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            application_name: "Takt".to_owned(),
            application_uri: String::new(),
            timeout: Duration::from_secs(2),
            waiting: Waiting::default(),
            identity: Identity::Anonymous,
            session_timeout: Duration::from_secs(60),
            runtime_directory: None,
            group: None,
            server_user: None,
            security: ClientSecurity::default(),
        }
    }
}

impl ClientOptions {
    /// Returns the options of an application with this name.
    pub fn named(application_name: impl Into<String>) -> Self {
        Self {
            application_name: application_name.into(),
            ..Self::default()
        }
    }

    fn uri(&self) -> String {
        if self.application_uri.is_empty() {
            format!("urn:takt:consumer:{}", self.application_name)
        } else {
            self.application_uri.clone()
        }
    }
}

/// A session with one application.
pub struct Client {
    endpoint: Endpoint,
    options: ClientOptions,
    connected: Option<(Transport, Session)>,
    epoch: u64,
    request_handle: u32,
    namespaces: Namespaces,
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
        Self {
            endpoint: endpoint.clone(),
            options,
            connected: None,
            epoch: 0,
            request_handle: 0,
            namespaces: Namespaces::default(),
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

    /// Time limit of a request, connecting included.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.options.timeout = timeout;
    }

    /// Returns whether a session is open, as far as this side knows.
    pub fn is_connected(&self) -> bool {
        self.connected.is_some()
    }

    /// Returns the number of sessions so far. Information from the server (its NamespaceArray, registered nodes) is
    /// valid for one epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Sends `request` and waits for its response.
    pub fn call<Q: ServiceRequest>(&mut self, mut request: Q) -> Result<Q::Response, ClientError> {
        let deadline = self.deadline();
        let mut attempts_left = 2;
        loop {
            attempts_left -= 1;
            let error = match self.call_once(&mut request, deadline) {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            // A request that the server refused without a session was not executed.
            let again = match &error {
                ClientError::Closed { .. } => Q::IDEMPOTENT,
                error => error.is_session_lost(),
            };
            if !again || attempts_left == 0 || Instant::now() >= deadline {
                return Err(error);
            }
            self.connected = None;
        }
    }

    /// Closes the session and the connection. The next request opens new ones.
    pub fn close(&mut self) {
        if let Some((mut transport, session)) = self.connected.take() {
            session.close(&mut transport, Duration::from_millis(200));
        }
    }

    /// Sets the interrupt, which ends [`wait_for_end`](Self::wait_for_end).
    pub(crate) fn set_interrupt(&mut self, interrupt: Waker) {
        self.interrupt = Some(interrupt);
    }

    /// Sleeps until the other side closes the connection or has died, the interrupt wakes, or the time has passed.
    pub(crate) fn wait_for_end(&self, timeout: Duration) {
        let interrupt = self.interrupt.iter();
        let mut descriptors: Vec<PollFd<'_>> = interrupt
            .map(|waker| PollFd::from_borrowed_fd(waker.as_fd(), PollFlags::IN))
            .collect();
        if let Some((transport, _)) = &self.connected {
            descriptors.push(PollFd::new(transport, PollFlags::RDHUP));
        }
        let timeout = Timespec::try_from(timeout).ok();
        // A signal may end the wait early, which is harmless.
        let _ = poll(&mut descriptors, timeout.as_ref());
    }

    /// Returns whether the other side has closed the connection, or died.
    pub(crate) fn is_hung_up(&self) -> bool {
        let Some((transport, _)) = &self.connected else {
            return false;
        };
        let mut descriptors = [PollFd::new(transport, PollFlags::RDHUP)];
        let ended = poll(&mut descriptors, Some(&Timespec::default()));
        ended.is_ok_and(|count| count > 0)
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.options.timeout
    }

    fn call_once<Q: ServiceRequest>(
        &mut self,
        request: &mut Q,
        deadline: Instant,
    ) -> Result<Q::Response, ClientError> {
        self.open(deadline)?;
        let timeout = remaining(deadline);
        self.request_handle = self.request_handle.wrapping_add(1);
        let Some((transport, session)) = self.connected.as_mut() else {
            return Err(not_connected(&self.endpoint));
        };
        *request.header_mut() =
            request_header(session.authentication_token(), self.request_handle, timeout);
        let result = transport.call(request, timeout);
        if matches!(
            result,
            Err(ClientError::Closed { .. } | ClientError::Protocol { .. })
        ) {
            self.connected = None;
        }
        result
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
        if matches!(result, Err(ClientError::Closed { .. })) {
            self.connected = None;
        }
        result
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
        if matches!(result, Err(ClientError::Closed { .. })) {
            self.connected = None;
        }
        result
    }

    /// Returns the session, and the time limit of a request.
    fn session(&mut self) -> Result<(&mut Transport, &Session, Duration), ClientError> {
        // With an open session no time has passed yet, so the clock is not read.
        let mut timeout = self.options.timeout.max(Duration::from_millis(1));
        if self.connected.is_none() {
            let deadline = self.deadline();
            self.open(deadline)?;
            timeout = remaining(deadline);
        }
        match self.connected.as_mut() {
            Some((transport, session)) => Ok((transport, session, timeout)),
            None => Err(not_connected(&self.endpoint)),
        }
    }

    /// Opens a session if there is none, in one attempt.
    fn open(&mut self, deadline: Instant) -> Result<(), ClientError> {
        if self.connected.is_some() {
            return Ok(());
        }
        let connected = match self.open_with(false, deadline) {
            // A server on the loopback interface may offer secured endpoints only.
            Err(ClientError::SecurityRequired { .. })
                if self.options.security.choice == SecurityChoice::Automatic =>
            {
                self.open_with(true, deadline)?
            }
            other => other?,
        };
        self.connected = Some(connected);
        self.epoch += 1;
        Ok(())
    }

    fn open_with(
        &self,
        insist: bool,
        deadline: Instant,
    ) -> Result<(Transport, Session), ClientError> {
        let (endpoint, options) = (&self.endpoint, &self.options);
        let mut transport = Transport::connect(endpoint, options, insist, deadline)?;
        let timeout = remaining(deadline);
        let session = Session::open(&mut transport, endpoint, options, timeout)?;
        Ok((transport, session))
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

/// Returns the time until `deadline`, at least a millisecond: a timeout of zero would not wait.
fn remaining(deadline: Instant) -> Duration {
    deadline
        .saturating_duration_since(Instant::now())
        .max(Duration::from_millis(1))
}

fn request_header(token: &NodeId, request_handle: u32, timeout: Duration) -> RequestHeader {
    RequestHeader {
        authentication_token: token.clone(),
        timestamp: DateTime::now(),
        request_handle,
        timeout_hint: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX),
        ..RequestHeader::default()
    }
}

/// Writes a message body: the NodeId of the structure's binary encoding, then the structure (OPC 10000-6, 5.2.9).
fn encode_message<S: Structure + Encode>(
    message: &S,
    encoder: &mut Encoder<'_>,
) -> Result<(), takt_ua::binary::EncodeError> {
    NodeId::numeric(0, S::BINARY_ENCODING_ID).encode(encoder)?;
    message.encode(encoder)
}

/// Decodes a message body that is an `S` or a ServiceFault.
fn decode_message<S: ServiceResponse>(
    service: &'static str,
    endpoint: &Endpoint,
    body: &[u8],
) -> Result<S, ClientError> {
    let broken = |error: DecodeError| ClientError::protocol(endpoint, error);
    let mut decoder = Decoder::new(body);
    let type_id = NodeIdRef::decode(&mut decoder).map_err(broken)?;
    if type_id == NodeIdRef::numeric(0, ServiceFault::BINARY_ENCODING_ID) {
        let fault = ServiceFault::decode(&mut decoder).map_err(broken)?;
        return Err(ClientError::Service {
            service,
            status: bad_result(&fault.response_header),
        });
    }
    if type_id != NodeIdRef::numeric(0, S::BINARY_ENCODING_ID) {
        let cause = ProtocolError::Content(format!("{} has the type {type_id}", S::NAME));
        return Err(ClientError::protocol(endpoint, cause));
    }
    let response = S::decode(&mut decoder).map_err(broken)?;
    let status = response.header().service_result;
    if status.is_bad() {
        return Err(ClientError::Service { service, status });
    }
    Ok(response)
}

/// Returns the fault's StatusCode, which some servers leave at Good.
fn bad_result(header: &ResponseHeader) -> takt_ua::StatusCode {
    if header.service_result.is_bad() {
        header.service_result
    } else {
        takt_ua::StatusCode::BadUnexpectedError
    }
}

/// Returns a text as the standard's String.
fn text(value: &str) -> UaString {
    UaString::from(value)
}
