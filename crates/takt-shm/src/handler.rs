//! Who answers the requests.

use std::sync::Arc;

use takt_rt::segment::Segment;
use takt_ua::binary::Encoder;

use crate::address::ApplicationName;
use crate::channel::socket::PeerCredentials;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The response was encoded. If nothing was, the client is told that it would have been too large.
    Complete,
    /// The response will come by [`Handler::take_completed`].
    Deferred,
}

/// Where a current value is.
#[derive(Debug, Clone)]
pub struct Located {
    /// The number of the segment, and the segment, which stays the same.
    pub segment: (u32, Arc<Segment>),
    /// Where in the segment it is, and what it is.
    pub location: Vec<u8>,
}

/// Wakes a server when a deferred response is ready; may be called from any thread.
pub type CompletionWaker = Arc<dyn Fn() + Send + Sync>;

/// Answers the requests that a [`ShmServer`](crate::ShmServer) receives.
pub trait Handler {
    /// What it keeps for each channel; one more is kept for all public services together.
    type Connection;

    /// A channel was opened by `peer`, or, with `None`, the public services were. The latter can be used by every process of
    /// the same Unix user.
    fn connect(
        &self,
        peer: Option<PeerCredentials>,
        name: &ApplicationName,
        waker: CompletionWaker,
    ) -> Self::Connection;

    /// Handles a request: TypeId and structure (OPC 10000-6, 5.2.2.15 and 6.7.2.5). Encodes one response in the same form, a
    /// ServiceFault at worst, unless it is deferred; `request_id` then says which request an answer belongs to.
    fn handle(
        &self,
        connection: &mut Self::Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> Outcome;

    /// Where the current value of a node (its NodeId in the binary DataEncoding) can be read without asking; `None` if
    /// nowhere, or not by everybody. The handler and its clients agree on what is there; this crate only passes it on.
    fn locate(&self, connection: &mut Self::Connection, node_id: &[u8]) -> Option<Located> {
        let _ = (connection, node_id);
        None
    }

    /// The next deferred response that is ready.
    fn take_completed(&self, connection: &mut Self::Connection) -> Option<(u32, Vec<u8>)>;

    /// The channel was closed, or its client has died.
    fn disconnect(&self, connection: Self::Connection);
}
