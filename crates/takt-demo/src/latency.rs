//! Round-trip times of Reads, and their summary for the Consumer.

use std::time::Duration;

use takt_statistics::Quantile;

/// Round-trip times of the last Reads over one transport.
#[derive(Debug, Clone, Default)]
pub struct Latency {
    nanos: Vec<u64>,
}

/// Summary of round-trip times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencySummary {
    /// Shortest time.
    pub min: Duration,
    /// Median.
    pub median: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// Longest time.
    pub max: Duration,
}

impl Latency {
    /// Adds one round trip.
    pub fn record(&mut self, round_trip: Duration) {
        self.nanos
            .push(u64::try_from(round_trip.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Returns the number of round trips.
    pub fn count(&self) -> usize {
        self.nanos.len()
    }

    /// Returns minimum, median, 99th percentile and maximum; `None` without any round trip.
    pub fn summary(&mut self) -> Option<LatencySummary> {
        self.nanos.sort_unstable();
        let at = |quantile: Quantile| quantile.of(&self.nanos).map(Duration::from_nanos);
        Some(LatencySummary {
            min: at(Quantile::MIN)?,
            median: at(Quantile::MEDIAN)?,
            p99: at(Quantile::P99)?,
            max: at(Quantile::MAX)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_covers_all_samples() {
        let mut latency = Latency::default();
        assert_eq!(latency.summary(), None);
        for micros in (1..=100).rev() {
            latency.record(Duration::from_micros(micros));
        }
        let summary = latency.summary().unwrap();
        assert_eq!(summary.min, Duration::from_micros(1));
        assert_eq!(summary.median, Duration::from_micros(50));
        assert_eq!(summary.p99, Duration::from_micros(99));
        assert_eq!(summary.max, Duration::from_micros(100));
    }
}
