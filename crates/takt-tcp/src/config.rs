//! How connections are set up, on either side.

use std::sync::Arc;
use std::time::Duration;

use takt_rt::memory_budget::MemoryBudget;
use takt_ua::enumerations::MessageSecurityMode;

use crate::hello::TransportLimits;
use crate::security::{NoSecurity, SecurityPolicy};

/// How a server treats connections.
#[derive(Debug, Clone)]
pub struct ServerConnectionConfig {
    /// What is received and sent at most.
    pub limits: TransportLimits,
    /// The SecurityPolicies that are offered.
    pub policies: Vec<Arc<dyn SecurityPolicy>>,
    /// How long a new connection may take to say Hello, and then again to open its SecureChannel.
    pub handshake_timeout: Duration,
    /// How long the rest of a chunk, or the next chunk of a message, may take.
    pub chunk_timeout: Duration,
    /// How long a client may take nothing of what is to be sent to it.
    pub send_timeout: Duration,
    /// The shortest lifetime that a token is given.
    pub min_token_lifetime: Duration,
    /// The longest lifetime that a token is given; also what a client gets that asks for none.
    pub max_token_lifetime: Duration,
    /// From how many unsent bytes on no more requests of this client are handled or read.
    pub max_unsent: usize,
    /// From how many requests on that are answered later no more requests of this client are handled or read.
    pub max_deferred: usize,
    /// Budget of memory in bytes for the buffers of all connections of the server.
    pub memory: MemoryBudget,
    /// The part of [`memory`](Self::memory) for all connections without an activated Session together.
    pub memory_without_session: MemoryBudget,
    /// Most memory in bytes for the buffers of one connection.
    pub connection_memory: usize,
    /// Most memory in bytes for the buffers of one connection without an activated Session.
    pub connection_memory_without_session: usize,
}

impl Default for ServerConnectionConfig {
    /// SecurityPolicy None, 10 s for each handshake step and chunk, 30 s for a stalled client, tokens of 10 s to 1 h,
    /// back-pressure from 1 MiB unsent or 1024 deferred requests on; 256 MiB of memory in all, 64 MiB of it without a Session,
    /// 96 MiB for one connection, 4 MiB for one without a Session.
    fn default() -> Self {
        let memory = MemoryBudget::new(256 << 20);
        Self {
            limits: TransportLimits::default(),
            policies: vec![NoSecurity::policy()],
            handshake_timeout: Duration::from_secs(10),
            chunk_timeout: Duration::from_secs(10),
            send_timeout: Duration::from_secs(30),
            min_token_lifetime: Duration::from_secs(10),
            max_token_lifetime: Duration::from_secs(3600),
            max_unsent: 1 << 20,
            max_deferred: 1024,
            memory_without_session: memory.part(64 << 20),
            memory,
            // The largest response, the largest request, and what is around them.
            connection_memory: 96 << 20,
            connection_memory_without_session: 4 << 20,
        }
    }
}

/// How a client opens its SecureChannel.
#[derive(Debug, Clone)]
pub struct ClientConnectionConfig {
    /// What is received and sent at most.
    pub limits: TransportLimits,
    /// The SecurityPolicy to use.
    pub policy: Arc<dyn SecurityPolicy>,
    /// Whether to sign and encrypt.
    pub security_mode: MessageSecurityMode,
    /// The server's certificate (DER); empty with SecurityPolicy None.
    pub server_certificate: Vec<u8>,
    /// The token lifetime to ask for; the server may revise it.
    pub token_lifetime: Duration,
}

impl Default for ClientConnectionConfig {
    /// SecurityPolicy None, tokens of one hour; responses of up to 64 MiB are received.
    fn default() -> Self {
        Self {
            limits: TransportLimits {
                max_message_size: 64 << 20,
                ..TransportLimits::default()
            },
            policy: NoSecurity::policy(),
            security_mode: MessageSecurityMode::None,
            server_certificate: Vec::new(),
            token_lifetime: Duration::from_secs(3600),
        }
    }
}
