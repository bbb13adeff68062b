//! Interface between transports and services: a request message in, one response message out.
//!
//! Messages are TypeId and structure in the binary DataEncoding (OPC 10000-6, 5.2.9). A transport carries them and knows no
//! service, the services know no transport, and both know this trait.

use std::sync::Arc;

use crate::binary::Encoder;

/// Result of handling a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// One response message was encoded, a ServiceFault at worst. If nothing was encoded, not even that fitted (it takes fewer than
    /// 64 bytes), and the transport tells the client that the response is too large.
    Complete,
    /// Nothing was encoded: the response follows by [`RequestHandler::take_completed`], after the waker of the connection was
    /// called.
    Deferred,
}

/// Wakes the thread of a transport because [`RequestHandler::take_completed`] has a response. It may be called from any thread at
/// any time, and costs at most one system call.
pub type CompletionWaker = Arc<dyn Fn() + Send + Sync>;

/// Answers the requests that a transport receives. It is called on the thread of the transport and must not block.
///
/// Channels begin in another way on each transport, so each transport extends this trait by one for the begin of its channels.
pub trait RequestHandler {
    /// State that the handler keeps for each channel.
    type Connection;

    /// Answers `request` into `response`, whose limit is what the client accepts, or defers the answer. `request_id` identifies
    /// the request among those of the connection.
    fn handle(
        &self,
        connection: &mut Self::Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome;

    /// Answers like [`handle`](Self::handle) a long request, which has memory of its own. The handler may take the memory if it
    /// defers the answer.
    fn handle_owned(
        &self,
        connection: &mut Self::Connection,
        request_id: u32,
        request: &mut Vec<u8>,
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        self.handle(connection, request_id, request, response)
    }

    /// Returns true if the requests since the last wait of the transport took so long that other clients shall be served first. It
    /// is asked after each request; the other requests of the connection are handled after the next wait.
    fn is_turn_over(&self) -> bool {
        false
    }

    /// Returns the next response that was deferred and is complete: its request id, and the message.
    fn take_completed(&self, connection: &mut Self::Connection) -> Option<(u32, Vec<u8>)>;

    /// Ends the state of a channel that is closed, for any reason.
    fn disconnect(&self, connection: Self::Connection);
}
