//! Charts of lines beside their legends, several on one picture.

use plotters::prelude::{
    BLACK, ChartBuilder, DrawingBackend, IntoFont, LineSeries, PathElement, RGBColor, Text, WHITE,
};
use takt_bench::picture::{Area, COLOURS, Drawing, FONT, Outcome};

/// Width of a chart, in pixels.
const WIDTH: u32 = 760;
/// Width of its legend, in pixels.
const LEGEND: u32 = 190;
/// Height of a chart, in pixels.
const HEIGHT: u32 = 460;
/// A line, and whether its points are marked.
pub(super) struct Line {
    pub(super) label: String,
    pub(super) points: Vec<(f64, f64)>,
    pub(super) marks: bool,
}

pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x: String,
    /// What stands at 0, 1, 2 and so on instead of the number.
    pub(super) names: Vec<String>,
    pub(super) y: String,
    pub(super) lines: Vec<Line>,
}

pub(super) struct Charts {
    pub(super) charts: Vec<Chart>,
}

impl Drawing for Charts {
    fn size(&self) -> (u32, u32) {
        let count = u32::try_from(self.charts.len()).unwrap_or(1).max(1);
        let columns = count.min(2);
        (WIDTH * columns, HEIGHT * count.div_ceil(columns))
    }

    fn draw<B: DrawingBackend>(&self, area: &Area<B>) -> Outcome<B> {
        area.fill(&WHITE)?;
        let columns = self.charts.len().clamp(1, 2);
        let areas = area.split_evenly((self.charts.len().div_ceil(columns).max(1), columns));
        for (chart, area) in self.charts.iter().zip(&areas) {
            draw_chart(chart, area)?;
        }
        area.present()
    }
}

fn draw_chart<B: DrawingBackend>(chart: &Chart, area: &Area<B>) -> Outcome<B> {
    let all = || chart.lines.iter().flat_map(|line| &line.points);
    let reach = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let (mut left, mut right) = reach(&mut all().map(|point| point.0));
    if !chart.names.is_empty() {
        (left, right) = (-0.5, chart.names.len() as f64 - 0.5);
    }
    let (_, top) = reach(&mut all().map(|point| point.1));
    if left >= right && top <= 0.0 {
        return Ok(());
    }
    let (width, _) = area.dim_in_pixel();
    let (area, legend) = area.split_horizontally(width.saturating_sub(LEGEND));
    let mut context = ChartBuilder::on(&area)
        .caption(&chart.title, (FONT, 18).into_font())
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(76)
        .build_cartesian_2d(left..right.max(left + 1e-9), 0.0..top * 1.05)?;
    context
        .configure_mesh()
        .x_desc(&chart.x)
        .y_desc(&chart.y)
        .light_line_style(WHITE)
        .x_label_formatter(&|value| label(*value, &chart.names))
        .y_label_formatter(&|value| short(*value))
        .label_style((FONT, 13).into_font())
        .draw()?;
    for (line, colour) in chart.lines.iter().zip(COLOURS.iter().cycle()) {
        draw_line(&mut context, line, *colour)?;
    }
    draw_legend(&legend, &chart.lines)
}

/// What stands at a place of an axis.
fn label(value: f64, names: &[String]) -> String {
    if names.is_empty() {
        return short(value);
    }
    let is_place = (value - value.round()).abs() < 1e-6 && value > -0.5;
    let name = is_place
        .then(|| names.get(value.round() as usize))
        .flatten();
    name.cloned().unwrap_or_default()
}

/// A number without what it does not need.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    trimmed.to_owned()
}

fn draw_legend<B: DrawingBackend>(area: &Area<B>, lines: &[Line]) -> Outcome<B> {
    use plotters::style::Color;
    let mut y = 40;
    for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        area.draw(&PathElement::new(
            vec![(4, y), (24, y)],
            colour.stroke_width(2),
        ))?;
        area.draw(&Text::new(
            line.label.as_str(),
            (30, y - 7),
            (FONT, 13).into_font().color(&BLACK),
        ))?;
        y += 18;
    }
    Ok(())
}

type Context<'a, B> = plotters::prelude::ChartContext<
    'a,
    B,
    plotters::prelude::Cartesian2d<
        plotters::coord::types::RangedCoordf64,
        plotters::coord::types::RangedCoordf64,
    >,
>;

fn draw_line<B: DrawingBackend>(
    context: &mut Context<'_, B>,
    line: &Line,
    colour: RGBColor,
) -> Outcome<B> {
    use plotters::style::Color;
    let size = if line.marks { 3 } else { 0 };
    let points = line.points.iter().copied();
    context.draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(size))?;
    Ok(())
}
