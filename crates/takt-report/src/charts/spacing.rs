//! Chart of the inter-frame spacing of one application.

use takt_control::TracePoint;
use takt_figures::{Axis, Chart, ChartSeries, Figure};

use crate::comparison::{ComparedApplication, MeasuredPoint};
use crate::trace_points::place;

/// Share of spacings that the chart shows; the rest is told in its title.
const SHOWN: f64 = 0.999;

/// Returns the distribution functions of the inter-frame spacing at the ports, or at the threads without captures.
pub(super) fn figure(application: &ComparedApplication) -> Option<Figure> {
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
