//! The end of a run or of a wait.

use std::time::{Duration, Instant};

/// Time at which a run or a wait ends. An end behind the last time of the clock never comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit(Option<Instant>);

impl TimeLimit {
    /// No end.
    pub const NEVER: Self = Self(None);

    /// Returns the end after this time from now, which may be any.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self(Instant::now().checked_add(time))
    }

    /// Returns the end after this time from now; without a time there is no end.
    #[must_use]
    pub fn of(time: Option<Duration>) -> Self {
        time.map_or(Self::NEVER, Self::after)
    }

    /// Returns the time until the end: 0 afterwards, [`Duration::MAX`] without an end.
    #[must_use]
    pub fn left(self) -> Duration {
        self.0.map_or(Duration::MAX, |end| {
            end.saturating_duration_since(Instant::now())
        })
    }

    /// Returns true from the end on.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_has_an_end_or_none() {
        for time in [Duration::MAX, Duration::from_secs(u64::MAX)] {
            assert_eq!(TimeLimit::after(time), TimeLimit::NEVER);
        }
        assert_eq!(TimeLimit::of(None).left(), Duration::MAX);
        assert!(!TimeLimit::NEVER.is_over());
        assert!(TimeLimit::after(Duration::ZERO).is_over());
        let hour = Duration::from_secs(3600);
        let limit = TimeLimit::of(Some(hour));
        assert!(limit.left() <= hour && !limit.is_over());
    }
}
