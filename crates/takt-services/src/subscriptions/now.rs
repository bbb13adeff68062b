//! The time that the engine is given.

use std::time::Instant;

use takt_ua::DateTime;

/// The current time on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    pub(crate) date_time: DateTime,
}

impl Now {
    pub(crate) fn get() -> Self {
        Self {
            instant: Instant::now(),
            date_time: DateTime::now(),
        }
    }
}
