//! Charts of a campaign: quantities over each swept field, with 95 % intervals.

use takt_campaign::{CampaignSummary, MergedRow};
use takt_figures::{Axis, Chart, ChartSeries, Figure, IntervalMark, SeriesRole, SeriesShape};
use takt_statistics::Estimate;

use super::dimensions::{CampaignDimension, label};

/// Largest number of charts of one kind of quantity over one field.
const MOST_CHARTS: usize = 6;

/// Largest number of series of values with intervals in a chart.
const MOST_SERIES: usize = 6;

/// Share of a place that its series fill.
const FILLED: f64 = 0.5;

/// Quantities with the same unit and subject: mean, greatest value and bound of one kind of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuantityGroup {
    /// Name without the statistic: `control.round_trip`.
    pub(super) name: String,
    /// Indices in the summary.
    pub(super) members: Vec<usize>,
}

impl QuantityGroup {
    /// Returns the groups of a summary.
    pub(super) fn all(summary: &CampaignSummary) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (index, quantity) in summary.quantities.iter().enumerate() {
            let name = match quantity.quantity.rsplit_once('.') {
                // Times of one kind are of one unit.
                Some((subject, statistic)) if statistic.ends_with("_ns") => subject,
                _ => quantity.quantity.as_str(),
            };
            match groups.iter_mut().find(|it| it.name == name) {
                Some(group) => group.members.push(index),
                None => groups.push(Self {
                    name: name.to_owned(),
                    members: vec![index],
                }),
            }
        }
        groups
    }

    /// Returns the name for people.
    pub(super) fn title(&self) -> String {
        readable(&self.name)
    }
}

/// Returns a quantity in words: `round trip of control`.
pub(super) fn readable(name: &str) -> String {
    match name.split_once('.') {
        Some((subject, kind)) => {
            let kind = kind.replace('_', " ").replace('.', ", ");
            format!("{kind} of {subject}")
        }
        None => name.replace('_', " "),
    }
}

/// Chart with what it leaves out.
pub(super) struct CampaignCharts {
    pub(super) figures: Vec<Figure>,
    /// Number of combinations without a chart.
    pub(super) left_out: usize,
}

/// Returns the charts of a group over a field. The first of the other dimensions is in the series, and the rest of them in charts of their
/// own.
pub(super) fn over(
    summary: &CampaignSummary,
    group: &QuantityGroup,
    field: &CampaignDimension,
    all: &[CampaignDimension],
) -> CampaignCharts {
    let others: Vec<&CampaignDimension> = all.iter().filter(|it| *it != field).collect();
    let mut backends: Vec<&str> = Vec::new();
    for (quantity, row) in rows(summary, group) {
        let is_data = statistic(quantity).1 == SeriesRole::Data;
        if is_data && !backends.contains(&row.backend.as_str()) {
            backends.push(&row.backend);
        }
    }
    let most = MOST_SERIES / backends.len().max(1);
    let is_narrow = |it: &&&CampaignDimension| it.values.len() <= most;
    // A dimension with few values is best seen side by side.
    let series = others.iter().find(is_narrow).copied();
    let panels: Vec<&CampaignDimension> = others
        .into_iter()
        .filter(|it| Some(*it) != series)
        .collect();
    let mut labels: Vec<String> = Vec::new();
    for row in rows(summary, group) {
        let label = label(panels.iter().copied(), |it| it.of(row.1));
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let figures = labels.iter().take(MOST_CHARTS).map(|panel| {
        let members = rows(summary, group)
            .filter(|(_, row)| label(panels.iter().copied(), |it| it.of(row)) == *panel);
        let members: Vec<(&str, &MergedRow)> = members.collect();
        Figure::of(chart(group, field, series, panel, &members))
    });
    CampaignCharts {
        figures: figures.collect(),
        left_out: labels.len().saturating_sub(MOST_CHARTS),
    }
}

/// Returns the rows of a group with the names of their quantities.
fn rows<'a>(
    summary: &'a CampaignSummary,
    group: &'a QuantityGroup,
) -> impl Iterator<Item = (&'a str, &'a MergedRow)> {
    let members = group.members.iter();
    let quantities = members.filter_map(|index| summary.quantities.get(*index));
    quantities.flat_map(|it| it.rows.iter().map(|row| (it.quantity.as_str(), row)))
}

/// Part of a label for the statistic of a quantity, and its meaning in a chart.
fn statistic(quantity: &str) -> (String, SeriesRole) {
    let name = quantity.rsplit('.').next().unwrap_or(quantity);
    match name.strip_suffix("_ns") {
        Some("bound") => ("bound".to_owned(), SeriesRole::Bound),
        Some("max") => ("longest".to_owned(), SeriesRole::Reference),
        Some(name) => (name.replace('_', "."), SeriesRole::Data),
        None => (name.replace('_', " "), SeriesRole::Data),
    }
}

fn chart(
    group: &QuantityGroup,
    field: &CampaignDimension,
    series: Option<&CampaignDimension>,
    panel: &str,
    members: &[(&str, &MergedRow)],
) -> Chart {
    let title = match panel {
        "" => format!("{}, by {}", group.title(), field.name),
        panel => format!("{}, by {}: {panel}", group.title(), field.name),
    };
    let is_time = members.iter().any(|(name, _)| name.ends_with("_ns"));
    let (unit, factor) = match is_time {
        true => ("\u{b5}s", 1e3),
        false => ("", 1.0),
    };
    let kind = group
        .name
        .split_once('.')
        .map_or(group.name.as_str(), |it| it.1);
    let kind = kind.replace(['_', '.'], " ");
    let y = match unit {
        "" => Axis::new(kind),
        unit => Axis::new(format!("{kind} ({unit})")),
    };
    let mut chart = Chart::new(title, Axis::names(&field.name, &field.values), y);
    let label = |row: &MergedRow, statistic: &str| {
        let of_series = series.map(|it| it.named(&it.of(row)));
        let parts = [Some(statistic.to_owned()), of_series];
        // A bound is of one backend.
        let backend = (statistic != "bound").then(|| row.backend.clone());
        let parts = parts.into_iter().chain([backend]).flatten();
        parts.collect::<Vec<_>>().join(", ")
    };
    let mut labels: Vec<(String, SeriesRole)> = Vec::new();
    for (quantity, row) in members {
        let (statistic, role) = statistic(quantity);
        let entry = (label(row, &statistic), role);
        if !labels.contains(&entry) {
            labels.push(entry);
        }
    }
    let data = labels.iter().filter(|it| it.1 == SeriesRole::Data).count();
    let step = FILLED / data.max(1) as f64;
    let mut number = 0.0;
    for (text, role) in &labels {
        let shift = match role {
            SeriesRole::Data => (number - (data as f64 - 1.0) / 2.0) * step,
            SeriesRole::Bound | SeriesRole::Reference => 0.0,
        };
        number += f64::from(u8::from(*role == SeriesRole::Data));
        let own = members.iter().filter(|(quantity, row)| {
            let (statistic, _) = statistic(quantity);
            label(row, &statistic) == *text
        });
        let points = own.filter_map(|(_, row)| {
            let value = field.of(row);
            let place = field.values.iter().position(|it| *it == value)?;
            Some((place as f64, *row))
        });
        let mut points: Vec<(f64, &MergedRow)> = points.collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let shape = match role {
            SeriesRole::Data => SeriesShape::Intervals(
                points
                    .iter()
                    .filter_map(|(place, row)| mark(place + shift, row.mean?, factor))
                    .collect(),
            ),
            SeriesRole::Reference => SeriesShape::Diamonds(
                points
                    .iter()
                    .filter_map(|(place, row)| Some((*place, row.most? / factor)))
                    .collect(),
            ),
            SeriesRole::Bound => {
                let points = points
                    .iter()
                    .filter_map(|(place, row)| Some((*place, row.most? / factor)));
                SeriesShape::Line {
                    points: points.collect(),
                    marks: true,
                }
            }
        };
        let series = ChartSeries::new(text.clone(), shape).role(*role);
        chart.series.push(series);
    }
    chart.series.retain(|it| !it.is_empty());
    join(&mut chart);
    chart
}

/// Returns the mark of a mean. One value has no interval.
fn mark(place: f64, mean: Estimate, factor: f64) -> Option<IntervalMark> {
    let end = |end: f64| match end.is_finite() {
        true => end,
        false => mean.value,
    };
    mean.value.is_finite().then(|| IntervalMark {
        place,
        low: end(mean.low) / factor,
        value: mean.value / factor,
        high: end(mean.high) / factor,
        extreme: None,
    })
}

/// Draws the longest values at the means that they belong to, where there is nothing but means: then each series needs one label.
fn join(chart: &mut Chart) {
    let (mean, longest) = ("mean, ", "longest, ");
    let is_mean = |it: &ChartSeries| it.label.starts_with(mean);
    let mut data = chart.series.iter().filter(|it| it.role == SeriesRole::Data);
    if !data.all(is_mean) {
        return;
    }
    let series = std::mem::take(&mut chart.series);
    let (extremes, mut others): (Vec<ChartSeries>, Vec<ChartSeries>) = series
        .into_iter()
        .partition(|it| matches!(it.shape, SeriesShape::Diamonds(_)));
    for of_extremes in extremes {
        let name = of_extremes.label.strip_prefix(longest);
        let own = others.iter_mut().find(|it| {
            let own = it.label.strip_prefix(mean);
            own.is_some() && own == name
        });
        match (own.map(|it| &mut it.shape), &of_extremes.shape) {
            (Some(SeriesShape::Intervals(marks)), SeriesShape::Diamonds(points)) => {
                for mark in marks {
                    let is_own = |point: &&(f64, f64)| (point.0 - mark.place).abs() < 0.5;
                    mark.extreme = points.iter().find(is_own).map(|point| point.1);
                }
            }
            _ => others.push(of_extremes),
        }
    }
    for it in &mut others {
        if let Some(name) = it.label.strip_prefix(mean) {
            it.label = name.to_owned();
        }
    }
    chart.series = others;
}
