//! Recording of one Variable.

use std::time::Duration;

/// The values of a Variable that are recorded, and the time for which they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recording {
    /// Time between two samples.
    pub(super) interval: Duration,
    /// True if only changes of value or StatusCode are recorded.
    pub(super) changes_only: bool,
    pub(super) max_age: Option<Duration>,
}

impl Recording {
    /// Shortest interval of samples.
    pub const MIN_INTERVAL: Duration = Duration::from_millis(1);

    /// Records each change of value or StatusCode. A stored value reports each of its changes. A cell or a callback is sampled
    /// every 100 ms, unless [`interval`](Self::interval) says otherwise: changes in between are not seen, and their writers are
    /// not slowed. A value holds until the next record: the Variable is Stepped (OPC 10000-11, 5.2.4).
    #[must_use]
    pub fn changes() -> Self {
        Self {
            interval: Duration::from_millis(100),
            changes_only: true,
            max_age: None,
        }
    }

    /// Records a sample in each interval, changed or not. Values between two records lie on a line: the Variable is not Stepped.
    #[must_use]
    pub fn sampled(interval: Duration) -> Self {
        Self {
            interval: interval.max(Self::MIN_INTERVAL),
            changes_only: false,
            max_age: None,
        }
    }

    /// Sets the time between two samples.
    #[must_use]
    pub fn interval(self, interval: Duration) -> Self {
        Self {
            interval: interval.max(Self::MIN_INTERVAL),
            ..self
        }
    }

    /// Sets the age from which its records are removed, instead of that of the store.
    #[must_use]
    pub fn max_age(self, age: Duration) -> Self {
        Self {
            max_age: Some(age),
            ..self
        }
    }

    /// Returns true if a value holds until the next record.
    #[must_use]
    pub fn is_stepped(&self) -> bool {
        self.changes_only
    }
}

impl Default for Recording {
    fn default() -> Self {
        Self::changes()
    }
}
