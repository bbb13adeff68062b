//! Handler of the requests that a [`TcpServer`](crate::TcpServer) receives.

use std::net::SocketAddr;
use std::sync::Arc;

use takt_ua::binary::Encoder;

use crate::error::TransportError;
use crate::server_event::ChannelDescription;

/// Result of handling a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpOutcome {
    /// The response was encoded. If nothing was encoded, the client is told that the response is too large.
    Complete,
    /// The response follows by [`RequestHandler::take_completed`], after the connection's waker was called.
    Deferred,
}

/// Wakes the transport's thread because [`RequestHandler::take_completed`] has a response. It may be called from any
/// thread at any time, and costs at most one system call.
pub type TcpCompletionWaker = Arc<dyn Fn() + Send + Sync>;

/// Answers requests. Bodies are TypeId and structure in the OPC UA Binary DataEncoding (OPC 10000-6, 5.2.9).
pub trait RequestHandler {
    /// State that the handler keeps for each SecureChannel.
    type Connection;

    /// Notes that the client at `address` has opened a SecureChannel.
    fn connect(
        &self,
        address: SocketAddr,
        channel: ChannelDescription<'_>,
        waker: TcpCompletionWaker,
    ) -> Self::Connection;

    /// Answers `request` into `response`, whose limit is what the client accepts, or defers the answer. Called on the
    /// transport's thread: it must not block.
    fn handle(
        &self,
        connection: &mut Self::Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> TcpOutcome;

    /// Answers like [`handle`](Self::handle) a request that came in more than one chunk. The handler may take its memory if
    /// it defers the answer.
    fn handle_owned(
        &self,
        connection: &mut Self::Connection,
        request_id: u32,
        request: &mut Vec<u8>,
        response: &mut Encoder<'_>,
    ) -> TcpOutcome {
        self.handle(connection, request_id, request, response)
    }

    /// Returns whether the requests since the last wait took so long that other connections shall be served first. It is
    /// asked after each request. The other requests of that connection are handled after the next wait.
    fn is_turn_over(&self) -> bool {
        false
    }

    /// Returns whether the client uses an activated Session. When memory or connections run out, connections without
    /// one are closed first.
    fn has_session(&self, connection: &Self::Connection) -> bool;

    /// Returns the next response that was deferred and is complete: its RequestId, TypeId and structure.
    fn take_completed(&self, connection: &mut Self::Connection) -> Option<(u32, Vec<u8>)>;

    /// Notes that a connection is closed because of an error, before [`disconnect`](Self::disconnect) if it has a SecureChannel.
    /// `certificate` is what the client has sent as its certificate, followed by those of its issuers (DER); it may be empty.
    fn failed(&self, address: SocketAddr, certificate: &[u8], error: &TransportError) {
        let _ = (address, certificate, error);
    }

    /// Notes that the SecureChannel is closed, for any reason.
    fn disconnect(&self, connection: Self::Connection);
}
