//! Pictures of bounds: without sweeps the arrival and service curves at each hop, with sweeps the bounds over their values.

use plotters::prelude::{
    BLACK, ChartBuilder, DrawingBackend, IntoFont, LineSeries, PathElement, RGBColor, Text, WHITE,
};
use takt_bench::picture::{Area, COLOURS, Drawing, FONT, Outcome, Picture};
use takt_calculus::{Curve, Extended, QueueBound, Rational};
use takt_scenario::{Rate, Share, SignedDuration, Size};

use super::Row;
use crate::explain;

/// Width of a chart, in pixels.
const WIDTH: u32 = 760;
/// Width of its legend, in pixels.
const LEGEND: u32 = 190;
/// Height of a chart, in pixels.
const HEIGHT: u32 = 460;
/// So many steps of arrivals are shown at least.
const STEPS: usize = 2;
/// Steps are looked for until then, in seconds.
const LONGEST: u32 = 1;
/// Of a longer path, the first hops are drawn.
const HOPS: usize = 8;

/// Draws what the rows have.
pub(super) fn draw(picture: &Picture, rows: &[Row]) -> miette::Result<()> {
    let charts = match rows {
        [row] => over_hops(row),
        rows => over_sweeps(rows),
    };
    picture.draw(&Charts { charts }).map_err(|error| {
        explain::with_help(
            error,
            "Is there such a directory, and may it be written to?",
        )
    })
}

/// A line, and whether its points are marked.
struct Line {
    label: String,
    points: Vec<(f64, f64)>,
    marks: bool,
}

struct Chart {
    title: String,
    x: String,
    /// What stands at 0, 1, 2 and so on instead of the number.
    names: Vec<String>,
    y: String,
    lines: Vec<Line>,
}

struct Charts {
    charts: Vec<Chart>,
}

/// A rational number, near enough for a picture.
fn near(number: &Rational) -> f64 {
    number.to_f64().value()
}

/// Arrival and service curves at the hops of the first flow.
fn over_hops(row: &Row) -> Vec<Chart> {
    let queues = row
        .bounds
        .flows
        .first()
        .map(|flow| flow.queues.clone())
        .unwrap_or_default();
    let queues = queues
        .iter()
        .filter_map(|queue| row.bounds.queues.get(*queue))
        .take(HOPS);
    queues
        .zip(1..)
        .map(|(queue, hop)| hop_chart(queue, hop))
        .collect()
}

fn hop_chart(queue: &QueueBound, hop: usize) -> Chart {
    let end = last_shown(queue);
    // Not so high that a fast link leaves the arrivals at the bottom.
    let highest = queue.arrival.corners(&end).pop();
    let served = highest
        .filter(|(_, bits)| !bits.is_zero())
        .and_then(|(_, bits)| {
            let top = Extended::Finite(bits * Rational::from(2));
            queue.service.first_at_least(&top)
        });
    let line = |label: &str, curve: &Curve, end: &Rational| Line {
        label: label.to_owned(),
        points: points(curve, end),
        marks: false,
    };
    let bound = micros(&queue.delay).map_or_else(
        || "infinite".to_owned(),
        |micros| format!("{micros:.1} \u{b5}s"),
    );
    Chart {
        title: format!(
            "Hop {hop}: {}, delay {bound}",
            queue.port_name.replace('\u{2192}', "to")
        ),
        x: "\u{b5}s".to_owned(),
        names: Vec::new(),
        y: "bit".to_owned(),
        lines: vec![
            line("arrivals", &queue.arrival, &end),
            line(
                "service",
                &queue.service,
                served.as_ref().unwrap_or(&end).min(&end),
            ),
        ],
    }
}

/// The end of a chart: the burst is served, the delay is over, and steps are seen, if arrivals have some.
fn last_shown(queue: &QueueBound) -> Rational {
    let corners = queue.arrival.corners(&Rational::from(LONGEST));
    let burst = corners.iter().take_while(|(time, _)| time.is_zero()).last();
    let served = burst
        .zip(queue.service.long_term_rate())
        .filter(|(_, rate)| !rate.is_zero())
        .map(|((_, burst), rate)| burst / rate);
    let over = queue.delay.finite().max(served.as_ref());
    let over = over.map_or(Rational::ZERO, |over| {
        over * Rational::from_parts(3.into(), 2u32.into())
    });
    let steps = corners.windows(2).filter(|pair| {
        let [(before, low), (time, high)] = pair else {
            return false;
        };
        before == time && low < high && !time.is_zero()
    });
    let steps = steps.take(STEPS).last();
    let steps = steps.map_or(Rational::ZERO, |pair| {
        &pair[0].0 * Rational::from_parts(5.into(), 4u32.into())
    });
    let little = Rational::from_parts(1.into(), 1_000_000u32.into());
    over.max(steps).max(little)
}

/// The corners of a curve, so that steps are drawn as such.
fn points(curve: &Curve, end: &Rational) -> Vec<(f64, f64)> {
    let corners = curve.corners(end);
    let points = corners
        .iter()
        .map(|(time, value)| (near(time) * 1e6, near(value)));
    points.collect()
}

fn micros(delay: &Extended) -> Option<f64> {
    delay.finite().map(|delay| near(delay) * 1e6)
}

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

/// The first flow's bound over each sweep whose values are numbers, a line for each combination of the others; over the names of the first
/// sweep's values if there is none.
fn over_sweeps(rows: &[Row]) -> Vec<Chart> {
    let sweeps = rows.first().map_or(0, |row| row.settings.len());
    let mut axes: Vec<Axis> = (0..sweeps)
        .filter_map(|sweep| Axis::numeric(rows, sweep))
        .collect();
    if axes.is_empty() && sweeps > 0 {
        axes.push(Axis::of_names(rows, 0));
    }
    let flow = rows.first().and_then(|row| row.bounds.flows.first());
    let flow = flow.map_or("", |flow| flow.name.as_str());
    let chart = |axis: Axis| {
        let mut lines: Vec<Line> = Vec::new();
        for (row, place) in rows.iter().zip(&axis.places) {
            let others = row
                .settings
                .iter()
                .enumerate()
                .filter(|(sweep, _)| *sweep != axis.sweep);
            let label: Vec<String> = others
                .map(|(_, (parameter, value))| {
                    format!(
                        "{} {value}",
                        parameter.rsplit('.').next().unwrap_or(parameter)
                    )
                })
                .collect();
            let label = match label.as_slice() {
                [] => flow.to_owned(),
                label => label.join(", "),
            };
            let delay = row
                .bounds
                .flows
                .first()
                .and_then(|flow| micros(&flow.delay));
            let point = delay.map(|delay| (*place, delay));
            match lines.iter_mut().find(|line| line.label == label) {
                Some(line) => line.points.extend(point),
                None => lines.push(Line {
                    label,
                    points: point.into_iter().collect(),
                    marks: true,
                }),
            }
        }
        let parameter = rows
            .first()
            .map_or("", |row| row.settings[axis.sweep].0.as_str());
        let is_infinite = |row: &Row| {
            row.bounds
                .flows
                .first()
                .is_some_and(|flow| flow.delay == Extended::Infinity)
        };
        let infinite = match rows.iter().any(is_infinite) {
            true => "; infinite where a line has no point",
            false => "",
        };
        Chart {
            title: format!(
                "Bounds over {}{infinite}",
                parameter.rsplit('.').next().unwrap_or(parameter)
            ),
            x: match axis.unit {
                "" => parameter.to_owned(),
                unit => format!("{parameter} in {unit}"),
            },
            names: axis.names,
            y: "\u{b5}s".to_owned(),
            lines,
        }
    };
    axes.into_iter().map(chart).collect()
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
