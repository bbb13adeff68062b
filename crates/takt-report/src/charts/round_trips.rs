//! Charts of round trips: bound, worst simulated, and a box plot of the measurement, per hop count, payload and other settings.

use takt_figures::{Axis, BoxPlot, Chart, ChartSeries, Figure, Level, SeriesRole, SeriesShape};
use takt_scenario::names::named;

use crate::comparison::{ComparedRun, RoundTripComparison, RoundTripKind};
use crate::entries::{Entries, Entry};

/// Largest number of box plots side by side at one place of the horizontal axis.
const GROUPS: usize = 4;
/// Largest number of charts of a figure.
const CHARTS: usize = 16;
/// Share of a place that its box plots fill.
const FILLED: f64 = 0.8;

/// Returns the figure of one kind of round trip of a run, one chart below the other.
pub(super) fn figures(
    run: &ComparedRun,
    entries: &Entries<'_>,
    kind: RoundTripKind,
) -> Vec<Figure> {
    let mut panels: Vec<(Vec<usize>, Vec<&Entry<'_>>)> = Vec::new();
    for entry in &entries.all {
        // Dimensions behind the first two have charts of their own, and so have each few groups.
        let mut panel: Vec<usize> = entry.places.iter().skip(2).copied().collect();
        panel.insert(
            0,
            entry
                .places
                .get(1)
                .map_or(0, |place| place / chunk(entries)),
        );
        match panels.iter_mut().find(|(known, _)| *known == panel) {
            Some((_, members)) => members.push(entry),
            None => panels.push((panel, vec![entry])),
        }
    }
    let charts = panels.iter().take(CHARTS);
    charts
        .map(|(_, members)| Figure::of(chart(run, entries, members, kind)))
        .collect()
}

/// Returns the number of groups in a chart: equally many in each.
fn chunk(entries: &Entries<'_>) -> usize {
    let groups = entries.dimensions.get(1).map_or(1, |it| it.values.len());
    // A dimension has at least two values (`Entries`), so the divisor is not zero.
    groups.div_ceil(groups.div_ceil(GROUPS)).max(1)
}

fn chart(
    run: &ComparedRun,
    entries: &Entries<'_>,
    members: &[&Entry<'_>],
    kind: RoundTripKind,
) -> Chart {
    let x = entries.dimensions.first();
    let mut groups: Vec<usize> = members.iter().map(|it| group(it)).collect();
    groups.sort_unstable();
    groups.dedup();
    let step = FILLED / groups.len() as f64;
    let place = |entry: &Entry<'_>| {
        let number = groups
            .iter()
            .position(|it| *it == group(entry))
            .unwrap_or(0);
        let at = entry.places.first().copied().unwrap_or(0) as f64;
        at + (number as f64 - (groups.len() as f64 - 1.0) / 2.0) * step
    };
    let width = (step * 0.75).min(0.4);
    let mut bounds = Vec::new();
    let mut simulated = Vec::new();
    let mut boxes: Vec<ChartSeries> = Vec::new();
    let mut violations: Vec<(f64, f64)> = Vec::new();
    for entry in members {
        let trip = entry.application.round_trip(kind);
        let at = place(entry);
        if let Some(nanos) = trip.delay.bound.nanos() {
            bounds.push(Level {
                from: at - width * 0.6,
                to: at + width * 0.6,
                value: nanos / 1e3,
            });
        }
        simulated.extend(trip.delay.simulated.map(|it| (at, it.longest / 1e3)));
        let label = match entries.dimensions.get(1) {
            Some(it) => format!("measured, {}", named(&it.name, entries.value(entry, 1))),
            None => "measured".to_owned(),
        };
        let plot = box_plot(trip, at, width);
        let violating = violating(run, trip).into_iter().flatten();
        violations.extend(violating.map(|nanos| (at, nanos / 1e3)));
        match boxes.iter_mut().find(|it| it.label == label) {
            Some(ChartSeries {
                shape: SeriesShape::Boxes(boxes),
                ..
            }) => boxes.extend(plot),
            _ => boxes.push(ChartSeries::new(
                label,
                SeriesShape::Boxes(plot.into_iter().collect()),
            )),
        }
    }
    let (far, beyond) = cut(&mut boxes, &bounds, &simulated, &violations);
    let axis = match x {
        Some(x) => Axis::names(&x.name, &x.values),
        None => {
            let names: Vec<String> = members.iter().map(|it| entries.label(it)).collect();
            Axis::names("application", &names)
        }
    };
    let y = Axis::new("round trip (\u{b5}s)");
    let mut chart = Chart::new(title(run, entries, members, kind), axis, y);
    chart.series = boxes;
    let diamonds = SeriesShape::Diamonds(simulated);
    chart
        .series
        .push(ChartSeries::new("worst simulated", diamonds).role(SeriesRole::Reference));
    let levels = SeriesShape::Levels(bounds);
    chart
        .series
        .push(ChartSeries::new("sound bound", levels).role(SeriesRole::Bound));
    let beyond = SeriesShape::Triangles(beyond);
    let label = format!("above {far:.0} \u{b5}s");
    chart
        .series
        .push(ChartSeries::new(label, beyond).role(SeriesRole::Reference));
    let label = "above its bound";
    let crosses = ChartSeries::new(label, SeriesShape::Crosses(violations));
    chart.series.push(crosses.role(SeriesRole::Bound));
    chart.series.retain(|it| !it.is_empty());
    chart
}

/// Returns the longest measured and the longest simulated delay in nanoseconds, each if it is above the bound.
fn violating(run: &ComparedRun, trip: &RoundTripComparison) -> [Option<f64>; 2] {
    let is_above = run.is_comparable() && trip.delay.above_bound > 0;
    let simulated = trip
        .delay
        .simulated
        .filter(|_| trip.delay.is_simulation_above());
    [
        trip.delay.longest_nanos().filter(|_| is_above),
        simulated.map(|it| it.longest),
    ]
}

/// Moves outliers far above everything else to the upper end, so that the rest can be seen. A violation is drawn at its value,
/// however far it is. Returns the height above which outliers are moved, and their places.
fn cut(
    boxes: &mut [ChartSeries],
    bounds: &[Level],
    simulated: &[(f64, f64)],
    violations: &[(f64, f64)],
) -> (f64, Vec<(f64, f64)>) {
    let mut all: Vec<&mut BoxPlot> = boxes
        .iter_mut()
        .filter_map(|it| match &mut it.shape {
            SeriesShape::Boxes(boxes) => Some(boxes),
            _ => None,
        })
        .flatten()
        .collect();
    let heights = all.iter().map(|it| it.high);
    let heights = heights.chain(bounds.iter().map(|it| it.value));
    let heights = heights.chain(simulated.iter().map(|it| it.1));
    let heights = heights.chain(violations.iter().map(|it| it.1));
    let highest = heights.fold(0.0, f64::max);
    let lowest = all.iter().map(|it| it.low).fold(highest, f64::min);
    let far = highest + (highest - lowest).max(highest * 0.1) / 2.0;
    let mut beyond = Vec::new();
    for it in &mut all {
        let place = it.place;
        it.outliers.retain(|value| {
            let is_far = *value > far;
            beyond.extend(is_far.then_some((place, far)));
            !is_far
        });
    }
    (far, beyond)
}

fn group(entry: &Entry<'_>) -> usize {
    entry.places.get(1).copied().unwrap_or(0)
}

fn title(
    run: &ComparedRun,
    entries: &Entries<'_>,
    members: &[&Entry<'_>],
    kind: RoundTripKind,
) -> String {
    let others = 2..entries.dimensions.len();
    let others = others.filter_map(|index| {
        let dimension = entries.dimensions.get(index)?;
        Some(named(
            &dimension.name,
            entries.value(members.first()?, index),
        ))
    });
    let mut parts = vec![format!(
        "Round trip ({}), {}, on {}",
        kind.name(),
        run.description.scenario,
        run.description.backend
    )];
    parts.extend(others);
    if !run.is_comparable() {
        parts.push("not comparable with the bound".to_owned());
    }
    parts.join(", ")
}

/// Returns the box plot of a measurement in microseconds: quartiles, 1 % and 99 %, and the longest of all messages.
fn box_plot(trip: &RoundTripComparison, place: f64, width: f64) -> Option<BoxPlot> {
    let delay = trip.delay.measured.as_ref()?.delay;
    let longest = trip.delay.longest_nanos().map(|it| it / 1e3);
    Some(BoxPlot {
        place,
        width,
        low: delay.p1 / 1e3,
        first_quartile: delay.p25 / 1e3,
        median: delay.median / 1e3,
        third_quartile: delay.p75 / 1e3,
        high: delay.p99 / 1e3,
        outliers: longest.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(outliers: Vec<f64>) -> Vec<ChartSeries> {
        let plot = BoxPlot {
            place: 3.0,
            width: 0.4,
            low: 400.0,
            first_quartile: 450.0,
            median: 500.0,
            third_quartile: 550.0,
            high: 600.0,
            outliers,
        };
        vec![ChartSeries::new("measured", SeriesShape::Boxes(vec![plot]))]
    }

    #[test]
    fn only_far_outliers_move_to_the_upper_end() {
        let level = Level {
            from: 0.0,
            to: 1.0,
            value: 800.0,
        };
        let mut near = boxes(vec![990.0]);
        assert_eq!(cut(&mut near, &[level], &[], &[]), (1_000.0, Vec::new()));
        assert_eq!(near, boxes(vec![990.0]));
        let mut far = boxes(vec![1_010.0]);
        assert_eq!(
            cut(&mut far, &[level], &[], &[]),
            (1_000.0, vec![(3.0, 1_000.0)])
        );
        assert_eq!(far, boxes(Vec::new()));
        // A violation stays at its value.
        let mut violation = boxes(vec![1_297.0]);
        let (_, beyond) = cut(&mut violation, &[level], &[], &[(3.0, 1_297.0)]);
        assert_eq!((violation, beyond), (boxes(vec![1_297.0]), Vec::new()));
    }
}
