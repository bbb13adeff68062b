//! Charts: latency over the size of the value, and distribution of latencies, with a line for each subject.

use takt_figures::{Axis, Chart, ChartSeries, Figure, Scale};

use super::row::Row;
use super::sizes;
use crate::measure::Samples;

/// The Reads of one subject at one placement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve {
    pub(super) label: String,
    pub(super) placement: String,
    /// Bytes and medians in µs, in ascending order of bytes.
    pub(super) medians: Vec<(f64, f64)>,
    /// Distribution for the smallest value: µs, and the share of Reads that took at most that long.
    pub(super) distribution: Vec<(f64, f64)>,
}

/// Sorts the Reads among `rows` into curves. `samples` has the samples of each row at the same position.
pub(super) fn curves(rows: &[Row], samples: &[Samples]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    #[allow(clippy::cast_precision_loss, reason = "sizes far below 2^53")]
    for (row, samples) in rows
        .iter()
        .zip(samples)
        .filter(|(row, _)| row.service == "Read")
    {
        let detail = match row.access.as_str() {
            "bytes" => String::new(),
            access => format!(", {access}"),
        };
        let label = format!("{}, {}{detail}", row.subject(), row.wait);
        let point = (row.payload_bytes as f64, row.median);
        let same = |curve: &&mut Curve| curve.label == label && curve.placement == row.placement;
        match curves.iter_mut().find(same) {
            Some(curve) => curve.medians.push(point),
            None => curves.push(Curve {
                label,
                placement: row.placement.clone(),
                medians: vec![point],
                distribution: samples.distribution(),
            }),
        }
    }
    curves
}

/// Returns the figure: a row of two charts for each placement. The labels of the first chart are also those of the second one.
pub(super) fn figure(placements: &[&str], curves: &[Curve]) -> Figure {
    let charts = placements.iter().flat_map(|placement| {
        let curves = curves.iter().filter(|curve| curve.placement == *placement);
        let curves: Vec<&Curve> = curves.collect();
        let cores = match *placement {
            "same" => "one core",
            _ => "different cores",
        };
        [over_size(cores, &curves), distribution(cores, &curves)]
    });
    Figure {
        charts: charts.collect(),
        columns: 2,
    }
}

fn over_size(cores: &str, curves: &[&Curve]) -> Chart {
    let line = |curve: &&Curve| ChartSeries::marked(&curve.label, curve.medians.clone());
    let points = curves.iter().flat_map(|curve| &curve.medians);
    Chart {
        title: takt_profile::titled(&format!(
            "GetValue(): median over the size of the value, {cores}"
        )),
        x: Axis::new("size of the value")
            .scale(Scale::Logarithmic)
            .ticks(points.map(|(bytes, _)| (*bytes, size(*bytes)))),
        y: Axis::new("median (µs)").scale(Scale::Logarithmic),
        series: curves.iter().map(line).collect(),
        ordered: false,
        labelled: true,
    }
}

fn distribution(cores: &str, curves: &[&Curve]) -> Chart {
    let smallest = curves.iter().find_map(|curve| curve.medians.first());
    let smallest = smallest.map_or_else(String::new, |(bytes, _)| size(*bytes));
    let line = |curve: &&Curve| ChartSeries::line(&curve.label, steps(&curve.distribution));
    Chart {
        title: takt_profile::titled(&format!("GetValue() of {smallest}: distribution, {cores}")),
        x: Axis::new("latency (µs)").scale(Scale::Logarithmic),
        y: Axis::new("share of Reads that took at most so long (%)").range(0.0, 100.0),
        series: curves.iter().map(line).collect(),
        ordered: false,
        labelled: false,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes of at most 16 MiB"
)]
fn size(bytes: f64) -> String {
    sizes::text(bytes as usize)
}

/// Returns the steps of a distribution, from 0 to 100 %.
fn steps(distribution: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let mut points = Vec::with_capacity(2 * distribution.len());
    for (micros, share) in distribution {
        let share = share * 100.0;
        points.extend([(*micros, before), (*micros, share)]);
        before = share;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_placement_has_two_charts_with_the_same_lines() {
        let curve = |number: u32, placement: &str| Curve {
            label: format!("subject {number}"),
            placement: placement.to_owned(),
            medians: vec![(4.0, f64::from(number)), (4096.0, f64::from(number) * 2.0)],
            distribution: vec![(f64::from(number), 0.5), (f64::from(number) * 3.0, 1.0)],
        };
        let curves = [curve(1, "diff"), curve(2, "diff"), curve(2, "same")];
        let figure = figure(&["diff", "same"], &curves);
        let labels = |chart: &Chart| -> Vec<String> {
            chart.series.iter().map(|it| it.label.clone()).collect()
        };
        let [diff, of_diff, same, of_same] = figure.charts.as_slice() else {
            panic!("{} charts", figure.charts.len());
        };
        assert!(diff.title.contains("different cores") && same.title.contains("one core"));
        assert!(of_diff.title.contains("GetValue() of 4 B"));
        assert_eq!(labels(diff), ["subject 1", "subject 2"]);
        assert_eq!(labels(diff), labels(of_diff));
        assert_eq!(labels(same), ["subject 2"]);
        assert_eq!(labels(same), labels(of_same));
    }

    #[test]
    fn shares_are_steps_up_to_all() {
        let steps = steps(&[(1.0, 0.25), (5.0, 1.0)]);
        assert_eq!(steps, [(1.0, 0.0), (1.0, 25.0), (5.0, 25.0), (5.0, 100.0)]);
    }
}
