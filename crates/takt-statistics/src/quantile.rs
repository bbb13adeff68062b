//! Quantiles by the nearest rank.

/// Parts of a whole.
const WHOLE: u32 = 1_000_000;

/// A quantile by the nearest rank: the smallest sample that at least a share of all samples does not exceed. The share is in parts per
/// million, so that no rounding changes a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantile(u32);

impl Quantile {
    /// The smallest sample.
    pub const MIN: Self = Self(0);
    /// The sample in the middle, the lower one of two.
    pub const MEDIAN: Self = Self(500_000);
    /// The 99th percentile.
    pub const P99: Self = Self(990_000);
    /// The 99.9th percentile.
    pub const P99_9: Self = Self(999_000);
    /// The 99.999th percentile.
    pub const P99_999: Self = Self(999_990);
    /// The largest sample.
    pub const MAX: Self = Self(WHOLE);

    /// Returns the quantile of a share in parts per million. More than a million count as a million.
    #[must_use]
    pub const fn parts_per_million(parts: u32) -> Self {
        Self(if parts > WHOLE { WHOLE } else { parts })
    }

    /// Returns the share, from 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// Returns the rank of this quantile among `count` samples in ascending order, from 1.
    #[must_use]
    pub fn rank(self, count: u64) -> u64 {
        let rank = (u128::from(count) * u128::from(self.0)).div_ceil(u128::from(WHOLE));
        u64::try_from(rank).unwrap_or(count).max(1)
    }

    /// Returns this quantile of samples in ascending order; `None` without samples.
    #[must_use]
    pub fn of<T: Copy>(self, sorted: &[T]) -> Option<T> {
        let rank = self.rank(u64::try_from(sorted.len()).unwrap_or(u64::MAX));
        let place = usize::try_from(rank - 1).ok()?;
        sorted.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_smallest_sample_that_the_share_does_not_exceed() {
        let sorted: Vec<u32> = (1..=100).collect();
        for (quantile, expected) in [
            (Quantile::MIN, 1),
            (Quantile::parts_per_million(1), 1),
            (Quantile::parts_per_million(10_001), 2),
            // 0.07 * 100 is above 7 in floating point.
            (Quantile::parts_per_million(70_000), 7),
            (Quantile::MEDIAN, 50),
            (Quantile::P99, 99),
            (Quantile::P99_9, 100),
            (Quantile::MAX, 100),
            (Quantile::parts_per_million(u32::MAX), 100),
        ] {
            assert_eq!(quantile.of(&sorted), Some(expected), "{quantile:?}");
        }
        assert_eq!(Quantile::MEDIAN.of(&[1, 9]), Some(1));
        assert_eq!(Quantile::MEDIAN.of::<u32>(&[]), None);
    }

    #[test]
    fn ranks_of_very_many_samples_are_exact() {
        assert_eq!(Quantile::MAX.rank(u64::MAX), u64::MAX);
        assert_eq!(Quantile::MEDIAN.rank(u64::MAX), u64::MAX / 2 + 1);
        assert_eq!(Quantile::MIN.rank(0), 1);
        assert!((Quantile::P99.share() - 0.99).abs() < f64::EPSILON);
    }
}
