//! Charts of one application: inter-frame spacing, histograms, and the time line of outliers.

use takt_comparison::{ComparedApplication, MeasuredPoint, RoundTripComparison, RoundTripKind};
use takt_control::TracePoint;
use takt_figures::{Axis, Bar, Chart, ChartSeries, Figure, Scale, SeriesRole, SeriesShape};

/// Share of spacings that the chart shows; the rest is told in its title.
const SHOWN: f64 = 0.999;

/// Returns the distribution functions of the inter-frame spacing at the ports, or at the threads without captures.
pub(super) fn spacing(application: &ComparedApplication) -> Option<Figure> {
    use TracePoint::{T1, T2, T3, T4, T5, T6, T7, T8};
    let at = |wanted: &[TracePoint]| -> Vec<&MeasuredPoint> {
        let points = application.points.iter();
        let points = points.filter(|it| wanted.contains(&it.point));
        points.filter(|it| it.spacing.is_some()).collect()
    };
    let ports = at(&[T2, T3, T6, T7]);
    let points = match ports.is_empty() {
        true => at(&[T1, T4, T5, T8]),
        false => ports,
    };
    if points.is_empty() {
        return None;
    }
    let is_shown = |share: f64| share <= SHOWN;
    let shown = points.iter().flat_map(|it| &it.spacing_shares);
    let shown = shown.filter(|it| is_shown(it.1)).map(|it| it.0);
    let end = shown.fold(0.0, f64::max);
    let longest = points.iter().filter_map(|it| it.spacing).map(|it| it.max);
    let longest = longest.fold(0.0, f64::max);
    let title = match longest > end {
        true => format!(
            "Inter-frame spacing: distribution up to {:.0} \u{b5}s (longest {:.0} \u{b5}s)",
            end / 1e3,
            longest / 1e3
        ),
        false => "Inter-frame spacing: distribution".to_owned(),
    };
    let axis = Axis::new("share of spacings that are not longer (%)").range(0.0, 100.0);
    let mut chart = Chart::new(title, Axis::new("inter-frame spacing (\u{b5}s)"), axis);
    for point in points {
        let label = format!("{:?}, {}", point.point, place(point.point));
        chart
            .series
            .push(ChartSeries::line(label, steps(&point.spacing_shares, end)));
    }
    Some(Figure::of(chart))
}

/// Returns the steps of a distribution function in microseconds and percent, up to an end in nanoseconds.
fn steps(shares: &[(f64, f64)], end: f64) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let mut points = Vec::with_capacity(2 * shares.len());
    for (nanos, share) in shares.iter().filter(|it| it.0 <= end) {
        let (micros, percent) = (nanos / 1e3, share * 100.0);
        points.extend([(micros, before), (micros, percent)]);
        before = percent;
    }
    points.extend(points.last().map(|last| (end / 1e3, last.1)));
    points
}

/// Returns a trace point in words.
pub(super) const fn place(point: TracePoint) -> &'static str {
    match point {
        TracePoint::T1 => "Publisher sends",
        TracePoint::T2 => "leaves Publisher",
        TracePoint::T3 => "at loopback",
        TracePoint::T4 => "loopback takes",
        TracePoint::T5 => "loopback sends",
        TracePoint::T6 => "leaves loopback",
        TracePoint::T7 => "back at Publisher",
        TracePoint::T8 => "Publisher takes",
    }
}

/// Returns the histogram of one kind of round trip.
pub(super) fn histogram(application: &ComparedApplication, kind: RoundTripKind) -> Option<Figure> {
    let measured = application.round_trip(kind).measured.as_ref()?;
    let bars = measured.histogram.iter();
    let bars: Vec<Bar> = bars
        .map(|(from, to, count)| Bar {
            from: from / 1e3,
            to: to / 1e3,
            value: *count as f64,
        })
        .filter(|bar| bar.value > 0.0)
        .collect();
    let end = bars.last().map(|bar| bar.to)?;
    let longest = measured.delay.max / 1e3;
    let title = match longest > end {
        true => format!(
            "Round trip ({}): histogram up to {end:.0} \u{b5}s",
            kind.name()
        ),
        false => format!("Round trip ({}): histogram", kind.name()),
    };
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let mut y = Axis::new("number of messages");
    // Rare bins would not be visible otherwise.
    if most > 50.0 {
        y = y.scale(Scale::Logarithmic);
    }
    let x = Axis::new(format!("round trip, {} (\u{b5}s)", kind.name()));
    let mut chart = Chart::new(title, x, y);
    chart.labelled = false;
    chart
        .series
        .push(ChartSeries::new("messages", SeriesShape::Bars(bars)));
    Some(Figure::of(chart))
}

/// Returns the time line of the longest round trips of a kind, beside the bound.
pub(super) fn time_line(application: &ComparedApplication, kind: RoundTripKind) -> Option<Figure> {
    let trip = application.round_trip(kind);
    let began = application.began?;
    if trip.longest.is_empty() {
        return None;
    }
    let points = trip.longest.iter();
    let mut points: Vec<(f64, f64)> = points
        .map(|it| {
            (
                it.began.saturating_sub(began) as f64 / 1e6,
                it.nanos as f64 / 1e3,
            )
        })
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let end = points.last().map_or(1.0, |it| it.0);
    let title = format!(
        "Round trip ({}): the {} longest of {}",
        kind.name(),
        points.len(),
        trip.count
    );
    let (unit, scale) = if end > 10_000.0 {
        ("s", 1e3)
    } else {
        ("ms", 1.0)
    };
    points.iter_mut().for_each(|it| it.0 /= scale);
    let x = Axis::new(format!("time since the beginning ({unit})"));
    let mut chart = Chart::new(
        title,
        x.range(0.0, end / scale),
        Axis::new("round trip (\u{b5}s)"),
    );
    let measured = SeriesShape::Dots(points);
    chart.series.push(ChartSeries::new("measured", measured));
    chart.series.extend(bound(trip, end / scale));
    Some(Figure::of(chart))
}

/// Returns the bound as a line over all times, unless it is so far away that nothing else could be seen.
fn bound(trip: &RoundTripComparison, end: f64) -> Option<ChartSeries> {
    let bound = trip.bound.nanos()? / 1e3;
    let longest = trip.longest_nanos()? / 1e3;
    let line = vec![(0.0, bound), (end, bound)];
    (bound < 4.0 * longest).then(|| ChartSeries::line("sound bound", line).role(SeriesRole::Bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_has_steps_up_to_its_end() {
        let shares = [(1_000.0, 0.25), (2_000.0, 0.75), (9_000.0, 1.0)];
        let expected = [
            (1.0, 0.0),
            (1.0, 25.0),
            (2.0, 25.0),
            (2.0, 75.0),
            (3.0, 75.0),
        ];
        assert_eq!(steps(&shares, 3_000.0), expected);
        assert!(steps(&[], 3_000.0).is_empty());
    }
}
