//! Time that is passed in.

use std::time::Instant;

use takt_ua::DateTime;

/// Moment on both clocks: one is for timestamps, the other for intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Time for intervals; it never goes back.
    pub instant: Instant,
    /// Time for timestamps.
    pub date_time: DateTime,
}

impl Now {
    /// Reads the clocks of this machine.
    #[must_use]
    pub fn read() -> Self {
        Self {
            instant: Instant::now(),
            date_time: DateTime::now(),
        }
    }
}
