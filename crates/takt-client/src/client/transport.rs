//! The connection below a session: shared memory or TCP, with the same requests over both.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use takt_crypto::PeerCertificate;
use takt_rt::clock::after;
use takt_rt::shared_bytes::SharedBytes;
use takt_shm::{ClientConfig, ShmClient, ShmError};
use takt_tcp::{
    EndpointUrl, SecurityError as TransportSecurityError, TcpClient, TcpClientConfig,
    TcpClientError as TcpError, TransportError, WaitMode,
};
use takt_ua::StatusCode;
use takt_ua::binary::{EncodeError, Encoder, Limits};

use super::message::{decode_message, encode_message, remaining};
use super::options::{ClientOptions, Waiting};
use super::request::{ServiceRequest, ServiceResponse};
use super::security::{Secured, thumbprint};
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// A connection without a session.
pub(super) struct Transport {
    endpoint: Endpoint,
    /// Limits of each answer.
    limits: Limits,
    connection: Connection,
    secured: Option<Box<Secured>>,
    /// Ids of unanswered requests that were sent without waiting.
    unanswered: Vec<u32>,
    /// Responses to such requests that arrived while another one was awaited.
    early: VecDeque<(u32, Result<Vec<u8>, StatusCode>)>,
}

enum Connection {
    Tcp(Box<TcpClient>),
    SharedMemory(Box<ShmClient>),
}

impl Connection {
    /// Waits for the next response to any request.
    fn receive(
        &mut self,
        endpoint: &Endpoint,
        timeout: Duration,
    ) -> Result<Answer<'_>, ClientError> {
        match self {
            Self::Tcp(client) => match client.receive(timeout) {
                Ok((id, body)) => Ok((id, Ok(body))),
                Err(TcpError::Aborted {
                    request_id, status, ..
                }) => Ok((request_id, Err(status))),
                Err(error) => Err(tcp_error(endpoint, timeout, error)),
            },
            Self::SharedMemory(client) => client
                .receive(timeout)
                .map_err(|error| shm_error(endpoint, timeout, error)),
        }
    }
}

impl Transport {
    /// Connects without security: over shared memory, for discovery, or because that was chosen.
    pub(super) fn connect_unsecured(
        endpoint: &Endpoint,
        options: &ClientOptions,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let connection = match endpoint {
            Endpoint::Tcp(url) => {
                let config = TcpClientConfig {
                    wait: wait_mode(options.waiting),
                    ..TcpClientConfig::default()
                };
                tcp_client(endpoint, url, options, config, timeout)?
                    .map(|client| Connection::Tcp(Box::new(client)))
                    .map_err(|error| ClientError::unreachable(endpoint, error))
            }
            Endpoint::SharedMemory(name) => {
                let config = ClientConfig {
                    wait: options.waiting,
                    runtime_directory: options.runtime_directory.clone(),
                    group: options.group.clone(),
                    ..ClientConfig::default()
                };
                ShmClient::connect(name, &config, timeout)
                    .and_then(|client| of_user(client, options.server_user))
                    .map(|client| Connection::SharedMemory(Box::new(client)))
                    .map_err(|error| match error {
                        cause @ ShmError::AccessDenied(_) => ClientError::AccessDenied {
                            endpoint: endpoint.to_string(),
                            cause,
                        },
                        // Trying again would not help.
                        error @ (ShmError::GroupDirectory { .. } | ShmError::NoSuchGroup(_)) => {
                            ClientError::Group(error)
                        }
                        error => ClientError::unreachable(endpoint, error),
                    })
            }
        }?;
        Ok(Self {
            endpoint: endpoint.clone(),
            limits: options.limits(),
            connection,
            secured: None,
            unanswered: Vec::new(),
            early: VecDeque::new(),
        })
    }

    /// Sends `request` and decodes its response.
    pub(super) fn call<Q: ServiceRequest>(
        &mut self,
        request: &Q,
        timeout: Duration,
    ) -> Result<Q::Response, ClientError> {
        let (endpoint, limits) = (self.endpoint.clone(), self.limits);
        if let (Some(laid_out), true) = (request.laid_out(), self.is_shared_memory()) {
            return self.exchange(
                |encoder| laid_out.lay_out(encoder),
                |body| match laid_out.parse_response(body) {
                    Ok(Some(response)) => Ok(response),
                    Ok(None) => decode_message(Q::NAME, &endpoint, limits, body),
                    Err(error) => Err(ClientError::protocol(&endpoint, error)),
                },
                timeout,
            )?;
        }
        self.exchange(
            |encoder| encode_message(request, encoder),
            |body| decode_message(Q::NAME, &endpoint, limits, body),
            timeout,
        )?
    }

    /// Returns whether Read, Write and Call have the layout of shared memory.
    pub(super) fn is_shared_memory(&self) -> bool {
        matches!(self.connection, Connection::SharedMemory(_))
    }

    /// Sends the message body that `encode` writes and passes the body of the response to `decode`.
    pub(super) fn exchange<R>(
        &mut self,
        mut encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        decode: impl FnOnce(&[u8]) -> R,
        timeout: Duration,
    ) -> Result<R, ClientError> {
        // Their responses may arrive before that of this request, and must not be taken for it.
        if !self.unanswered.is_empty() {
            return self.exchange_between(encode, decode, timeout);
        }
        match &mut self.connection {
            Connection::Tcp(client) => client
                .request(timeout, &mut encode)
                .map(decode)
                .map_err(|error| tcp_error(&self.endpoint, timeout, error)),
            Connection::SharedMemory(client) => client
                .request(&mut encode, timeout)
                .map(decode)
                .map_err(|error| shm_error(&self.endpoint, timeout, error)),
        }
    }
}

impl Transport {
    /// Does the same as [`exchange`](Self::exchange), but over shared memory `decode` gets the body in the memory
    /// where the server wrote it.
    pub(super) fn exchange_in_place<R>(
        &mut self,
        mut encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        decode: impl FnOnce(SharedBytes<'_>) -> R,
        timeout: Duration,
    ) -> Result<R, ClientError> {
        match &mut self.connection {
            Connection::SharedMemory(client) if self.unanswered.is_empty() => client
                .request_in_place(&mut encode, timeout)
                .map(decode)
                .map_err(|error| shm_error(&self.endpoint, timeout, error)),
            _ => self.exchange(encode, |body| decode(SharedBytes::of_slice(body)), timeout),
        }
    }
}

impl super::connection::Connection for Transport {
    async fn connect_unsecured(
        endpoint: &Endpoint,
        options: &ClientOptions,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        Self::connect_unsecured(endpoint, options, timeout)
    }

    async fn connect_secured(
        url: &EndpointUrl,
        options: &ClientOptions,
        secured: Secured,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let endpoint = Endpoint::Tcp(url.clone());
        let config = TcpClientConfig {
            connection: secured.config(url, options),
            wait: wait_mode(options.waiting),
        };
        let client = tcp_client(&endpoint, url, options, config, timeout)?;
        let client = client.map_err(|error| untrusted(&endpoint, &secured, error))?;
        Ok(Self {
            endpoint,
            limits: options.limits(),
            connection: Connection::Tcp(Box::new(client)),
            secured: Some(Box::new(secured)),
            unanswered: Vec::new(),
            early: VecDeque::new(),
        })
    }

    async fn wait_for<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ClientError> {
        Ok(work())
    }

    fn secured(&self) -> Option<&Secured> {
        self.secured.as_deref()
    }

    async fn exchange_one<Q: ServiceRequest>(
        &mut self,
        request: &Q,
        timeout: Duration,
    ) -> Result<Q::Response, ClientError> {
        self.call(request, timeout)
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.connection {
            Connection::Tcp(client) => client.as_fd(),
            Connection::SharedMemory(client) => client.as_fd(),
        }
    }
}

/// Response to a request that was sent without waiting for it.
pub struct EncodedResponse<'a> {
    request_id: u32,
    body: Result<&'a [u8], StatusCode>,
    endpoint: &'a Endpoint,
    limits: Limits,
}

impl EncodedResponse<'_> {
    /// Returns the id of the request.
    pub fn request_id(&self) -> u32 {
        self.request_id
    }

    /// Returns the response, which has to be an `R`.
    pub fn decode<R: ServiceResponse>(&self) -> Result<R, ClientError> {
        let body = self.body.map_err(refused)?;
        decode_message(R::NAME, self.endpoint, self.limits, body)
    }
}

/// Response to a request, with its id.
type Answer<'a> = (u32, Result<&'a [u8], StatusCode>);

impl Transport {
    /// Sends `request` without waiting for its response.
    pub(super) fn send<Q: ServiceRequest>(
        &mut self,
        request: &Q,
        timeout: Duration,
    ) -> Result<u32, ClientError> {
        let id = self.send_message(|encoder| encode_message(request, encoder), timeout)?;
        self.unanswered.push(id);
        Ok(id)
    }

    /// Waits for the next response to a request that was [sent](Self::send), and passes it to `take`.
    pub(super) fn receive<T>(
        &mut self,
        timeout: Duration,
        take: impl FnOnce(EncodedResponse<'_>) -> T,
    ) -> Result<T, ClientError> {
        let (endpoint, limits) = (&self.endpoint, self.limits);
        if let Some((request_id, body)) = self.early.pop_front() {
            return Ok(take(EncodedResponse {
                request_id,
                body: body.as_deref().map_err(|status| *status),
                endpoint,
                limits,
            }));
        }
        let deadline = after(Instant::now(), timeout);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let (request_id, body) = self.connection.receive(endpoint, left)?;
            // Another id is that of a request that was given up after its timeout.
            if let Some(at) = self.unanswered.iter().position(|sent| *sent == request_id) {
                self.unanswered.swap_remove(at);
                return Ok(take(EncodedResponse {
                    request_id,
                    body,
                    endpoint,
                    limits,
                }));
            }
        }
    }

    /// Sleeps until there may be a response or `interrupt` is readable, for at most `timeout`.
    pub(super) fn wait_or(
        &mut self,
        interrupt: BorrowedFd<'_>,
        timeout: Duration,
    ) -> Result<(), ClientError> {
        if !self.early.is_empty() {
            return Ok(());
        }
        match &mut self.connection {
            Connection::Tcp(client) => {
                let mut descriptors = [
                    PollFd::new(&**client, PollFlags::IN | PollFlags::RDHUP),
                    PollFd::from_borrowed_fd(interrupt, PollFlags::IN),
                ];
                let timeout = Timespec::try_from(timeout).ok();
                // A signal may end the wait early, which is harmless.
                let _ = poll(&mut descriptors, timeout.as_ref());
                Ok(())
            }
            Connection::SharedMemory(client) => client
                .wait_or(interrupt, timeout)
                .map_err(|error| shm_error(&self.endpoint, timeout, error)),
        }
    }

    /// Exchanges a request and its response while other requests are unanswered.
    fn exchange_between<R>(
        &mut self,
        encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        decode: impl FnOnce(&[u8]) -> R,
        timeout: Duration,
    ) -> Result<R, ClientError> {
        let deadline = after(Instant::now(), timeout);
        let wanted = self.send_message(encode, timeout)?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let (id, body) = self.connection.receive(&self.endpoint, left)?;
            if id == wanted {
                return body.map(decode).map_err(refused);
            }
            let body = body.map(<[u8]>::to_vec);
            self.keep_early(id, body);
        }
    }

    /// Keeps a response that arrived before it was requested.
    fn keep_early(&mut self, id: u32, body: Result<Vec<u8>, StatusCode>) {
        if let Some(at) = self.unanswered.iter().position(|sent| *sent == id) {
            self.unanswered.swap_remove(at);
            self.early.push_back((id, body));
        }
    }

    fn send_message(
        &mut self,
        mut encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        timeout: Duration,
    ) -> Result<u32, ClientError> {
        match &mut self.connection {
            Connection::Tcp(client) => client
                .send(timeout, &mut encode)
                .map_err(|error| tcp_error(&self.endpoint, timeout, error)),
            Connection::SharedMemory(client) => client
                .send(&mut encode, timeout)
                .map_err(|error| shm_error(&self.endpoint, timeout, error)),
        }
    }

    /// Requests the location of the published current value of a node.
    pub(super) fn locate(
        &mut self,
        node_id: &[u8],
        timeout: Duration,
    ) -> Result<Option<takt_shm::CurrentValuePlace>, ClientError> {
        let deadline = after(Instant::now(), timeout);
        let Connection::SharedMemory(client) = &mut self.connection else {
            return Ok(None);
        };
        let wanted = client
            .send_locate(node_id, timeout)
            .map_err(|error| shm_error(&self.endpoint, timeout, error))?;
        let body = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let (id, body) = self.connection.receive(&self.endpoint, left)?;
            // A copy, because `body` borrows the connection.
            let body = body.map(<[u8]>::to_vec);
            if id == wanted {
                break body.map_err(refused)?;
            }
            self.keep_early(id, body);
        };
        // The loop needed the whole connection.
        let Connection::SharedMemory(client) = &mut self.connection else {
            return Ok(None);
        };
        client
            .located(&body)
            .map_err(|error| shm_error(&self.endpoint, timeout, error))
    }
}

/// Connects to a server, or takes a connection that the server has opened.
fn tcp_client(
    endpoint: &Endpoint,
    url: &EndpointUrl,
    options: &ClientOptions,
    config: TcpClientConfig,
    timeout: Duration,
) -> Result<Result<TcpClient, TcpError>, ClientError> {
    let Some(reverse) = &options.reverse else {
        return Ok(TcpClient::connect(url, config, timeout));
    };
    let deadline = after(Instant::now(), timeout);
    // The deadline is later than this wait: time is left for the handshake.
    let taken = reverse.listener.take(
        &options.expected(url),
        deadline.min(after(Instant::now(), reverse.wait)),
    );
    let (socket, url_of_server) =
        taken.map_err(|error| ClientError::unreachable(endpoint, error))?;
    // The longer deadline is for the server's connection; the handshake has the time of a request.
    let timeout = remaining(deadline).min(options.timeout);
    Ok(TcpClient::accept(
        socket,
        url,
        &url_of_server,
        config,
        timeout,
    ))
}

/// Returns the error of a secured connection that could not be opened. If one side does not trust the other, it tells which.
pub(crate) fn untrusted(endpoint: &Endpoint, secured: &Secured, error: TcpError) -> ClientError {
    let refused = match &error {
        TcpError::Transport(TransportError::Security(TransportSecurityError::Certificate(
            cause,
        ))) => Some(ClientError::ServerCertificate {
            endpoint: endpoint.to_string(),
            thumbprint: thumbprint(&secured.server_certificate),
            certificates: secured.certificates.clone(),
            issuer: last_issuer(&secured.server_certificate),
            cause: *cause,
        }),
        TcpError::Transport(TransportError::Peer { status, .. })
            // Most servers do not tell which check of the certificate has failed, and some do.
            if *status == StatusCode::BadSecurityChecksFailed
                || status
                    .name()
                    .is_some_and(|name| name.starts_with("BadCertificate")) =>
        {
            let own = secured.identity.certificate();
            Some(ClientError::NotTrusted {
                endpoint: endpoint.to_string(),
                thumbprint: own.thumbprint.to_string(),
                issuer: (!own.is_self_issued()).then(|| own.issuer.clone()),
                own: own.shortcoming(&[secured.profile], takt_crypto::now()),
                status: *status,
            })
        }
        _ => None,
    };
    refused.unwrap_or_else(|| ClientError::unreachable(endpoint, error))
}

/// Returns the beginning of the name of the issuer of the last certificate in a chain, without characters that control a terminal.
fn last_issuer(certificate: &PeerCertificate) -> String {
    let issuer = certificate
        .chain()
        .last()
        .map(|last| &*last.issuer)
        .unwrap_or_default();
    let printable = issuer.chars().filter(|character| !character.is_control());
    printable.take(200).collect()
}

fn refused(status: StatusCode) -> ClientError {
    ClientError::Service {
        service: "the request",
        status,
    }
}

/// Returns the client, if its server is run by this user.
fn of_user(client: ShmClient, user: Option<u32>) -> Result<ShmClient, ShmError> {
    match (user, client.server_user()) {
        (Some(expected), user) if user != expected => Err(ShmError::AccessDenied(format!(
            "user {user} runs it, not user {expected}"
        ))),
        _ => Ok(client),
    }
}

/// Returns the wait mode of TCP, which sleeps in the kernel by default: between processes there is little to gain
/// from a short spin.
fn wait_mode(waiting: Waiting) -> WaitMode {
    match waiting.spin_for() {
        None => WaitMode::Spin,
        Some(Duration::ZERO) => WaitMode::Block,
        Some(spin_for) => WaitMode::SpinThenBlock(spin_for),
    }
}

pub(crate) fn tcp_error(endpoint: &Endpoint, timeout: Duration, error: TcpError) -> ClientError {
    match error {
        TcpError::Timeout => timed_out(endpoint, timeout),
        TcpError::Encode(error) => ClientError::TooLarge(error),
        TcpError::Aborted { status, .. } => ClientError::Service {
            service: "the response",
            status,
        },
        error @ (TcpError::Connect { .. } | TcpError::Transport(_)) => {
            ClientError::closed(endpoint, error)
        }
    }
}

fn shm_error(endpoint: &Endpoint, timeout: Duration, error: ShmError) -> ClientError {
    match error {
        ShmError::Timeout => timed_out(endpoint, timeout),
        ShmError::Encoding(error) => ClientError::TooLarge(error),
        ShmError::RequestTooLarge { .. }
        | ShmError::Busy(_)
        | ShmError::SharedMemoryFull { .. } => ClientError::Service {
            service: "the request",
            status: error.status_code(),
        },
        ShmError::Refused(StatusCode::BadConnectionClosed) => ClientError::closed(endpoint, error),
        ShmError::Refused(status) => ClientError::Service {
            service: "the request",
            status,
        },
        ShmError::Header(_) | ShmError::Protocol(_) => ClientError::protocol(endpoint, error),
        error => ClientError::closed(endpoint, error),
    }
}

pub(crate) fn timed_out(endpoint: &Endpoint, timeout: Duration) -> ClientError {
    ClientError::Timeout {
        endpoint: endpoint.to_string(),
        timeout,
    }
}
