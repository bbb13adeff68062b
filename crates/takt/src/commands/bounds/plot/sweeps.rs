//! Charts of bounds over swept values.

use takt_calculus::Extended;
use takt_figures::number::trimmed;
use takt_figures::{Axis, Chart, ChartSeries, SeriesShape};
use takt_scenario::names::{field_name, named, parameter_name};
use takt_scenario::{Rate, Share, SignedDuration, Size};

use super::super::row::Row;
use super::numbers::micros;

/// Largest number of charts in a figure.
const CHARTS: usize = 12;

/// Parses a swept value as a number with a unit, if it has this form.
fn number(text: &str) -> Option<(f64, &'static str)> {
    let time = |picos: f64| (picos / 1e6, "\u{b5}s");
    if let Ok(number) = text.parse::<f64>() {
        return Some((number, ""));
    }
    let time = text
        .parse::<SignedDuration>()
        .map(|it| time(it.picos() as f64));
    let rate = || {
        text.parse::<Rate>()
            .map(|it| (it.bits_per_second() as f64 / 1e6, "Mbit/s"))
    };
    let size = || text.parse::<Size>().map(|it| (it.bytes() as f64, "B"));
    let share = || {
        text.parse::<Share>()
            .map(|it| (it.billionths() as f64 / 1e7, "%"))
    };
    time.or_else(|_| rate())
        .or_else(|_| size())
        .or_else(|_| share())
        .ok()
}

/// Returns the values of a sweep as numbers, and their unit; `None` unless all are numbers of one unit.
fn numbers(rows: &[Row], sweep: usize) -> Option<(Vec<f64>, &'static str)> {
    let numbers = rows.iter().map(|row| number(&row.settings[sweep].1));
    let numbers: Vec<(f64, &str)> = numbers.collect::<Option<_>>()?;
    let unit = numbers.first()?.1;
    let is_one = numbers.iter().all(|number| number.1 == unit);
    is_one.then(|| (numbers.into_iter().map(|number| number.0).collect(), unit))
}

/// A sweep on the horizontal axis of a chart.
struct Sweep {
    index: usize,
    /// Position of each row on the axis.
    places: Vec<f64>,
    axis: Axis,
}

impl Sweep {
    fn of_numbers(rows: &[Row], index: usize) -> Option<Self> {
        let (places, unit) = numbers(rows, index)?;
        let name = parameter_name(&rows.first()?.settings[index].0);
        let name = match unit {
            "" => name,
            unit => format!("{name} ({unit})"),
        };
        let ticks = places.iter().map(|place| (*place, trimmed(*place, 3)));
        Some(Self {
            index,
            axis: Axis::new(name).ticks(ticks),
            places,
        })
    }

    fn of_names(rows: &[Row], index: usize) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            let value = &row.settings[index].1;
            let known = names.iter().position(|name| name == value);
            let place = known.unwrap_or_else(|| {
                names.push(value.clone());
                names.len() - 1
            });
            places.push(place as f64);
        }
        let parameter = rows.first().map_or("", |row| &row.settings[index].0);
        Self {
            index,
            places,
            axis: Axis::names(parameter_name(parameter), &names),
        }
    }
}

/// Returns charts over each sweep whose values are numbers, or over the first sweep if there is none. With a single sweep, each
/// flow is a line. With several sweeps, each flow has charts of its own, with a line for each combination of the other sweeps.
pub(super) fn charts(rows: &[Row]) -> Vec<Chart> {
    let sweeps = rows.first().map_or(0, |row| row.settings.len());
    let mut axes: Vec<Sweep> = (0..sweeps)
        .filter_map(|sweep| Sweep::of_numbers(rows, sweep))
        .collect();
    if axes.is_empty() && sweeps > 0 {
        axes.push(Sweep::of_names(rows, 0));
    }
    let mut flows: Vec<&str> = Vec::new();
    for flow in rows.iter().flat_map(|row| &row.bounds.flows) {
        if !flows.contains(&flow.name.as_str()) {
            flows.push(&flow.name);
        }
    }
    let of_chart: Vec<&[&str]> = match sweeps {
        1 => vec![&flows],
        _ => flows.chunks(1).collect(),
    };
    let charts = of_chart.into_iter().flat_map(|flows| {
        let axes = axes.iter();
        axes.map(move |axis| chart(rows, axis, flows))
    });
    let mut charts: Vec<Chart> = charts.take(CHARTS).collect();
    if sweeps > 1 && flows.len() > 1 {
        let names = flows.iter().flat_map(|flow| axes.iter().map(move |_| flow));
        for (chart, flow) in charts.iter_mut().zip(names) {
            chart.title = format!("{flow}: {}", chart.title);
        }
    }
    charts
}

fn chart(rows: &[Row], sweep: &Sweep, flows: &[&str]) -> Chart {
    let mut lines: Vec<ChartSeries> = Vec::new();
    let mut is_infinite = false;
    for (row, place) in rows.iter().zip(&sweep.places) {
        let wanted = row.bounds.flows.iter();
        for flow in wanted.filter(|flow| flows.contains(&flow.name.as_str())) {
            is_infinite |= flow.delay == Extended::Infinity;
            let label = label(row, sweep, &flow.name);
            let point = micros(&flow.delay).map(|delay| (*place, delay));
            let known = lines.iter_mut().find(|line| line.label == label);
            match known.map(|line| &mut line.shape) {
                Some(SeriesShape::Line { points, .. }) => points.extend(point),
                _ => lines.push(ChartSeries::marked(label, point.into_iter().collect())),
            }
        }
    }
    let parameter = rows
        .first()
        .map_or("", |row| row.settings[sweep.index].0.as_str());
    let infinite = match is_infinite {
        true => "; infinite where a line has no point",
        false => "",
    };
    // With exactly one more sweep of numbers, the lines have the order of its values.
    let others: Vec<usize> = (0..rows.first().map_or(0, |row| row.settings.len()))
        .filter(|other| *other != sweep.index)
        .collect();
    let ordered = matches!(others.as_slice(), [other] if numbers(rows, *other).is_some());
    Chart {
        title: format!("Bounds over {}{infinite}", field_name(parameter)),
        x: sweep.axis.clone(),
        y: Axis::new("bound on the delay (\u{b5}s)"),
        series: lines,
        ordered,
        labelled: true,
    }
}

/// Returns the label of the line of a row: the values of the other sweeps, or the flow if there are none.
fn label(row: &Row, sweep: &Sweep, flow: &str) -> String {
    let others = row
        .settings
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != sweep.index);
    let values: Vec<String> = others
        .map(|(_, (parameter, value))| named(&field_name(parameter), value))
        .collect();
    match values.as_slice() {
        [] => flow.to_owned(),
        values => values.join(", "),
    }
}
