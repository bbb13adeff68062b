//! The connection below a session: shared memory or TCP, with the same requests on both.

use std::time::Duration;

use takt_shm::{ClientConfig, ShmClient, ShmError};
use takt_tcp::{ClientError as TcpError, TcpClient, TcpClientConfig, WaitMode};
use takt_ua::StatusCode;
use takt_ua::binary::{EncodeError, Encoder};

use super::{ClientOptions, Request, decode_message, encode_message};
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// How a thread waits for the other side: [`takt_shm::WaitPolicy`], for both transports.
pub type Waiting = takt_shm::WaitPolicy;

/// A connection without a session.
pub(super) struct Transport {
    endpoint: Endpoint,
    connection: Connection,
}

enum Connection {
    Tcp(Box<TcpClient>),
    SharedMemory(Box<ShmClient>),
}

impl Transport {
    pub(super) fn connect(
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
                TcpClient::connect(url, config, timeout)
                    .map(|client| Connection::Tcp(Box::new(client)))
                    .map_err(|error| unreachable_endpoint(endpoint, error))
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
                        ShmError::AccessDenied(reason) => ClientError::AccessDenied {
                            endpoint: endpoint.to_string(),
                            reason,
                        },
                        // Nothing will change by trying again.
                        ShmError::GroupDirectory { .. } | ShmError::NoSuchGroup(_) => {
                            ClientError::Invalid(error.to_string())
                        }
                        error => unreachable_endpoint(endpoint, error),
                    })
            }
        }?;
        Ok(Self {
            endpoint: endpoint.clone(),
            connection,
        })
    }

    /// Sends `request` and decodes its response.
    pub(super) fn call<Q: Request>(
        &mut self,
        request: &Q,
        timeout: Duration,
    ) -> Result<Q::Response, ClientError> {
        let endpoint = self.endpoint.clone();
        self.exchange(
            |encoder| encode_message(request, encoder),
            |body| decode_message(Q::NAME, &endpoint, body),
            timeout,
        )?
    }

    /// Sends the message body that `encode` writes and gives the body of the response to `decode`.
    pub(super) fn exchange<R>(
        &mut self,
        mut encode: impl FnMut(&mut Encoder<'_>) -> Result<(), EncodeError>,
        decode: impl FnOnce(&[u8]) -> R,
        timeout: Duration,
    ) -> Result<R, ClientError> {
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

/// The client, if its server is run by this user.
fn of_user(client: ShmClient, user: Option<u32>) -> Result<ShmClient, ShmError> {
    match (user, client.server_user()) {
        (Some(expected), user) if user != expected => Err(ShmError::AccessDenied(format!(
            "user {user} runs it, not user {expected}"
        ))),
        _ => Ok(client),
    }
}

fn unreachable_endpoint(endpoint: &Endpoint, reason: impl std::fmt::Display) -> ClientError {
    ClientError::Unreachable {
        endpoint: endpoint.to_string(),
        reason: reason.to_string(),
    }
}

/// TCP sleeps in the system unless told otherwise: between processes there is little to gain from a short spin.
fn wait_mode(waiting: Waiting) -> WaitMode {
    match waiting.spin_for() {
        None => WaitMode::Spin,
        Some(Duration::ZERO) => WaitMode::Block,
        Some(spin_for) => WaitMode::SpinThenBlock(spin_for),
    }
}

fn tcp_error(endpoint: &Endpoint, timeout: Duration, error: TcpError) -> ClientError {
    match error {
        TcpError::Timeout => timed_out(endpoint, timeout),
        TcpError::Encode(error) => ClientError::TooLarge(error),
        TcpError::Aborted { status, .. } => ClientError::Service {
            service: "the response",
            status,
        },
        error @ (TcpError::Connect { .. } | TcpError::Transport(_)) => closed(endpoint, error),
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
        ShmError::Refused(StatusCode::BadConnectionClosed) => closed(endpoint, error),
        ShmError::Refused(status) => ClientError::Service {
            service: "the request",
            status,
        },
        ShmError::Header(_) | ShmError::Protocol(_) => ClientError::Protocol {
            endpoint: endpoint.to_string(),
            reason: error.to_string(),
        },
        error => closed(endpoint, error),
    }
}

fn timed_out(endpoint: &Endpoint, timeout: Duration) -> ClientError {
    ClientError::Timeout {
        endpoint: endpoint.to_string(),
        timeout,
    }
}

fn closed(endpoint: &Endpoint, reason: impl std::fmt::Display) -> ClientError {
    ClientError::Closed {
        endpoint: endpoint.to_string(),
        reason: reason.to_string(),
    }
}
