//! Running estimate of a duration.

/// Weight of a new value: one eighth.
const WEIGHT: u64 = 8;

/// Deviations from the mean beyond which a value is an outlier.
const USUAL: u64 = 4;
/// Nanoseconds that a value may always differ.
const FLOOR: u64 = 10_000;
/// Number of consecutive outliers on one side that start a new estimate.
const OUTLIERS: u8 = 3;

/// Mean and mean absolute deviation of a duration in nanoseconds, estimated like round trips in TCP (RFC 6298).
///
/// A single outlier changes little: the thread lost its processor for a moment, or the other side did. Three of them on one side
/// start a new estimate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Estimate {
    mean: u64,
    deviation: u64,
    known: bool,
    outliers: u8,
    above: bool,
}

impl Estimate {
    /// Adds a measured duration in nanoseconds. Returns false if it is an outlier.
    pub(super) fn note(&mut self, nanos: u64) -> bool {
        if !self.known {
            *self = Self::first(nanos);
            return true;
        }
        let difference = self.mean.abs_diff(nanos);
        let usual = USUAL * self.deviation + FLOOR;
        if difference > usual {
            let above = nanos > self.mean;
            self.outliers = if above == self.above {
                self.outliers + 1
            } else {
                1
            };
            self.above = above;
            if self.outliers >= OUTLIERS {
                *self = Self::first(nanos);
                return true;
            }
            // Where outliers are frequent, the deviation grows until they are none.
            self.deviation += (usual - self.deviation) / WEIGHT;
            return false;
        }
        self.outliers = 0;
        self.deviation = self.deviation - self.deviation / WEIGHT + difference / WEIGHT;
        self.mean = self.mean - self.mean / WEIGHT + nanos / WEIGHT;
        true
    }

    fn first(nanos: u64) -> Self {
        Self {
            mean: nanos,
            // As in RFC 6298: nothing is known about the deviation yet.
            deviation: nanos / 2,
            known: true,
            ..Self::default()
        }
    }

    /// Returns the mean in nanoseconds; none before the first value.
    pub(super) fn mean(&self) -> Option<u64> {
        self.known.then_some(self.mean)
    }

    /// Returns the mean absolute deviation in nanoseconds.
    pub(super) fn deviation(&self) -> u64 {
        self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_durations_have_no_deviation() {
        let mut estimate = Estimate::default();
        assert_eq!(estimate.mean(), None);
        for _ in 0..60 {
            estimate.note(1_000_000);
        }
        assert!(estimate.mean().unwrap().abs_diff(1_000_000) < 16);
        assert!(estimate.deviation() < 1_000, "{}", estimate.deviation());
        for nanos in [0, 2_000_000].repeat(50) {
            estimate.note(nanos);
        }
        assert!(estimate.deviation() > 800_000, "{}", estimate.deviation());
    }

    #[test]
    fn an_outlier_changes_little_and_three_are_a_new_duration() {
        let mut estimate = Estimate::default();
        for _ in 0..100 {
            assert!(estimate.note(10_000_000));
        }
        for _ in 0..10 {
            assert!(!estimate.note(13_000_000));
            assert!(!estimate.note(7_000_000));
            for _ in 0..18 {
                assert!(estimate.note(10_000_000));
            }
        }
        assert_eq!(
            estimate.mean().map(|mean| mean.abs_diff(10_000_000) < 16),
            Some(true)
        );
        assert!(estimate.deviation() < 5_000, "{}", estimate.deviation());
        assert!(!estimate.note(20_000_000));
        assert!(!estimate.note(20_000_000));
        assert!(estimate.note(20_000_000));
        assert_eq!(estimate.mean(), Some(20_000_000));
    }
}
