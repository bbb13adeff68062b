//! SecureChannels as the handler of their requests sees them.

use std::net::SocketAddr;
use std::sync::Arc;

use takt_crypto::PeerCertificate;
use takt_ua::request_handler::{CompletionWaker, RequestHandler};

use crate::error::TransportError;
use crate::server_event::ChannelDescription;

/// Client at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpPeer {
    /// Address and port.
    pub address: SocketAddr,
    /// Unix user that made the client's socket, if it is one of this host and of this network namespace, and the kernel names the
    /// user.
    pub user: Option<u32>,
}

/// Begin and end of the SecureChannels of a [`TcpServer`](crate::TcpServer), for the handler of their requests.
pub trait TcpChannels: RequestHandler {
    /// Notes that a client has opened a SecureChannel, and returns the state that the handler keeps for it.
    fn connect(
        &self,
        peer: TcpPeer,
        channel: ChannelDescription<'_>,
        waker: CompletionWaker,
    ) -> Self::Connection;

    /// Returns whether the client uses an activated Session. When memory or connections run out, connections without
    /// one are closed first.
    fn has_session(&self, connection: &Self::Connection) -> bool;

    /// Notes that a connection is closed because of an error, before [`disconnect`](RequestHandler::disconnect) if it has a
    /// SecureChannel. `client` is what the client has sent as its certificate; it may be empty.
    fn failed(&self, address: SocketAddr, client: &Arc<PeerCertificate>, error: &TransportError) {
        let _ = (address, client, error);
    }
}
