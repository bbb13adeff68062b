//! Who sends a request: the peer behind the transport, the client application and the user of the Session.

use std::sync::Arc;

use takt_ua::{NodeId, UaString};

/// What carries the requests of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// `opc.tcp` (OPC 10000-6, 7).
    Tcp,
    /// `opc.iox2`: shared memory of this host.
    SharedMemory,
}

/// The process at the other end of a connection, as the transport knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// What carries its requests.
    pub transport: Transport,
    /// Unix user id, where the operating system vouches for it.
    pub user: Option<u32>,
    /// Process id, where the operating system vouches for it.
    pub process: Option<u32>,
    /// Address for people: `127.0.0.1:50123`, or the name of the shared-memory node.
    pub address: String,
}

/// The user on whose behalf a Session acts (OPC 10000-4, 7.40).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UserIdentity {
    /// No user: AnonymousIdentityToken, or none at all.
    #[default]
    Anonymous,
    /// A user that the server accepted.
    UserName {
        /// The name that the client gave.
        name: String,
    },
}

/// Everything that is known about who sends a request.
///
/// Application name and URI are the client's own words (CreateSession, clientDescription); only `peer.user`,
/// `peer.process` and `user` have been checked by somebody.
#[derive(Debug, Clone, PartialEq)]
pub struct Caller {
    /// The process behind the transport.
    pub peer: Arc<Peer>,
    /// NodeId of the Session.
    pub session_id: NodeId,
    /// Name that the client gave the Session.
    pub session_name: UaString,
    /// ApplicationName from the clientDescription of CreateSession.
    pub application_name: UaString,
    /// ApplicationUri from the clientDescription of CreateSession.
    pub application_uri: UaString,
    /// The user, set by ActivateSession.
    pub user: UserIdentity,
}

impl Caller {
    /// Bytes of memory that its names take, about.
    pub fn memory(&self) -> usize {
        let names = [
            &self.session_name,
            &self.application_name,
            &self.application_uri,
        ];
        size_of::<Self>() + names.iter().map(|name| name.as_str().len()).sum::<usize>()
    }

    /// A caller for changes that the application itself makes, outside any Session.
    pub fn local() -> Self {
        Self {
            peer: Arc::new(Peer {
                transport: Transport::SharedMemory,
                user: None,
                process: Some(std::process::id()),
                address: String::from("local"),
            }),
            session_id: NodeId::NULL,
            session_name: UaString::null(),
            application_name: UaString::null(),
            application_uri: UaString::null(),
            user: UserIdentity::Anonymous,
        }
    }
}
