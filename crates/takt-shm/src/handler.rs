//! Channels in shared memory as the handler of their requests sees them.

use std::sync::Arc;

use takt_rt::segment::Segment;
use takt_ua::request_handler::{CompletionWaker, RequestHandler};

use crate::address::ApplicationName;
use crate::channel::socket::PeerCredentials;

/// Place of a current value.
#[derive(Debug, Clone)]
pub struct Located {
    /// Number of the segment, and the segment, which stays the same.
    pub segment: (u32, Arc<Segment>),
    /// Location in the segment, and the kind of the value.
    pub location: Vec<u8>,
}

/// Begin of the channels of a [`ShmServer`](crate::ShmServer), and what its clients do without requests, for the handler of their
/// requests. One more connection is kept for all public services together.
pub trait ShmChannels: RequestHandler {
    /// Creates the state of a channel that was opened by `peer`, or, with `None`, of the public services. The latter can be used
    /// by every process of the same Unix user.
    fn connect(
        &self,
        peer: Option<PeerCredentials>,
        name: &ApplicationName,
        waker: CompletionWaker,
    ) -> Self::Connection;

    /// Returns the place where the current value of a node (its NodeId in the binary DataEncoding) can be read without a request;
    /// `None` if there is none, or not for every client. The handler and its clients agree on the content; this crate only passes
    /// it on.
    fn locate(&self, connection: &mut Self::Connection, node_id: &[u8]) -> Option<Located> {
        let _ = (connection, node_id);
        None
    }
}
