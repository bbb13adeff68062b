//! The time that is passed in.

use std::time::Instant;

use takt_ua::DateTime;

/// One moment, on both clocks: timestamps are of one, intervals of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// For intervals; it never goes back.
    pub instant: Instant,
    /// For timestamps.
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
