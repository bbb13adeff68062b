//! Configuration of connections, of servers and of clients.

use std::sync::Arc;
use std::time::Duration;

use takt_crypto::PeerCertificate;
use takt_rt::memory_budget::MemoryBudget;
use takt_ua::enumerations::MessageSecurityMode;

use crate::hello::TransportLimits;
use crate::key_log::KeyLog;
use crate::security::{NoSecurity, SecurityPolicy};

/// Configuration of a server's connections.
#[derive(Debug, Clone)]
pub struct ServerConnectionConfig {
    /// Limits of received and sent messages.
    pub limits: TransportLimits,
    /// SecurityPolicies that the server offers.
    pub policies: Vec<Arc<dyn SecurityPolicy>>,
    /// Time limit for the Hello of a new connection, and again for opening its SecureChannel.
    pub handshake_timeout: Duration,
    /// Time limit for the rest of a chunk, and for the next chunk of a message.
    pub chunk_timeout: Duration,
    /// Time limit for a client that reads nothing of the bytes to be sent.
    pub send_timeout: Duration,
    /// Shortest lifetime of a token.
    pub min_token_lifetime: Duration,
    /// Longest lifetime of a token; also the lifetime if the client requests none.
    pub max_token_lifetime: Duration,
    /// Number of unsent bytes from which on no more requests of the client are read or handled.
    pub max_unsent: usize,
    /// Number of deferred requests from which on no more requests of the client are read or handled.
    pub max_deferred: usize,
    /// Budget of memory in bytes for the buffers of all connections of the server.
    pub memory: MemoryBudget,
    /// The part of [`memory`](Self::memory) for all connections without an activated Session together.
    pub memory_without_session: MemoryBudget,
    /// Largest memory in bytes for the buffers of one connection.
    pub connection_memory: usize,
    /// Largest memory in bytes for the buffers of one connection without an activated Session.
    pub connection_memory_without_session: usize,
    /// File that gets the keys of all channels, for diagnosis.
    pub key_log: Option<Arc<KeyLog>>,
}

impl Default for ServerConnectionConfig {
    /// SecurityPolicy None, 10 s for each handshake step and chunk, 30 s for a stalled client, tokens of 1 s to 1 h,
    /// back-pressure from 1 MiB unsent or 1024 deferred requests on; 256 MiB of memory in all, 64 MiB of it without a
    /// Session, 96 MiB for one connection, 4 MiB for one without a Session.
    fn default() -> Self {
        let memory = MemoryBudget::new(256 << 20);
        Self {
            limits: TransportLimits::default(),
            policies: vec![NoSecurity::policy()],
            handshake_timeout: Duration::from_secs(10),
            chunk_timeout: Duration::from_secs(10),
            send_timeout: Duration::from_secs(30),
            min_token_lifetime: Duration::from_secs(1),
            max_token_lifetime: Duration::from_secs(3600),
            max_unsent: 1 << 20,
            max_deferred: 1024,
            memory_without_session: memory.part(64 << 20),
            memory,
            // The largest response, the largest request, and their headers.
            connection_memory: 96 << 20,
            connection_memory_without_session: 4 << 20,
            key_log: None,
        }
    }
}

/// Configuration of a client's SecureChannel.
#[derive(Debug, Clone)]
pub struct ClientConnectionConfig {
    /// Limits of received and sent messages.
    pub limits: TransportLimits,
    /// SecurityPolicy of the channel.
    pub policy: Arc<dyn SecurityPolicy>,
    /// MessageSecurityMode of the channel: whether messages are signed and encrypted.
    pub security_mode: MessageSecurityMode,
    /// The certificate of the server; empty with SecurityPolicy None.
    pub server_certificate: Arc<PeerCertificate>,
    /// Requested lifetime of tokens; the server may revise it.
    pub token_lifetime: Duration,
    /// File that gets the keys of the channel, for diagnosis.
    pub key_log: Option<Arc<KeyLog>>,
}

impl Default for ClientConnectionConfig {
    /// SecurityPolicy None, tokens of one hour; responses of up to 64 MiB are received.
    fn default() -> Self {
        Self {
            limits: TransportLimits {
                // The largest message that a server of this crate sends by default.
                max_message_size: 64 << 20,
                ..TransportLimits::default()
            },
            policy: NoSecurity::policy(),
            security_mode: MessageSecurityMode::None,
            server_certificate: Arc::default(),
            token_lifetime: Duration::from_secs(3600),
            key_log: None,
        }
    }
}
