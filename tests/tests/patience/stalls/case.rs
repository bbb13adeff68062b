//! A case: one disturbance of one side.

use std::time::Duration;

/// Time limit for a follower on a loaded machine. A follower that waits for the next change of a constant value would need for ever.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// Side that is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Provider,
    Registry,
    /// The processes of followers: of `takt watch`, Consumers, asynchronous clients, and Publishers.
    Clients,
}

/// Kind of a disturbance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// The process stands still (SIGSTOP).
    Stall,
    /// No byte passes between client and server over TCP.
    Cut,
    /// The process is killed and starts again.
    Restart,
}

/// One case: seconds of the disturbance, and whether the constant value changes once meanwhile.
pub(super) type Case = (Disturbance, Side, f64, bool);
