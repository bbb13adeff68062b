//! Notifications about Sessions that are activated and closed.

use takt_space::Caller;
use takt_ua::NodeId;

/// Observer of Sessions. Called on the transport's thread: it must not block.
pub trait SessionObserver: Send + Sync {
    /// Notifies that a Session was activated, for the first time or for another channel or user.
    fn activated(&self, caller: &Caller) {
        let _ = caller;
    }

    /// Notifies that a Session was closed, has timed out, or has lost its channel. In the last case it may be activated again.
    fn gone(&self, session_id: &NodeId) {
        let _ = session_id;
    }
}

/// Observer that ignores all notifications.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSessionObserver;

impl SessionObserver for NoSessionObserver {}
