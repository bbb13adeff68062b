//! Statistics of a quantity, in the same order in each output.

use takt_analysis::{ExactStatistics, RunAnalysis};
use takt_statistics::Quantile;

/// Quantity of a run.
pub(super) struct Quantity<'a> {
    /// Name of the interval, with the kind of a round trip; or the place.
    pub(super) of: String,
    /// Trace points.
    pub(super) points: String,
    /// `delay`, `jitter` or `inter_frame_spacing`.
    pub(super) name: &'static str,
    pub(super) statistics: &'a ExactStatistics,
}

/// Returns all distributions of a run: intervals first.
pub(super) fn quantities(run: &RunAnalysis) -> Vec<Quantity<'_>> {
    let intervals = run.intervals.iter().flat_map(|it| {
        let quantity = |name, statistics| Quantity {
            of: it.interval.name.to_owned(),
            points: format!("{:?} \u{2212} {:?}", it.interval.to, it.interval.from),
            name,
            statistics,
        };
        [quantity("delay", &it.delay), quantity("jitter", &it.jitter)]
    });
    let points = run.points.iter().map(|it| Quantity {
        of: "inter-frame spacing".to_owned(),
        points: format!("{:?}", it.point),
        name: "inter_frame_spacing",
        statistics: &it.spacing,
    });
    intervals.chain(points).collect()
}

/// Names of the statistics, as in JSON and CSV.
pub(super) const STATISTICS: [&str; 7] = [
    "min_ns",
    "median_ns",
    "mean_ns",
    "p99_ns",
    "p99_9_ns",
    "p99_999_ns",
    "max_ns",
];

/// Returns the statistics in nanoseconds; without samples there are none.
pub(super) fn statistics(of: &ExactStatistics) -> Option<[f64; 7]> {
    let quantiles = [
        Quantile::MEDIAN,
        Quantile::P99,
        Quantile::P99_9,
        Quantile::P99_999,
    ];
    let [median, p99, p99_9, p99_999] = of.quantiles(quantiles)?.map(|nanos| nanos as f64);
    let (min, max) = (of.min()? as f64, of.max()? as f64);
    Some([min, median, of.mean()?, p99, p99_9, p99_999, max])
}
