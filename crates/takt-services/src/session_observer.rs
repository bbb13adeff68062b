//! Who wants to know that clients come and go.

use takt_space::Caller;
use takt_ua::NodeId;

/// Told about Sessions. Called on the transport's thread: it must not block.
pub trait SessionObserver: Send + Sync {
    /// A Session was activated, for the first time or for another channel or user.
    fn activated(&self, caller: &Caller) {
        let _ = caller;
    }

    /// A Session was closed, has timed out, or has lost its channel. In the last case it may be activated again.
    fn gone(&self, session_id: &NodeId) {
        let _ = session_id;
    }
}

/// Nobody wants to know.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSessionObserver;

impl SessionObserver for NoSessionObserver {}
