//! Handlers of requests.

use std::sync::Arc;

use takt_rt::segment::Segment;
use takt_ua::binary::Encoder;

use crate::address::ApplicationName;
use crate::channel::socket::PeerCredentials;

/// Result of handling a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShmOutcome {
    /// The response was encoded. If it is empty, the client is told that it would have been too large.
    Complete,
    /// The response will be returned by [`Handler::take_completed`].
    Deferred,
}

/// Place of a current value.
#[derive(Debug, Clone)]
pub struct Located {
    /// Number of the segment, and the segment, which stays the same.
    pub segment: (u32, Arc<Segment>),
    /// Location in the segment, and the kind of the value.
    pub location: Vec<u8>,
}

/// Function that wakes a server when a deferred response is ready; it may be called from any thread.
pub type ShmCompletionWaker = Arc<dyn Fn() + Send + Sync>;

/// Handler of the requests that a [`ShmServer`](crate::ShmServer) receives.
pub trait Handler {
    /// State that the handler keeps for each channel; one more is kept for all public services together.
    type Connection;

    /// Creates the state of a channel that was opened by `peer`, or, with `None`, of the public services. The latter can be used
    /// by every process of the same Unix user.
    fn connect(
        &self,
        peer: Option<PeerCredentials>,
        name: &ApplicationName,
        waker: ShmCompletionWaker,
    ) -> Self::Connection;

    /// Handles a request: TypeId and structure (OPC 10000-6, 5.2.2.15 and 6.7.2.5). It encodes one response in the same form, a
    /// ServiceFault at worst, unless it is deferred; `request_id` then identifies the request of an answer.
    fn handle(
        &self,
        connection: &mut Self::Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> ShmOutcome;

    /// Handles a long request like [`handle`](Self::handle). The handler may take its memory if it defers the response.
    fn handle_owned(
        &self,
        connection: &mut Self::Connection,
        request_id: u32,
        request: &mut Vec<u8>,
        response: &mut Encoder<'_>,
    ) -> ShmOutcome {
        self.handle(connection, request_id, request, response)
    }

    /// Returns whether the requests since the last [`turn`](crate::ShmServer::turn) took so long that other clients shall be
    /// served first. It is asked after each request of a channel with several ones.
    fn is_turn_over(&self) -> bool {
        false
    }

    /// Returns the place where the current value of a node (its NodeId in the binary DataEncoding) can be read without a request;
    /// `None` if there is none, or not for every client. The handler and its clients agree on the content; this crate only passes
    /// it on.
    fn locate(&self, connection: &mut Self::Connection, node_id: &[u8]) -> Option<Located> {
        let _ = (connection, node_id);
        None
    }

    /// Returns the next deferred response that is ready.
    fn take_completed(&self, connection: &mut Self::Connection) -> Option<(u32, Vec<u8>)>;

    /// Ends the state of a channel that was closed, or whose client has died.
    fn disconnect(&self, connection: Self::Connection);
}
