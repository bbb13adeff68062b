//! Application round trips: T8 − T1 of each counter (`docs/measurements.md`, "Two kinds of round trip").

use std::collections::HashMap;

use takt_control::{TracePoint, TraceRecord};
use takt_statistics::Quantile;

/// Application round trips of a run, sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundTrips {
    /// Nanoseconds, from the shortest to the longest.
    sorted: Vec<i64>,
    /// Number of counters that were sent and did not return.
    pub lost: u64,
}

impl RoundTrips {
    /// Matches the records of one thread: T1 of each counter and the first T8 with it.
    #[must_use]
    pub fn of(records: &[TraceRecord]) -> Self {
        let mut sent: HashMap<u64, i64> = HashMap::new();
        let mut trips = Vec::new();
        for record in records {
            match record.point {
                TracePoint::T1 => {
                    sent.insert(record.counter, record.nanos);
                }
                TracePoint::T8 => {
                    if let Some(at) = sent.remove(&record.counter) {
                        trips.push(record.nanos.saturating_sub(at));
                    }
                }
                _ => {}
            }
        }
        trips.sort_unstable();
        Self {
            sorted: trips,
            lost: sent.len() as u64,
        }
    }

    /// Returns the number of round trips.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// Returns a quantile in nanoseconds; `None` without round trips.
    #[must_use]
    pub fn quantile(&self, quantile: Quantile) -> Option<i64> {
        quantile.of(&self.sorted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(point: TracePoint, counter: u64, nanos: i64) -> TraceRecord {
        TraceRecord {
            point,
            counter,
            nanos,
        }
    }

    #[test]
    fn the_first_answer_of_each_counter_counts() {
        use TracePoint::{T1, T8};
        let records = [
            record(T1, 1, 100),
            record(T1, 2, 200),
            record(T8, 1, 450),
            record(T8, 1, 700),
            record(T1, 3, 300),
            record(T8, 3, 400),
            record(T8, 9, 900),
        ];
        let trips = RoundTrips::of(&records);
        assert_eq!((trips.count(), trips.lost), (2, 1));
        assert_eq!(trips.quantile(Quantile::MIN), Some(100));
        assert_eq!(trips.quantile(Quantile::MEDIAN), Some(100));
        assert_eq!(
            trips.quantile(Quantile::parts_per_million(510_000)),
            Some(350)
        );
        assert_eq!(trips.quantile(Quantile::MAX), Some(350));
        assert_eq!(RoundTrips::of(&[]).quantile(Quantile::MEDIAN), None);
    }
}
