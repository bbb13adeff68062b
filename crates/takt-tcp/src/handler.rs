//! SecureChannels as the handler of their requests sees them.

use std::net::SocketAddr;

use takt_ua::request_handler::{CompletionWaker, RequestHandler};

use crate::error::TransportError;
use crate::server_event::ChannelDescription;

/// Begin and end of the SecureChannels of a [`TcpServer`](crate::TcpServer), for the handler of their requests.
pub trait TcpChannels: RequestHandler {
    /// Notes that the client at `address` has opened a SecureChannel, and returns the state that the handler keeps for it.
    fn connect(
        &self,
        address: SocketAddr,
        channel: ChannelDescription<'_>,
        waker: CompletionWaker,
    ) -> Self::Connection;

    /// Returns whether the client uses an activated Session. When memory or connections run out, connections without
    /// one are closed first.
    fn has_session(&self, connection: &Self::Connection) -> bool;

    /// Notes that a connection is closed because of an error, before [`disconnect`](RequestHandler::disconnect) if it has a
    /// SecureChannel. `certificate` is what the client has sent as its certificate, followed by those of its issuers (DER); it may
    /// be empty.
    fn failed(&self, address: SocketAddr, certificate: &[u8], error: &TransportError) {
        let _ = (address, certificate, error);
    }
}
