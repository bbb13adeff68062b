//! The absence of the client of a Subscription, and what follows its return.

use std::time::Instant;

/// The absence of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Absence {
    pub(super) since: Instant,
    /// True if the Session has ended: only a transfer brings a client back.
    pub(super) has_ended: bool,
}

/// The items, behind an id, that are to be sampled anew after a suspension.
pub(super) struct Resumption {
    pub(super) done: Option<u32>,
    pub(super) since: Instant,
}
