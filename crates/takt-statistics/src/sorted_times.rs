//! Times in ascending order: medians with confidence intervals, and quantiles.

use serde::{Deserialize, Serialize};

use crate::quantile::Quantile;

/// Quantile of the standard normal distribution for 95 %.
const Z: f64 = 1.959_964;

/// Value with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Value.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of independent values from which it comes: rounds, not requests of one round.
    pub count: usize,
}

/// Times, or ratios of times, in ascending order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SortedTimes(Vec<f64>);

impl SortedTimes {
    /// Sorts times.
    #[must_use]
    pub fn new(mut times: Vec<f64>) -> Self {
        times.sort_unstable_by(f64::total_cmp);
        Self(times)
    }

    /// Returns the times.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Returns a quantile by the nearest rank; `None` without times.
    #[must_use]
    pub fn quantile(&self, quantile: Quantile) -> Option<f64> {
        quantile.of(&self.0)
    }

    /// Returns the median: the time in the middle, or the mean of both; `None` without times.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        let (low, high) = (self.0.get(last / 2)?, self.0.get(self.0.len() / 2)?);
        Some(f64::midpoint(*low, *high))
    }

    /// Returns the median with a 95 % confidence interval of order statistics ([`median_ranks`]); `None` without times.
    #[must_use]
    pub fn median_estimate(&self) -> Option<Estimate> {
        let (low, high) = median_ranks(self.0.len())?;
        Some(Estimate {
            value: self.median()?,
            low: *self.0.get(low)?,
            high: *self.0.get(high)?,
            count: self.0.len(),
        })
    }
}

/// Returns the indices of the values, in ascending order, between which the median of the distribution is with a confidence of 95 %,
/// by the normal approximation of the binomial distribution; `None` without values. Few values give the smallest and the largest.
#[must_use]
pub fn median_ranks(count: usize) -> Option<(usize, usize)> {
    let last = count.checked_sub(1)?;
    let (middle, half) = (count as f64 / 2.0, Z * (count as f64).sqrt() / 2.0);
    let low = (middle - half).floor() - 1.0;
    let high = (middle + half).ceil();
    Some((low.max(0.0) as usize, (high as usize).min(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_surround_the_median() {
        assert_eq!(median_ranks(0), None);
        assert_eq!(median_ranks(1), Some((0, 0)));
        assert_eq!(median_ranks(3), Some((0, 2)));
        assert_eq!(median_ranks(20), Some((4, 15)));
    }

    #[test]
    fn the_median_of_an_even_number_is_between_two() {
        let median = |times: &[f64]| SortedTimes::new(times.to_vec()).median();
        assert_eq!(median(&[3.0, 1.0]), Some(2.0));
        assert_eq!(median(&[7.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn few_times_have_the_shortest_and_the_longest_as_interval() {
        let times = SortedTimes::new(vec![7.0, 1.0, 3.0]);
        let estimate = times.median_estimate().unwrap();
        assert_eq!(
            (estimate.low, estimate.value, estimate.high),
            (1.0, 3.0, 7.0)
        );
        assert_eq!(SortedTimes::default().median_estimate(), None);
        assert_eq!(times.quantile(Quantile::MAX), Some(7.0));
    }
}
