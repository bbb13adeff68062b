//! Policy of waiting for the other side.

use std::time::Duration;

use takt_rt::waiting::{Arrivals, SpinBudget};

/// Policy of waiting for a message.
///
/// Waking a sleeping thread on another core takes 6 to 7 µs, a message between two spinning ones less than 1 µs;
/// spinning uses a whole core. A spinning thread with a real-time priority is stopped for 50 ms in every
/// second by the kernel's `sched_rt_runtime_us`, unless that is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Look at the shared memory until a message is there.
    Spin,
    /// Look at the shared memory where messages are expected, and sleep otherwise. The thread learns from its hits:
    ///
    /// * A client spins for at most `spin_for`, and after a pause for up to a sixteenth of it (200 µs at most), as long as at
    ///   least half of its spins end with a response ([`SpinBudget`]).
    /// * A server spins after a request for at least `spin_for` and at most 1.5 ms, as long as at least half of its spins end
    ///   with a request, and sleeps until shortly before a request that comes regularly ([`Arrivals`]).
    /// * If the thread of the server is bound to one processor, neither side spins while the client runs on that processor.
    Adaptive {
        /// Time of one spin.
        spin_for: Duration,
    },
    /// Sleep at once.
    Sleep,
}

impl WaitPolicy {
    /// Adaptive waiting that spins for 20 µs.
    pub const ADAPTIVE: Self = Self::Adaptive {
        spin_for: Duration::from_micros(20),
    };

    /// Returns the longest spin of a client before it sleeps; `None` is without end.
    #[must_use]
    pub const fn spin_for(self) -> Option<Duration> {
        match self {
            Self::Spin => None,
            Self::Adaptive { spin_for } => Some(spin_for),
            Self::Sleep => Some(Duration::ZERO),
        }
    }

    /// Returns true if this side has to be woken by a doorbell.
    #[must_use]
    pub const fn sleeps(self) -> bool {
        !matches!(self, Self::Spin)
    }

    /// Returns the learner of a client that waits adaptively.
    #[must_use]
    pub fn budget(self) -> Option<SpinBudget> {
        match self {
            Self::Adaptive { spin_for } => Some(SpinBudget::new(spin_for)),
            Self::Spin | Self::Sleep => None,
        }
    }

    /// Returns the learner of a server that waits adaptively.
    #[must_use]
    pub fn arrivals(self) -> Option<Arrivals> {
        match self {
            Self::Adaptive { spin_for } => Some(Arrivals::new(spin_for)),
            Self::Spin | Self::Sleep => None,
        }
    }
}

impl Default for WaitPolicy {
    fn default() -> Self {
        Self::ADAPTIVE
    }
}
