//! Latenesses that are to be explained.

/// Kind of a lateness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LateKind {
    /// The thread slept, and woke up late: from its planned start until it ran again.
    WakeUp,
    /// The thread was still busy at its next start: from its last wake-up until it slept again.
    Overrun,
}

impl LateKind {
    /// Returns the name, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WakeUp => "wakeUp",
            Self::Overrun => "overrun",
        }
    }
}

/// Lateness that is to be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateInterval {
    /// Id of the thread (`gettid`).
    pub thread: u32,
    /// Number of the cycle.
    pub cycle: u64,
    /// Kind.
    pub kind: LateKind,
    /// Beginning of the lateness: nanoseconds of CLOCK_MONOTONIC.
    pub begin: u64,
    /// End of the lateness: nanoseconds of CLOCK_MONOTONIC.
    pub end: u64,
}
