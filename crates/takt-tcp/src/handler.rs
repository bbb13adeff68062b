//! Whoever answers the requests that a [`TcpServer`](crate::TcpServer) receives.

use std::net::SocketAddr;
use std::sync::Arc;

use takt_ua::binary::Encoder;

use crate::server_event::ChannelDescription;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The response was encoded. If nothing was, the client is told that it would have been too large.
    Complete,
    /// The response will come by [`RequestHandler::take_completed`], after the connection's waker was called.
    Deferred,
}

/// Tells the transport's thread that [`RequestHandler::take_completed`] has something; may be called from any thread, at any
/// time, and costs a system call at most.
pub type CompletionWaker = Arc<dyn Fn() + Send + Sync>;

/// Answers requests. Bodies are TypeId and structure in the OPC UA Binary DataEncoding (OPC 10000-6 5.2.9).
pub trait RequestHandler {
    /// What the handler keeps for each SecureChannel.
    type Connection;

    /// A SecureChannel was opened by the client at `address`.
    fn connect(
        &self,
        address: SocketAddr,
        channel: ChannelDescription<'_>,
        waker: CompletionWaker,
    ) -> Self::Connection;

    /// Answers `request` into `response`, whose limit is what the client accepts, or defers the answer. Called on the
    /// transport's thread: it must not block.
    fn handle(
        &self,
        connection: &mut Self::Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> Outcome;

    /// Whether the client uses an activated Session: where memory or connections run out, those without one go first.
    fn has_session(&self, connection: &Self::Connection) -> bool;

    /// The next response that was deferred and is complete: its RequestId, TypeId and structure.
    fn take_completed(&self, connection: &mut Self::Connection) -> Option<(u32, Vec<u8>)>;

    /// The SecureChannel is closed, for whatever reason.
    fn disconnect(&self, connection: Self::Connection);
}
