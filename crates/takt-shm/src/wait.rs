//! How a side waits for the other.

use std::time::Duration;

/// How to wait for a message.
///
/// Waking a sleeping thread on another core takes 6 to 7 µs, a message between two spinning ones less than 1 µs;
/// spinning uses a whole core. A spinning thread with a real-time priority is stopped for 50 ms in every
/// second by the kernel's `sched_rt_runtime_us`, unless that is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Look at the shared memory until a message is there.
    Spin,
    /// Look at the shared memory for a while, then sleep.
    Adaptive {
        /// For how long.
        spin_for: Duration,
    },
    /// Sleep at once.
    Sleep,
}

impl WaitPolicy {
    /// Spin for 20 µs, then sleep.
    pub const ADAPTIVE: Self = Self::Adaptive {
        spin_for: Duration::from_micros(20),
    };

    /// For how long to spin before sleeping; `None` is for ever.
    #[must_use]
    pub const fn spin_for(self) -> Option<Duration> {
        match self {
            Self::Spin => None,
            Self::Adaptive { spin_for } => Some(spin_for),
            Self::Sleep => Some(Duration::ZERO),
        }
    }

    /// Whether this side has to be woken by a doorbell.
    #[must_use]
    pub const fn sleeps(self) -> bool {
        !matches!(self, Self::Spin)
    }
}

impl Default for WaitPolicy {
    fn default() -> Self {
        Self::ADAPTIVE
    }
}
