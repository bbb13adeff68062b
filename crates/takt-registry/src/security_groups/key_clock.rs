//! The time by which keys change.

use std::time::Instant;

use takt_ua::DateTime;

/// Time that goes on with the monotonic clock. Those who got keys count their lifetimes with it, too: a jump of the real-time clock must
/// not separate the keys of this service from theirs.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyClock {
    date_time: DateTime,
    started: Instant,
}

impl KeyClock {
    /// Starts with the time of the real-time clock, which keys have to keep over a restart.
    pub(super) fn start() -> Self {
        Self {
            date_time: DateTime::now(),
            started: Instant::now(),
        }
    }

    /// Returns the time now.
    pub(super) fn now(&self) -> DateTime {
        self.at(Instant::now())
    }

    fn at(&self, now: Instant) -> DateTime {
        let passed = now.saturating_duration_since(self.started).as_nanos() / 100;
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        DateTime(self.date_time.0.saturating_add(passed))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_time_goes_on_with_the_monotonic_clock() {
        let clock = KeyClock::start();
        let later = clock.at(clock.started + Duration::from_secs(3));
        assert_eq!(later.0 - clock.date_time.0, 30_000_000);
        assert!(clock.now() >= clock.date_time);
    }
}
