//! Colours and dashes of series.

use super::figure::{Chart, ChartSeries, Figure, SeriesRole};
use super::paint::{COLOURS, DASHES, Paint, STEPS};

/// Width of a line.
const WIDTH: f64 = 2.0;

/// Distinct colours beside red ones: vermilion, which is near to red, comes last.
const BESIDE_RED: [usize; COLOURS] = [0, 2, 3, 5, 4, 1];

/// Look of a series.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    pub(super) paint: Paint,
    pub(super) dashes: Vec<f64>,
    pub(super) width: f64,
}

/// Labels of the data of a figure. The number of a label determines the look of its series.
pub(super) struct Looks<'a> {
    labels: Vec<&'a str>,
    has_bounds: bool,
}

impl<'a> Looks<'a> {
    pub(super) fn of(figure: &'a Figure) -> Self {
        let mut labels: Vec<&str> = Vec::new();
        let mut has_bounds = false;
        for series in figure.charts.iter().flat_map(|chart| &chart.series) {
            has_bounds |= series.role == SeriesRole::Bound;
            if series.role == SeriesRole::Data && !labels.contains(&series.label.as_str()) {
                labels.push(&series.label);
            }
        }
        Self { labels, has_bounds }
    }

    /// Returns the look of a series of a chart.
    pub(super) fn look(&self, chart: &Chart, series: &ChartSeries) -> Look {
        let solid = |paint| Look {
            paint,
            dashes: Vec::new(),
            width: WIDTH,
        };
        match series.role {
            SeriesRole::Bound => solid(Paint::Bound),
            SeriesRole::Reference => solid(Paint::Text),
            SeriesRole::Data if chart.ordered => {
                let data: Vec<&ChartSeries> = of_data(chart).collect();
                let place = data.iter().position(|it| it.label == series.label);
                // A single series divides by 1, and gets the first colour.
                let last = data.len().saturating_sub(1).max(1);
                solid(Paint::Ordered(place.unwrap_or(0) * STEPS / last))
            }
            SeriesRole::Data => {
                let number = self.labels.iter().position(|it| *it == series.label);
                let number = number.unwrap_or(0);
                let dashes = DASHES.iter().cycle().nth(number / COLOURS);
                let dashes = dashes.into_iter().flat_map(|dashes| dashes.iter());
                let colour = match self.has_bounds {
                    true => BESIDE_RED[number % COLOURS],
                    false => number % COLOURS,
                };
                Look {
                    dashes: dashes.map(|length| length * WIDTH).collect(),
                    ..solid(Paint::Distinct(colour))
                }
            }
        }
    }
}

fn of_data(chart: &Chart) -> impl Iterator<Item = &ChartSeries> {
    chart.series.iter().filter(|it| it.role == SeriesRole::Data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Axis;

    fn chart(labels: &[String]) -> Chart {
        let mut chart = Chart::new("", Axis::new(""), Axis::new(""));
        let lines = labels
            .iter()
            .map(|label| ChartSeries::line(label, Vec::new()));
        chart.series = lines.collect();
        chart
    }

    fn names(count: usize) -> Vec<String> {
        (0..count)
            .map(|number| format!("subject {number}"))
            .collect()
    }

    fn of_all(looks: &Looks<'_>, chart: &Chart) -> Vec<Look> {
        let series = chart.series.iter();
        series.map(|it| looks.look(chart, it)).collect()
    }

    #[test]
    fn each_label_has_one_distinct_style() {
        let figure = Figure {
            charts: vec![chart(&names(20)), chart(&names(4)[3..])],
            columns: 1,
        };
        let looks = Looks::of(&figure);
        let all = of_all(&looks, &figure.charts[0]);
        assert_eq!(all[3], of_all(&looks, &figure.charts[1])[0]);
        for (index, look) in all.iter().enumerate() {
            assert!(!all[..index].contains(look), "{index}");
        }
    }

    #[test]
    fn bounds_are_red_and_data_beside_them_is_not_vermilion() {
        let mut chart = chart(&names(5));
        let bound = ChartSeries::line("bound", Vec::new()).role(SeriesRole::Bound);
        chart.series.push(bound);
        let figure = Figure::of(chart);
        let looks = of_all(&Looks::of(&figure), &figure.charts[0]);
        assert_eq!(looks[5].paint, Paint::Bound);
        assert!(looks.iter().all(|look| look.paint != Paint::Distinct(1)));
    }

    #[test]
    fn ordered_data_has_ordered_colours() {
        let mut chart = chart(&names(3));
        chart.ordered = true;
        let figure = Figure::of(chart);
        let looks = of_all(&Looks::of(&figure), &figure.charts[0]);
        let paints: Vec<Paint> = looks.iter().map(|look| look.paint).collect();
        assert_eq!(paints, [0, STEPS / 2, STEPS].map(Paint::Ordered));
    }
}
