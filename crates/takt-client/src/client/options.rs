//! Options of a Client.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_tcp::{EndpointUrl, ExpectedServer, ReverseListener};
use takt_ua::binary::Limits;

use super::choice::ClientSecurity;
use super::left_sessions::LeftSessions;
use crate::endpoint::Endpoint;

/// Way in which a thread waits for the other side: [`takt_shm::WaitPolicy`], for both transports.
pub type Waiting = takt_shm::WaitPolicy;

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
    /// A name and the file with its password or secret in the first line. The file is read for each session, so that a changed
    /// password needs no restart.
    PasswordFile {
        /// The name.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// A certificate (DER or PEM) and its private key (PEM) (OPC 10000-4, 7.40.5).
    Certificate {
        /// File of the certificate.
        certificate: PathBuf,
        /// File of the key.
        key: PathBuf,
    },
    /// A JSON Web Token of an authorization service that the server trusts (OPC 10000-6, 6.5.2).
    Issued {
        /// The token. It is sent encrypted only.
        token: String,
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
    /// The ApplicationUri that has to be in the certificate of the server, over TCP with security; by default the one that the
    /// server itself names.
    pub server_uri: Option<String>,
    /// Security of connections over TCP.
    pub security: ClientSecurity,
    /// Socket at which the server connects to this application, instead of being connected to (reverse connect,
    /// OPC 10000-6, 7.1.3). The host of the endpoint is that of the EndpointUrl that the server sends.
    pub reverse: Option<ReverseClient>,
    /// Memory in bytes that the answers of the server to one call of the client take: its lists, however many requests they need.
    /// More is [`ClientError::TooMuch`](crate::ClientError::TooMuch).
    pub max_memory: usize,
    /// Sessions of lost connections, which the next connection closes.
    pub left_sessions: LeftSessions,
}

/// Socket of a client to which servers connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReverseClient {
    /// The socket. Clients of several servers may share it.
    pub listener: ReverseListener,
    /// Longest wait for a connection of the server.
    pub wait: Duration,
}

impl ReverseClient {
    /// Waits up to 20 s at this socket: servers that were refused, or found no client, pause before they connect again.
    pub fn new(listener: ReverseListener) -> Self {
        Self {
            listener,
            wait: Duration::from_secs(20),
        }
    }
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
            server_uri: None,
            security: ClientSecurity::default(),
            reverse: None,
            max_memory: Limits::DEFAULT.max_memory,
            left_sessions: LeftSessions::default(),
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

    /// Returns the limits of the decoder of one answer.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            max_memory: self.max_memory,
            ..Limits::DEFAULT
        }
    }

    /// Returns the end of a connection attempt that begins now.
    pub(super) fn connect_deadline(&self) -> Instant {
        // With reverse connect, the server decides when a connection begins.
        let wait = self
            .reverse
            .as_ref()
            .map_or(Duration::ZERO, |reverse| reverse.wait);
        after(Instant::now(), self.timeout.saturating_add(wait))
    }

    /// Returns whether the last wait for a connection of the server was in vain. Clients with this socket and server share them.
    #[must_use]
    pub fn lacks_connection(&self, endpoint: &Endpoint) -> bool {
        match (endpoint, &self.reverse) {
            (Endpoint::Tcp(url), Some(reverse)) => reverse.listener.is_missing(&self.expected(url)),
            _ => false,
        }
    }

    /// Returns the server that has to connect.
    pub(super) fn expected(&self, url: &EndpointUrl) -> ExpectedServer {
        ExpectedServer {
            url: url.clone(),
            server_uri: self.server_uri.clone(),
        }
    }

    /// Returns the ApplicationUri of the client: the given one, or one with its ApplicationName.
    #[must_use]
    pub fn uri(&self) -> String {
        if self.application_uri.is_empty() {
            format!("urn:takt:consumer:{}", self.application_name)
        } else {
            self.application_uri.clone()
        }
    }
}
