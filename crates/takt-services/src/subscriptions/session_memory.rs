//! The memory of all Sessions, as far as Subscriptions without a client leave it to others.

use std::time::Instant;

use takt_rt::memory_budget::MemoryBudget;

/// Inverse of the fraction of the memory of Sessions that abandoned Subscriptions leave to others.
const LEFT_TO_OTHERS: usize = 4;

/// The memory of Sessions, and the time of the next look at it.
pub(crate) struct SessionMemory {
    /// The memory of all Sessions, and the part of it for durable Subscriptions.
    sessions: MemoryBudget,
    durable: MemoryBudget,
    /// Time of the next look; `None` if no Subscription is or will be abandoned as far as is known.
    next_look: Option<Instant>,
}

impl SessionMemory {
    pub(crate) fn new(sessions: MemoryBudget, durable: MemoryBudget) -> Self {
        Self {
            sessions,
            durable,
            next_look: None,
        }
    }

    /// Notes that a Subscription is abandoned from then on.
    pub(super) fn note_abandoned(&mut self, at: Instant) {
        self.next_look = Some(self.next_look.map_or(at, |next| next.min(at)));
    }

    pub(super) fn next_look(&self) -> Option<Instant> {
        self.next_look
    }

    /// Sets the time of the next look.
    pub(super) fn look_at(&mut self, at: Option<Instant>) {
        self.next_look = at;
    }

    /// Returns the memory of one more durable Subscription.
    pub(super) fn of_durable(&self) -> MemoryBudget {
        self.durable.fair_part(self.durable.limit())
    }

    /// Returns true if others need the memory of abandoned Subscriptions.
    pub(super) fn is_short(&self) -> bool {
        self.sessions.available() < self.sessions.limit() / LEFT_TO_OTHERS
    }
}
