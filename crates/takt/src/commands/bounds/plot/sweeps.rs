//! Bounds over what was swept.

use takt_calculus::Extended;
use takt_scenario::{Rate, Share, SignedDuration, Size};

use super::super::Row;
use super::chart::{Chart, Line};
use super::micros;

/// So many charts are drawn at most.
const CHARTS: usize = 12;

/// A swept value as a number and its unit, if it is one.
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

/// Where the values of a sweep are on the axis, its unit, and the values themselves if they are no numbers of one unit.
struct Axis {
    sweep: usize,
    places: Vec<f64>,
    unit: &'static str,
    names: Vec<String>,
}

impl Axis {
    fn numeric(rows: &[Row], sweep: usize) -> Option<Self> {
        let numbers = rows.iter().map(|row| number(&row.settings[sweep].1));
        let numbers: Vec<(f64, &str)> = numbers.collect::<Option<_>>()?;
        let unit = numbers.first()?.1;
        let is_one = numbers.iter().all(|number| number.1 == unit);
        is_one.then(|| Self {
            sweep,
            places: numbers.into_iter().map(|number| number.0).collect(),
            unit,
            names: Vec::new(),
        })
    }

    fn of_names(rows: &[Row], sweep: usize) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            let value = &row.settings[sweep].1;
            let known = names.iter().position(|name| name == value);
            let place = known.unwrap_or_else(|| {
                names.push(value.clone());
                names.len() - 1
            });
            places.push(place as f64);
        }
        Self {
            sweep,
            places,
            unit: "",
            names,
        }
    }
}

/// Bounds over each sweep whose values are numbers, or over the names of the first one's values if there is none. Of a single sweep, each flow is a
/// line; of several, each flow has charts of its own, with a line for each combination of the other sweeps.
pub(super) fn charts(rows: &[Row]) -> Vec<Chart> {
    let sweeps = rows.first().map_or(0, |row| row.settings.len());
    let mut axes: Vec<Axis> = (0..sweeps)
        .filter_map(|sweep| Axis::numeric(rows, sweep))
        .collect();
    if axes.is_empty() && sweeps > 0 {
        axes.push(Axis::of_names(rows, 0));
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

fn chart(rows: &[Row], axis: &Axis, flows: &[&str]) -> Chart {
    let mut lines: Vec<Line> = Vec::new();
    let mut is_infinite = false;
    for (row, place) in rows.iter().zip(&axis.places) {
        let wanted = row.bounds.flows.iter();
        for flow in wanted.filter(|flow| flows.contains(&flow.name.as_str())) {
            is_infinite |= flow.delay == Extended::Infinity;
            let label = label(row, axis, &flow.name);
            let point = micros(&flow.delay).map(|delay| (*place, delay));
            match lines.iter_mut().find(|line| line.label == label) {
                Some(line) => line.points.extend(point),
                None => lines.push(Line {
                    label,
                    points: point.into_iter().collect(),
                    marks: true,
                }),
            }
        }
    }
    let parameter = rows
        .first()
        .map_or("", |row| row.settings[axis.sweep].0.as_str());
    let infinite = match is_infinite {
        true => "; infinite where a line has no point",
        false => "",
    };
    Chart {
        title: format!("Bounds over {}{infinite}", last_name(parameter)),
        x: match axis.unit {
            "" => parameter.to_owned(),
            unit => format!("{parameter} in {unit}"),
        },
        names: axis.names.clone(),
        y: "\u{b5}s".to_owned(),
        lines,
    }
}

/// What a row's line is called: the values of the other sweeps, or the flow if there are none.
fn label(row: &Row, axis: &Axis, flow: &str) -> String {
    let others = row
        .settings
        .iter()
        .enumerate()
        .filter(|(sweep, _)| *sweep != axis.sweep);
    let values: Vec<String> = others
        .map(|(_, (parameter, value))| format!("{} {value}", last_name(parameter)))
        .collect();
    match values.as_slice() {
        [] => flow.to_owned(),
        values => values.join(", "),
    }
}

/// What a swept field is called without the tables around it.
fn last_name(parameter: &str) -> &str {
    parameter.rsplit('.').next().unwrap_or(parameter)
}
