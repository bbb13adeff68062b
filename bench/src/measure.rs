//! Samples of a duration, and their statistics.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use takt_statistics::{Quantile, TimeHistogram};

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

impl Percentiles {
    /// Returns the percentiles of times in nanoseconds.
    pub(crate) fn of_nanos(times: &TimeHistogram) -> Self {
        Self::of(times, 1.0)
    }

    /// Returns the percentiles of recorded numbers, whose unit has this many nanoseconds.
    fn of(recorded: &TimeHistogram, unit_nanos: f64) -> Self {
        let micros = |recorded: u64| recorded as f64 * unit_nanos / 1000.0;
        let at = |quantile| micros(recorded.quantile(quantile));
        Self {
            samples: recorded.count(),
            min: micros(recorded.min()),
            p50: at(Quantile::MEDIAN),
            p99: at(Quantile::P99),
            p999: at(Quantile::P99_9),
            max: micros(recorded.max()),
        }
    }
}

/// Durations, kept to three significant digits. More than a minute counts as one.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    histogram: TimeHistogram,
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
        Self {
            histogram: TimeHistogram::of_a_minute(),
            unit_nanos,
        }
    }

    /// Adds one duration.
    pub(crate) fn record(&mut self, nanos: u64) {
        self.histogram.record(nanos);
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
        self.histogram.add(&others.histogram);
    }

    /// Returns the distribution: each value with samples in microseconds, and the share of samples that took at most that long.
    pub(crate) fn distribution(&self) -> Vec<(f64, f64)> {
        let points = self.histogram.distribution();
        points
            .map(|(recorded, share)| (recorded as f64 * self.unit_nanos / 1000.0, share))
            .collect()
    }

    /// Returns the arithmetic mean, in microseconds.
    pub(crate) fn mean(&self) -> f64 {
        self.histogram.mean() * self.unit_nanos / 1000.0
    }

    /// Returns the percentiles of the samples.
    pub(crate) fn percentiles(&self) -> Percentiles {
        Percentiles::of(&self.histogram, self.unit_nanos)
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
    fn batches_are_reported_per_piece() {
        let mut samples = Samples::batched(100);
        samples.record(25_000);
        assert!((samples.percentiles().p50 - 0.25).abs() < 0.001);
    }
}
