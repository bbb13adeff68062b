//! Histograms of the round trips of one application.

use takt_figures::{Axis, Bar, Chart, ChartSeries, Figure, Scale, SeriesShape};

use crate::comparison::{ComparedApplication, RoundTripKind};

/// Returns the histogram of one kind of round trip.
pub(super) fn figure(application: &ComparedApplication, kind: RoundTripKind) -> Option<Figure> {
    let measured = application.round_trip(kind).delay.measured.as_ref()?;
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
        // The axis begins below one message in each histogram: with a beginning near the lowest bar, the heights of bars say nothing.
        y = Axis::new("number of messages, logarithmic")
            .scale(Scale::Logarithmic)
            .range(0.5, most * 1.25);
    }
    let x = Axis::new(format!("round trip, {} (\u{b5}s)", kind.name()));
    let mut chart = Chart::new(title, x, y);
    chart.labelled = false;
    chart
        .series
        .push(ChartSeries::new("messages", SeriesShape::Bars(bars)));
    Some(Figure::of(chart))
}
