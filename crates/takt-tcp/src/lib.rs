//! opc.tcp: the OPC UA Connection Protocol and OPC UA Secure Conversation (OPC 10000-6, 7.1 and 6.7), and the loops
//! that drive them.
//!
//! Two layers:
//!
//! * State machines without sockets and clocks: [`ServerConnection`] and [`ClientConnection`] take received bytes and
//!   the time, and return events and bytes to send. They negotiate limits, check and build chunks, and keep security
//!   tokens and sequence numbers.
//! * Drivers with sockets: [`TcpServer`] serves many connections on one [`takt_rt::readiness::Readiness`],
//!   [`TcpClient`] blocks or spins for its responses.
//!
//! This crate does not interpret message bodies: requests are passed to a
//! [`RequestHandler`](takt_ua::request_handler::RequestHandler) as encoded bytes.
//! Sessions, GetEndpoints and all other services belong to `takt-services`.
//!
//! On the hot path nothing is copied or allocated: a request that fits one chunk is a slice of the receive buffer,
//! its response is encoded behind its headers in the send buffer, and each takes one system call.
//!
//! [`NoSecurity`] is SecurityPolicy None, [`SecuredPolicy`] any other one, with the primitives of `takt-crypto`.
//!
//! Reverse connect: a [`TcpServer`] connects to clients ([`ReverseConnect`]), which accept it with a
//! [`ReverseListener`].

#![forbid(unsafe_code)]

mod assembler;
#[cfg(feature = "async")]
mod async_client;
mod authenticated;
mod chunk;
mod client;
mod client_channel;
mod client_connection;
mod client_error;
mod completions;
mod config;
mod error;
mod fault;
mod handler;
mod hello;
mod inbound;
mod key_log;
mod listener;
mod local_users;
mod memory;
mod open_channel;
mod outbound;
mod receive_buffer;
mod reverse_hello;
mod reverse_listener;
mod secured_policy;
mod security;
mod security_error;
mod sequence;
mod served_connection;
mod server;
mod server_channel;
mod server_connection;
mod server_event;
mod slots;
mod sock_diag;
mod socket_table;
mod token;
mod trust_watch;
mod waiting;

#[cfg(feature = "async")]
pub use async_client::{AsyncResponse, AsyncTcpClient};
pub use client::{TcpClient, TcpClientConfig, WaitMode};
pub use client_connection::{ClientConnection, ClientEvent, SendRequestError};
pub use client_error::TcpClientError;
pub use config::{ClientConnectionConfig, ServerConnectionConfig};
pub use error::TransportError;
pub use handler::{TcpChannels, TcpPeer};
pub use hello::{MAX_REASON_LENGTH, MIN_BUFFER_SIZE, NegotiatedLimits, TransportLimits};
pub use key_log::{KeyLog, KeyLogError, LoggedKeys};
pub use listener::BindError;
pub use reverse_hello::{MAX_SERVER_URI_LENGTH, ReverseHello, ReverseOutcome, ReversePauses};
pub use reverse_listener::{ExpectedServer, ReverseError, ReverseListener};
pub use secured_policy::SecuredPolicy;
pub use security::{
    AsymmetricSecurity, ChunkSecurity, MAX_SECURITY_POLICY_URI_LENGTH, NoSecurity, Role,
    SecurityPolicy, SecuritySizes, TokenSecurity,
};
pub use security_error::SecurityError;
pub use server::{ReverseConnect, TcpServer, TcpServerConfig};
pub use server_connection::ServerConnection;
pub use server_event::{ChannelDescription, Request, RequestBody, ServerEvent};
pub use sock_diag::{SocketAnswer, SocketQuestion};
pub use takt_ua::endpoint_url::{
    DEFAULT_PORT, EndpointUrl, EndpointUrlError, MAX_ENDPOINT_URL_LENGTH,
};
