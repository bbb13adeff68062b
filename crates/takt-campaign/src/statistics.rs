//! Means and medians of repetitions, with 95 % confidence intervals.

use takt_statistics::{Estimate, SortedTimes};

/// Quantiles of Student's t-distribution for two-sided intervals of 95 %, for 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004,
    2.262_157, 2.228_139, 2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905,
    2.109_816, 2.100_922, 2.093_024, 2.085_963, 2.079_614, 2.073_873, 2.068_658, 2.063_899,
    2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
];

/// Quantile of the standard normal distribution for 95 %.
const NORMAL: f64 = 1.959_964;

/// Returns the quantile of Student's t-distribution for a two-sided interval of 95 %.
fn student(degrees: usize) -> f64 {
    let exact = degrees.checked_sub(1).and_then(|index| STUDENT.get(index));
    exact.copied().unwrap_or_else(|| {
        // Cornish and Fisher's expansion; below 10⁻⁵ wrong from 31 degrees on.
        let (z, n) = (NORMAL, degrees as f64);
        z + (z.powi(3) + z) / (4.0 * n)
            + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
    })
}

/// Mean of values that come one after the other (Welford's recurrence).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunningMean {
    count: usize,
    mean: f64,
    /// Sum of the squared differences from the mean.
    squares: f64,
}

impl RunningMean {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Returns the mean with its interval.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let number = self.count as f64;
        let half = match self.count {
            0 => return None,
            1 => f64::INFINITY,
            count => student(count - 1) * (self.squares / (number - 1.0) / number).sqrt(),
        };
        Some(Estimate {
            value: self.mean,
            low: self.mean - half,
            high: self.mean + half,
            count: self.count,
        })
    }
}

/// Returns the mean with its interval. One value has no interval: it is then infinitely wide.
#[must_use]
pub fn mean_estimate(values: &[f64]) -> Option<Estimate> {
    let mut mean = RunningMean::default();
    values.iter().for_each(|value| mean.add(*value));
    mean.estimate()
}

/// Returns the median with its interval of order statistics. Fewer than six values give the smallest and the largest, whose confidence
/// is less than 95 %.
#[must_use]
pub fn median_estimate(values: Vec<f64>) -> Option<Estimate> {
    SortedTimes::new(values).median_estimate()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_interval_of_few_values_is_that_of_student() {
        // Mean 3, standard deviation √2.5, five values.
        let estimate = mean_estimate(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((estimate.value, estimate.count), (3.0, 5));
        assert!((estimate.high - 3.0 - 2.776_445 * 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(estimate.high - 3.0, 3.0 - estimate.low);
        assert_eq!(mean_estimate(&[]), None);
        assert_eq!(mean_estimate(&[7.0]).unwrap().high, f64::INFINITY);
        let same = mean_estimate(&[7.0; 4]).unwrap();
        assert_eq!((same.low, same.high), (7.0, 7.0));
    }

    #[test]
    fn many_degrees_of_freedom_have_the_known_quantiles() {
        for (degrees, expected) in [(31, 2.039_513), (60, 2.000_298), (1000, 1.962_339)] {
            assert!((student(degrees) - expected).abs() < 1e-4, "{degrees}");
        }
    }
}
