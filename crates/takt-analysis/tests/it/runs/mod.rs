//! Runs whose quantities are known: by hand, and by a model that keeps everything.

mod by_hand;
mod disturbed;
mod files;
mod limits;
mod model;
mod observed;

use takt_analysis::{
    AnalysisError, AnalysisOptions, ExactStatistics, IntervalQuantities, PointQuantities,
    RunAnalysis,
};
use takt_control::TracePoint;
use takt_statistics::Quantile;

use files::Files;

pub(crate) fn analyze(
    files: &Files,
    trim: u64,
    synchronized: bool,
) -> Result<RunAnalysis, AnalysisError> {
    RunAnalysis::of(&files.files, &AnalysisOptions { trim, synchronized })
}

pub(crate) fn interval(run: &RunAnalysis, from: TracePoint, to: TracePoint) -> &IntervalQuantities {
    let mut intervals = run.intervals.iter();
    intervals
        .find(|it| (it.interval.from, it.interval.to) == (from, to))
        .unwrap()
}

pub(crate) fn point(run: &RunAnalysis, point: TracePoint) -> &PointQuantities {
    run.points.iter().find(|it| it.point == point).unwrap()
}

/// Missed, repeated and reordered counters at a trace point.
pub(crate) fn counters(run: &RunAnalysis, at: TracePoint) -> [u64; 3] {
    let counters = point(run, at).counters;
    [counters.missed, counters.repeated, counters.reordered]
}

/// Losses: the last point at which messages were seen, and their number.
pub(crate) fn losses(run: &RunAnalysis) -> Option<Vec<(TracePoint, u64)>> {
    let losses = run.losses.as_ref()?.iter();
    Some(losses.map(|it| (it.after, it.count)).collect())
}

/// Count, minimum, median, maximum and sum.
pub(crate) fn summary(statistics: &ExactStatistics) -> (u64, Option<[i64; 3]>, i128) {
    let quantiles = statistics.quantiles([Quantile::MIN, Quantile::MEDIAN, Quantile::MAX]);
    assert_eq!(quantiles.map(|it| it[0]), statistics.min());
    assert_eq!(quantiles.map(|it| it[2]), statistics.max());
    (statistics.count(), quantiles, statistics.sum())
}
