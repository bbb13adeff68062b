//! Time line of the longest round trips of one application, with the causes of late wake-ups during them.

use std::cmp::Reverse;

use takt_figures::{Axis, Chart, ChartSeries, Figure, SeriesRole, SeriesShape};

use crate::comparison::{
    ComparedApplication, ComparedRun, LateAtEnd, LongDelay, RoundTripComparison, RoundTripKind,
    worst_during,
};

/// Greatest number of causes with a series of their own.
const CAUSES: usize = 4;

/// Returns the time line of the longest round trips of a kind, beside the bound.
pub(super) fn figure(
    run: &ComparedRun,
    application: &ComparedApplication,
    kind: RoundTripKind,
) -> Option<Figure> {
    let trip = application.round_trip(kind);
    if trip.delay.longest.is_empty() {
        return None;
    }
    let point = |it: &LongDelay| {
        let since = application.since_the_first(it) as f64 / 1e6;
        (since, it.nanos as f64 / 1e3)
    };
    let count = trip.delay.longest.len();
    let since = trip.delay.longest.iter().map(|it| point(it).0);
    let end = since.fold(f64::NEG_INFINITY, f64::max);
    let groups = groups(application, &trip.delay.longest);
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
        count,
        trip.delay.count
    );
    let (unit, scale) = if end > 10_000.0 {
        ("s", 1e3)
    } else {
        ("ms", 1.0)
    };
    above.iter_mut().for_each(|it| it.0 /= scale);
    let x = Axis::new(format!("time since the beginning ({unit})"));
    let mut chart = Chart::new(
        title,
        x.range(0.0, end / scale),
        Axis::new("round trip (\u{b5}s)"),
    );
    for (cause, delays) in &groups {
        let points = delays.iter().map(|it| (point(it).0 / scale, point(it).1));
        let mut points: Vec<(f64, f64)> = points.collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let series = match cause {
            None => ChartSeries::new("measured", SeriesShape::Dots(points)),
            Some(cause) => {
                let label = format!("a thread was late: {cause}");
                ChartSeries::new(label, SeriesShape::Diamonds(points))
            }
        };
        chart.series.push(series);
    }
    chart.series.extend(bound(trip, end / scale));
    let above = ChartSeries::new("above its bound", SeriesShape::Crosses(above));
    chart.series.push(above.role(SeriesRole::Bound));
    chart.series.retain(|it| !it.is_empty());
    Some(Figure::of(chart))
}

/// Delays with the same cause; none if no thread was late during them.
type Group<'a> = (Option<&'a str>, Vec<LongDelay>);

/// Groups delays by the main cause of the worst late wake-up during each. Those without one come first, then the most frequent causes.
fn groups<'a>(application: &'a ComparedApplication, delays: &[LongDelay]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = vec![(None, Vec::new())];
    for delay in delays {
        let late = worst_during(&application.late_wake_ups, delay);
        let cause = late.map(LateAtEnd::main_cause);
        match groups.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, delays)) => delays.push(*delay),
            None => groups.push((cause, vec![*delay])),
        }
    }
    let (_, causes) = groups.split_at_mut(1);
    causes.sort_by_key(|(cause, delays)| (Reverse(delays.len()), *cause));
    let others = groups.split_off(groups.len().min(1 + CAUSES));
    if !others.is_empty() {
        let delays = others.into_iter().flat_map(|(_, delays)| delays);
        groups.push((Some("other causes"), delays.collect()));
    }
    groups
}

/// Returns the bound as a line over all times, unless it is so far away that nothing else could be seen.
fn bound(trip: &RoundTripComparison, end: f64) -> Option<ChartSeries> {
    let bound = trip.delay.bound.nanos()? / 1e3;
    let longest = trip.delay.longest_nanos()? / 1e3;
    let line = vec![(0.0, bound), (end, bound)];
    (bound < 4.0 * longest).then(|| ChartSeries::line("sound bound", line).role(SeriesRole::Bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::application_for_tests;
    use crate::comparison::late_for_tests as late;

    #[test]
    fn delays_are_grouped_by_the_causes_of_late_wake_ups() {
        let mut application = application_for_tests();
        let delay = |began| LongDelay {
            nanos: 10,
            began,
            counter: 0,
            is_of_card: false,
        };
        let kinds = [
            "thread",
            "softirq",
            "page fault",
            "stopped",
            "idle exit",
            "thread",
        ];
        application.late_wake_ups = (1..)
            .zip(kinds)
            .map(|(number, kind)| late("loopback", 100 * number, 5, kind))
            .collect();
        let delays: Vec<LongDelay> = (0..8).map(|number| delay(100 * number)).collect();
        let groups = groups(&application, &delays);
        let found: Vec<(Option<&str>, usize)> = groups
            .iter()
            .map(|(cause, delays)| (*cause, delays.len()))
            .collect();
        assert_eq!(
            found,
            [
                (None, 2),
                (Some("thread"), 2),
                (Some("idle exit"), 1),
                (Some("page fault"), 1),
                (Some("softirq"), 1),
                (Some("other causes"), 1),
            ]
        );
    }
}
