//! Running estimate of a duration.

/// Weight of a new value: one eighth.
const WEIGHT: u64 = 8;

/// Mean and mean absolute deviation of a duration in nanoseconds, estimated like round trips in TCP (RFC 6298).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Estimate {
    mean: u64,
    deviation: u64,
    known: bool,
}

impl Estimate {
    /// Adds a measured duration in nanoseconds.
    pub(super) fn note(&mut self, nanos: u64) {
        if !self.known {
            *self = Self {
                mean: nanos,
                deviation: nanos / 2,
                known: true,
            };
            return;
        }
        let difference = self.mean.abs_diff(nanos);
        self.deviation = self.deviation - self.deviation / WEIGHT + difference / WEIGHT;
        self.mean = self.mean - self.mean / WEIGHT + nanos / WEIGHT;
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
}
