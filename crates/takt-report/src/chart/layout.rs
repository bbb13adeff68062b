//! Layout of a figure.

use super::axis::Resolved;
use super::figure::{Chart, Figure, Line};
use super::font;
use super::labels::spread;
use super::paint::{COLOURS, DASHES, Paint, STEPS};
use super::scene::{Anchor, Point, Scene, Shape};

/// Width of a chart.
const WIDTH: f64 = 760.0;
/// Least height of a chart.
const HEIGHT: f64 = 400.0;
/// Space above the lines, for the title and the name of the vertical axis.
const TOP: f64 = 62.0;
/// Space below the lines, for the horizontal axis.
const BOTTOM: f64 = 54.0;
/// Space between charts.
const MARGIN: f64 = 20.0;
/// Widest labels, as a share of the chart.
const LABELS: f64 = 0.4;
/// Height of a label.
const LABEL: f64 = 16.0;

const TITLE_SIZE: f64 = 15.0;
const TEXT_SIZE: f64 = 12.0;
/// Factor of the width of letters, because a browser's font may be wider than ours.
const WIDER: f64 = 1.1;

/// Returns the drawing of all charts of a figure.
pub(super) fn scene(figure: &Figure) -> Scene {
    let columns = figure.columns.clamp(1, figure.charts.len().max(1));
    let mut scene = Scene {
        width: WIDTH * columns as f64,
        ..Scene::default()
    };
    let labels = labels_of(figure);
    for row in figure.charts.chunks(columns) {
        let lines = row.iter().map(|chart| chart.lines.len()).max();
        let height = (TOP + BOTTOM + LABEL * lines.unwrap_or(0) as f64).max(HEIGHT);
        for (column, chart) in row.iter().enumerate() {
            let place = Place {
                left: WIDTH * column as f64,
                top: scene.height,
                height,
            };
            draw(&mut scene, chart, place, &labels);
        }
        scene.height += height;
    }
    scene.height = scene.height.max(HEIGHT);
    scene
}

/// Returns the labels of a figure. The number of a label determines the look of its lines.
fn labels_of(figure: &Figure) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for line in figure.charts.iter().flat_map(|chart| &chart.lines) {
        if !labels.contains(&line.label.as_str()) {
            labels.push(&line.label);
        }
    }
    labels
}

/// Place of a chart in its figure.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    top: f64,
    height: f64,
}

/// Look of a line.
struct Look {
    paint: Paint,
    dashes: Vec<f64>,
    width: f64,
}

fn look(chart: &Chart, index: usize, labels: &[&str]) -> Look {
    const WIDTH: f64 = 2.0;
    if chart.ordered {
        let last = chart.lines.len().saturating_sub(1).max(1);
        return Look {
            paint: Paint::Ordered(index * STEPS / last),
            dashes: Vec::new(),
            width: WIDTH,
        };
    }
    let label = chart.lines.get(index).map(|line| line.label.as_str());
    let number = labels.iter().position(|known| Some(*known) == label);
    let number = number.unwrap_or(index);
    let dashes = DASHES.iter().cycle().nth(number / COLOURS);
    let dashes = dashes.into_iter().flat_map(|dashes| dashes.iter());
    Look {
        paint: Paint::Distinct(number % COLOURS),
        dashes: dashes.map(|length| length * WIDTH).collect(),
        width: WIDTH,
    }
}

/// Rectangle of the lines, and its axes.
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Resolved,
    y: Resolved,
}

impl Plot {
    fn x(&self, place: f64) -> f64 {
        self.left + (self.right - self.left) * place
    }

    fn y(&self, place: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * place
    }

    fn point(&self, (x, y): Point) -> Point {
        (self.x(self.x.place(x)), self.y(self.y.place(y)))
    }
}

fn draw(scene: &mut Scene, chart: &Chart, place: Place, labels: &[&str]) {
    let values = |which: fn(&Point) -> f64| -> Vec<f64> {
        let points = chart.lines.iter().flat_map(|line| &line.points);
        points.map(which).collect()
    };
    let x = chart.x.resolve(&values(|point| point.0), 7, true);
    let y = chart.y.resolve(&values(|point| point.1), 5, false);
    let widest = |texts: &mut dyn Iterator<Item = &str>| {
        texts
            .map(|text| font::width(text, TEXT_SIZE) * WIDER)
            .fold(0.0, f64::max)
    };
    let of_labels = match chart.labelled {
        true => widest(&mut chart.lines.iter().map(|line| line.label.as_str())) + 26.0,
        false => 0.0,
    };
    let of_ticks = widest(&mut y.ticks().map(|tick| tick.1));
    let plot = Plot {
        left: place.left + MARGIN + of_ticks + 10.0,
        right: place.left + WIDTH - MARGIN - of_labels.min(LABELS * WIDTH),
        top: place.top + TOP,
        bottom: place.top + place.height - BOTTOM,
        x,
        y,
    };
    let left = place.left + MARGIN;
    scene.shapes.push(Shape::Text {
        at: (left, place.top + 27.0),
        anchor: Anchor::Start,
        size: TITLE_SIZE,
        bold: true,
        paint: Paint::Text,
        text: chart.title.clone(),
    });
    let name = (left, place.top + 44.0);
    scene.text(name, Anchor::Start, TEXT_SIZE, Paint::Muted, chart.y.name());
    draw_axes(scene, chart, &plot);
    for (index, line) in chart.lines.iter().enumerate() {
        draw_line(scene, line, &look(chart, index, labels), &plot);
    }
    if chart.labelled {
        draw_labels(scene, chart, labels, &plot);
    }
}

fn draw_axes(scene: &mut Scene, chart: &Chart, plot: &Plot) {
    for (place, label) in plot.y.ticks() {
        let y = plot.y(place);
        scene.line(vec![(plot.left, y), (plot.right, y)], 1.0, Paint::Grid);
        scene.text(
            (plot.left - 8.0, y),
            Anchor::End,
            TEXT_SIZE,
            Paint::Muted,
            label,
        );
    }
    let axis = vec![(plot.left, plot.bottom), (plot.right, plot.bottom)];
    scene.line(axis, 1.0, Paint::Axis);
    let mut end = f64::MIN;
    for (place, label) in plot.x.ticks() {
        let x = plot.x(place);
        let tick = vec![(x, plot.bottom), (x, plot.bottom + 5.0)];
        scene.line(tick, 1.0, Paint::Axis);
        let half = font::width(label, TEXT_SIZE) * WIDER / 2.0;
        // A label that would cover the previous one is left out.
        if x - half < end + 4.0 {
            continue;
        }
        let below = (x, plot.bottom + 15.0);
        scene.text(below, Anchor::Middle, TEXT_SIZE, Paint::Muted, label);
        end = x + half;
    }
    let middle = (f64::midpoint(plot.left, plot.right), plot.bottom + 36.0);
    scene.text(
        middle,
        Anchor::Middle,
        TEXT_SIZE,
        Paint::Muted,
        chart.x.name(),
    );
}

fn draw_line(scene: &mut Scene, line: &Line, look: &Look, plot: &Plot) {
    let points: Vec<Point> = line.points.iter().map(|point| plot.point(*point)).collect();
    if line.marks {
        scene.shapes.extend(points.iter().map(|point| Shape::Dot {
            centre: *point,
            radius: 3.0,
            paint: look.paint,
        }));
    }
    if points.len() > 1 {
        scene.shapes.push(Shape::Line {
            points,
            width: look.width,
            dashes: look.dashes.clone(),
            paint: look.paint,
        });
    }
}

/// Draws labels at the right, in the order of the ends of the lines. Lines without points have theirs at the bottom.
fn draw_labels(scene: &mut Scene, chart: &Chart, labels: &[&str], plot: &Plot) {
    let lines = chart.lines.iter().enumerate();
    let mut ends: Vec<(usize, &Line, Option<Point>)> = lines
        .map(|(index, line)| {
            let end = line.points.last().map(|point| plot.point(*point));
            (index, line, end)
        })
        .collect();
    let height = |end: &Option<Point>| end.map_or(plot.bottom, |end| end.1);
    ends.sort_by(|(_, _, one), (_, _, other)| height(one).total_cmp(&height(other)));
    let wanted: Vec<f64> = ends.iter().map(|(_, _, end)| height(end)).collect();
    let places = spread(&wanted, LABEL, plot.top, plot.bottom);
    for ((index, line, end), y) in ends.iter().zip(places) {
        let x = plot.right + 22.0;
        if let Some(end) = end {
            let leader = vec![
                (end.0 + 5.0, end.1),
                (plot.right + 8.0, end.1),
                (x - 4.0, y),
            ];
            scene.line(leader, 1.2, look(chart, *index, labels).paint);
        }
        let paint = if end.is_some() {
            Paint::Text
        } else {
            Paint::Muted
        };
        scene.text((x, y), Anchor::Start, TEXT_SIZE, paint, &line.label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Axis;

    fn chart(labels: &[String]) -> Chart {
        let lines = labels.iter().enumerate();
        let line = |(index, label): (usize, &String)| Line {
            label: label.clone(),
            points: vec![(1.0, index as f64), (2.0, index as f64 * 2.0)],
            marks: false,
        };
        Chart {
            title: String::new(),
            x: Axis::new(""),
            y: Axis::new(""),
            lines: lines.map(line).collect(),
            ordered: false,
            labelled: true,
        }
    }

    fn names(count: usize) -> Vec<String> {
        (0..count)
            .map(|number| format!("subject {number}"))
            .collect()
    }

    #[test]
    fn each_label_has_one_distinct_style() {
        let all = chart(&names(20));
        let one = chart(&names(4)[3..]);
        let figure = Figure {
            charts: vec![all, one],
            columns: 1,
        };
        let labels = labels_of(&figure);
        let looks = |chart: &Chart| -> Vec<(Paint, Vec<f64>)> {
            let looks = (0..chart.lines.len()).map(|index| look(chart, index, &labels));
            looks.map(|look| (look.paint, look.dashes)).collect()
        };
        let (all, one) = (looks(&figure.charts[0]), looks(&figure.charts[1]));
        assert_eq!(all[3], one[0]);
        for (index, look) in all.iter().enumerate() {
            assert!(!all[..index].contains(look), "{index}");
        }
    }

    #[test]
    fn labels_do_not_cover_each_other_and_stay_inside() {
        for count in [1, 7, 30] {
            let figure = Figure {
                charts: vec![chart(&names(count))],
                columns: 1,
            };
            let scene = scene(&figure);
            let mut heights: Vec<f64> = Vec::new();
            for shape in &scene.shapes {
                if let Shape::Text { at, text, .. } = shape
                    && text.starts_with("subject")
                {
                    assert!(at.0 + font::width(text, TEXT_SIZE) < scene.width);
                    assert!(at.1 < scene.height);
                    heights.push(at.1);
                }
            }
            assert_eq!(heights.len(), count);
            heights.sort_by(f64::total_cmp);
            for pair in heights.windows(2) {
                assert!(pair[1] - pair[0] >= TEXT_SIZE, "{heights:?}");
            }
        }
    }
}
