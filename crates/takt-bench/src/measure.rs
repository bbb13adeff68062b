//! Samples of a duration, and their statistics.

use std::time::Instant;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Percentiles of a duration, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Number of samples.
    pub samples: u64,
    /// Shortest duration.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Longest duration.
    pub max: f64,
}

/// Longest duration in nanoseconds: one minute. Longer durations count as this one.
const LONGEST: u64 = 60_000_000_000;

/// Durations, kept to three significant digits.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    histogram: Histogram<u64>,
    /// Unit of recorded numbers in nanoseconds.
    unit_nanos: f64,
}

impl Samples {
    /// Creates an empty set of samples in nanoseconds.
    pub(crate) fn nanos() -> Self {
        Self::with_unit(1.0)
    }

    /// Creates an empty set of samples of short work that is timed in batches of `batch`: recorded per batch, reported per piece.
    pub(crate) fn batched(batch: u32) -> Self {
        Self::with_unit(1.0 / f64::from(batch))
    }

    fn with_unit(unit_nanos: f64) -> Self {
        #[allow(
            clippy::expect_used,
            reason = "a range and a precision that the histogram has"
        )]
        let histogram = Histogram::new_with_max(LONGEST, 3).expect("three digits");
        Self {
            histogram,
            unit_nanos,
        }
    }

    /// Adds one duration.
    pub(crate) fn record(&mut self, nanos: u64) {
        self.histogram.saturating_record(nanos);
    }

    /// Times `work` once.
    #[inline]
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.record(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
        result
    }

    /// Adds the samples of another set with the same unit.
    pub(crate) fn add(&mut self, others: &Self) {
        // Both histograms have the same range.
        let _ = self.histogram.add(&others.histogram);
    }

    /// Returns the distribution: each value with samples in microseconds, and the share of samples that took at most that long.
    pub(crate) fn distribution(&self) -> Vec<(f64, f64)> {
        let mut seen = 0;
        let mut points = Vec::new();
        #[allow(clippy::cast_precision_loss, reason = "durations far below 2^53 ns")]
        for value in self.histogram.iter_recorded() {
            seen += value.count_since_last_iteration();
            points.push((
                value.value_iterated_to() as f64 * self.unit_nanos / 1000.0,
                seen as f64 / self.histogram.len() as f64,
            ));
        }
        points
    }

    /// Returns the arithmetic mean, in microseconds.
    pub(crate) fn mean(&self) -> f64 {
        self.histogram.mean() * self.unit_nanos / 1000.0
    }

    /// Returns the percentiles of the samples.
    pub(crate) fn percentiles(&self) -> Percentiles {
        #[allow(clippy::cast_precision_loss, reason = "durations far below 2^53 ns")]
        let micros = |value: u64| value as f64 * self.unit_nanos / 1000.0;
        Percentiles {
            samples: self.histogram.len(),
            min: micros(self.histogram.min()),
            p50: micros(self.histogram.value_at_quantile(0.5)),
            p99: micros(self.histogram.value_at_quantile(0.99)),
            p999: micros(self.histogram.value_at_quantile(0.999)),
            max: micros(self.histogram.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_in_microseconds() {
        let mut samples = Samples::nanos();
        for micros in 1..=1000_u64 {
            samples.record(micros * 1000);
        }
        let percentiles = samples.percentiles();
        assert_eq!(percentiles.samples, 1000);
        assert!((percentiles.p50 - 500.0).abs() < 1.0);
        assert!((percentiles.p99 - 990.0).abs() < 2.0);
    }

    #[test]
    fn samples_of_several_series_are_one_distribution() {
        let mut all = Samples::nanos();
        for micros in [1, 3] {
            let mut series = Samples::nanos();
            series.record(micros * 1000);
            all.add(&series);
        }
        assert!((all.mean() - 2.0).abs() < 0.01);
        let shares: Vec<f64> = all.distribution().iter().map(|point| point.1).collect();
        assert_eq!(shares, [0.5, 1.0]);
    }

    #[test]
    fn batches_are_reported_per_piece() {
        let mut samples = Samples::batched(100);
        samples.record(25_000);
        assert!((samples.percentiles().p50 - 0.25).abs() < 0.001);
    }
}
