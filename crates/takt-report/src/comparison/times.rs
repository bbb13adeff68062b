//! Times in few numbers.

use takt_analysis::{ExactStatistics, TraceInterval};
use takt_control::TracePoint;
use takt_sim::{Summary, Time};
use takt_statistics::Quantile;

/// Kind of a round trip (`docs/measurements.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoundTripKind {
    /// From the port of the Publisher (T2) back to it (T7).
    Wire,
    /// From the Publisher's thread (T1) back to it (T8).
    Application,
}

impl RoundTripKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Wire, Self::Application];

    /// Returns the name: `wire` or `application`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Application => "application",
        }
    }

    /// Returns the trace points at its ends.
    #[must_use]
    pub const fn points(self) -> (TracePoint, TracePoint) {
        match self {
            Self::Wire => (TracePoint::T2, TracePoint::T7),
            Self::Application => (TracePoint::T1, TracePoint::T8),
        }
    }

    /// Returns the kind of an interval; `None` if it is no round trip.
    #[must_use]
    pub fn of(interval: TraceInterval) -> Option<Self> {
        let mut kinds = Self::ALL.into_iter();
        kinds.find(|kind| kind.points() == (interval.from, interval.to))
    }
}

/// Times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeSummary {
    /// Number of times.
    pub count: u64,
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
    /// Time that 1 % do not exceed.
    pub p1: f64,
    /// First quartile.
    pub p25: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub p75: f64,
    /// Time that 99 % do not exceed.
    pub p99: f64,
    /// Time that 99.9 % do not exceed.
    pub p99_9: f64,
    /// Time that 99.999 % do not exceed.
    pub p99_999: f64,
}

/// Quantiles of a [`TimeSummary`].
const QUANTILES: [Quantile; 7] = [
    Quantile::parts_per_million(10_000),
    Quantile::parts_per_million(250_000),
    Quantile::MEDIAN,
    Quantile::parts_per_million(750_000),
    Quantile::P99,
    Quantile::P99_9,
    Quantile::P99_999,
];

impl TimeSummary {
    /// Summarizes measured times; `None` without samples.
    #[must_use]
    pub fn of_measured(of: &ExactStatistics) -> Option<Self> {
        let quantiles = of.quantiles(QUANTILES)?.map(|nanos| nanos as f64);
        let [p1, p25, median, p75, p99, p99_9, p99_999] = quantiles;
        Some(Self {
            count: of.count(),
            min: of.min()? as f64,
            mean: of.mean()?,
            max: of.max()? as f64,
            p1,
            p25,
            median,
            p75,
            p99,
            p99_9,
            p99_999,
        })
    }

    /// Summarizes simulated times; `None` without samples.
    #[must_use]
    pub fn of_simulated(of: &Summary) -> Option<Self> {
        let nanos = |time: Time| time.as_picoseconds() as f64 / 1e3;
        let [p1, p25, median, p75, p99, p99_9, p99_999] =
            QUANTILES.map(|quantile| of.quantile(quantile).map(nanos));
        Some(Self {
            count: of.extremes.count,
            min: of.extremes.least().map(nanos)?,
            mean: of.extremes.mean().map(nanos)?,
            max: of.extremes.most().map(nanos)?,
            p1: p1?,
            p25: p25?,
            median: median?,
            p75: p75?,
            p99: p99?,
            p99_9: p99_9?,
            p99_999: p99_999?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_have_their_trace_points() {
        let kinds = TraceInterval::ALL.map(RoundTripKind::of);
        let found: Vec<RoundTripKind> = kinds.into_iter().flatten().collect();
        assert_eq!(found, [RoundTripKind::Application, RoundTripKind::Wire]);
    }

    #[test]
    fn measured_times_are_summarized() {
        let mut times = ExactStatistics::with_limit(ExactStatistics::MEMORY);
        assert_eq!(TimeSummary::of_measured(&times), None);
        (1..=1000).for_each(|nanos| times.add(nanos));
        let summary = TimeSummary::of_measured(&times);
        let expected = TimeSummary {
            count: 1000,
            min: 1.0,
            mean: 500.5,
            max: 1000.0,
            p1: 10.0,
            p25: 250.0,
            median: 500.0,
            p75: 750.0,
            p99: 990.0,
            p99_9: 999.0,
            p99_999: 1000.0,
        };
        assert_eq!(summary, Some(expected));
    }
}
