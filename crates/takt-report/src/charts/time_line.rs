//! Time line of the longest round trips of one application.

use takt_figures::{Axis, Chart, ChartSeries, Figure, SeriesRole, SeriesShape};

use crate::comparison::{
    ComparedApplication, ComparedRun, LongDelay, RoundTripComparison, RoundTripKind,
};

/// Returns the time line of the longest round trips of a kind, beside the bound.
pub(super) fn figure(
    run: &ComparedRun,
    application: &ComparedApplication,
    kind: RoundTripKind,
) -> Option<Figure> {
    let trip = application.round_trip(kind);
    let began = application.began?;
    if trip.delay.longest.is_empty() {
        return None;
    }
    let point = |it: &LongDelay| {
        let since = it.began.saturating_sub(began) as f64 / 1e6;
        (since, it.nanos as f64 / 1e3)
    };
    let mut points: Vec<(f64, f64)> = trip.delay.longest.iter().map(point).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let end = points.last().map_or(1.0, |it| it.0);
    // Times of a run that is not comparable say nothing about the bound.
    let is_above = |it: &&LongDelay| {
        run.is_comparable() && trip.delay.bound.is_below(it.nanos, trip.delay.resolution)
    };
    let mut above: Vec<(f64, f64)> = trip
        .delay
        .longest
        .iter()
        .filter(is_above)
        .map(point)
        .collect();
    let title = format!(
        "Round trip ({}): the {} longest of {}",
        kind.name(),
        points.len(),
        trip.delay.count
    );
    let (unit, scale) = if end > 10_000.0 {
        ("s", 1e3)
    } else {
        ("ms", 1.0)
    };
    let all = points.iter_mut().chain(&mut above);
    all.for_each(|it| it.0 /= scale);
    let x = Axis::new(format!("time since the beginning ({unit})"));
    let mut chart = Chart::new(
        title,
        x.range(0.0, end / scale),
        Axis::new("round trip (\u{b5}s)"),
    );
    let measured = SeriesShape::Dots(points);
    chart.series.push(ChartSeries::new("measured", measured));
    chart.series.extend(bound(trip, end / scale));
    let above = ChartSeries::new("above its bound", SeriesShape::Crosses(above));
    chart.series.push(above.role(SeriesRole::Bound));
    chart.series.retain(|it| !it.is_empty());
    Some(Figure::of(chart))
}

/// Returns the bound as a line over all times, unless it is so far away that nothing else could be seen.
fn bound(trip: &RoundTripComparison, end: f64) -> Option<ChartSeries> {
    let bound = trip.delay.bound.nanos()? / 1e3;
    let longest = trip.delay.longest_nanos()? / 1e3;
    let line = vec![(0.0, bound), (end, bound)];
    (bound < 4.0 * longest).then(|| ChartSeries::line("sound bound", line).role(SeriesRole::Bound))
}
