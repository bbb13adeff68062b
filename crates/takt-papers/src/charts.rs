//! Charts of rows: ours beside the paper's figures.

use takt_figures::{Axis, Bar, Chart, ChartSeries, Figure, Level, SeriesRole, SeriesShape};
use takt_scenario::CampaignBackend;

use crate::cells::PaperTable;
use crate::element::{PaperChart, PaperElement, TracePicture};
use crate::trace::TracedCase;
use crate::trace_spec::TraceKind;

/// Share of a place on the horizontal axis that its bars fill.
const FILLED: f64 = 0.8;

/// Returns a chart of a table with its caption.
pub(crate) fn figure(table: &PaperTable<'_>, chart: &PaperChart) -> (Figure, String) {
    let element = table.element;
    let names: Vec<String> = element.columns.iter().map(|it| it.name.clone()).collect();
    let mut series = Vec::new();
    let mut highest: f64 = 0.0;
    let (mut has_paper, mut has_infinite) = (false, false);
    let width = FILLED / chart.rows.len().max(1) as f64;
    for (number, name) in chart.rows.iter().enumerate() {
        let found = element.rows.iter().zip(&table.cells);
        let Some((row, cells)) = found.into_iter().find(|(row, _)| row.name == *name) else {
            continue;
        };
        let size = row.unit.size;
        let ours = cells.iter().enumerate();
        let ours = ours.filter_map(|(at, cell)| Some((at as f64, cell.value()? / size)));
        let ours: Vec<(f64, f64)> = ours.collect();
        has_infinite |= ours.iter().any(|point| point.1.is_infinite());
        let ours: Vec<(f64, f64)> = ours.into_iter().filter(|it| it.1.is_finite()).collect();
        let figures = row.paper.iter().flatten().enumerate();
        let figures = figures.filter_map(|(at, figure)| Some((at as f64, (*figure)? / size)));
        let figures: Vec<(f64, f64)> = figures.filter(|point| point.1.is_finite()).collect();
        let heights = ours.iter().chain(&figures).map(|point| point.1);
        highest = heights.fold(highest, f64::max);
        has_paper |= !figures.is_empty();
        let begin = |at: f64| at - FILLED / 2.0 + number as f64 * width;
        let of_paper = match chart.has_bars {
            true => {
                let levels = figures.iter().map(|(at, value)| Level {
                    from: begin(*at),
                    to: begin(*at) + width,
                    value: *value,
                });
                SeriesShape::Levels(levels.collect())
            }
            false => SeriesShape::Diamonds(figures),
        };
        let of_ours = match chart.has_bars {
            true => {
                let bars = ours.iter().map(|(at, value)| Bar {
                    from: begin(*at) + width * 0.05,
                    to: begin(*at) + width * 0.95,
                    value: *value,
                });
                ChartSeries::new(name, SeriesShape::Bars(bars.collect()))
            }
            false => ChartSeries::marked(name, ours),
        };
        series.push(of_ours);
        let label = match chart.rows.len() {
            1 => "paper".to_owned(),
            _ => format!("{name}, paper"),
        };
        series.push(ChartSeries::new(label, of_paper).role(SeriesRole::Reference));
    }
    series.retain(|it| !it.is_empty());
    let from = chart.from.unwrap_or(0.0);
    let axis = match from == 0.0 {
        true => chart.axis.clone(),
        false => format!("{}, from {from}", chart.axis),
    };
    let to = if highest > from { highest } else { from + 1.0 };
    let y = Axis::new(axis).range(from, to + (to - from) * 0.05);
    let mut drawn = Chart::new(&chart.title, Axis::names(&element.heading, &names), y);
    drawn.series = series;
    let origin = match has_paper {
        true => "Figures of the paper are in the colour of text.",
        false => "The paper has no numbers for these rows.",
    };
    let begin = match from == 0.0 {
        true => String::new(),
        false => format!(" The vertical axis begins at {from}, not at 0."),
    };
    let infinite = match has_infinite {
        true => " Infinite values have no point.",
        false => "",
    };
    let shown = element.rows.iter();
    let mut shown = shown.filter(|row| chart.rows.contains(&row.name));
    let backend = match &table.backend {
        Some(backend) if !shown.all(|row| row.is_bound) => backend.as_str(),
        _ => CampaignBackend::Bounds.name(),
    };
    let caption = format!(
        "{} {}: {}. Backend {backend}. {origin}{infinite}{begin}",
        element.paper, element.place, chart.title
    );
    (Figure::of(drawn), caption)
}

/// Returns the picture of traces with its caption; `None` if they were not computed.
pub(crate) fn picture(
    element: &PaperElement,
    picture: &TracePicture,
    traces: &[TracedCase],
) -> Option<(Figure, String)> {
    let chosen = traces.iter().filter(|it| picture.traces.contains(&it.name));
    let chosen: Vec<&TracedCase> = chosen.collect();
    let kind = chosen.first()?.kind;
    let several = chosen.len() > 1;
    let mut series = Vec::new();
    for trace in chosen {
        for curve in &trace.curves {
            let label = match (several, curve.label.as_str()) {
                (true, "") => trace.name.clone(),
                (true, label) => format!("{}, {label}", trace.name),
                (false, "") => "credit".to_owned(),
                (false, label) => label.to_owned(),
            };
            series.push(ChartSeries::line(label, curve.points.clone()));
        }
    }
    let (x, y) = match kind {
        TraceKind::Spacing => ("spacing (\u{b5}s)", "share of spacings that are not longer"),
        TraceKind::Positions => ("position in the period (\u{b5}s)", "frames in a hundredth"),
        TraceKind::Credit => ("time (\u{b5}s)", "credit (bit)"),
    };
    let (mut x_axis, mut begin) = (Axis::new(x), String::new());
    if let Some((from, to)) = picture.range {
        if from != 0.0 {
            x_axis = Axis::new(format!("{x}, from {from}"));
            begin = format!(" The horizontal axis begins at {from}, not at 0.");
        }
        x_axis = x_axis.range(from, to);
        for one in &mut series {
            if let SeriesShape::Line { points, .. } = &mut one.shape {
                points.retain(|(at, _)| (from..=to).contains(at));
            }
        }
    }
    series.retain(|it| !it.is_empty());
    let mut y_axis = Axis::new(y);
    if kind == TraceKind::Spacing {
        y_axis = y_axis.range(0.0, 1.0);
    }
    let mut drawn = Chart::new(&picture.title, x_axis, y_axis);
    drawn.series = series;
    let caption = format!(
        "{} {}: {}. Simulated.{begin}",
        element.paper, element.place, picture.title
    );
    Some((Figure::of(drawn), caption))
}
