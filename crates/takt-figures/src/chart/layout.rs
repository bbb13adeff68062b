//! Layout of a figure.

use super::figure::{Chart, Figure};
use super::font;
use super::key;
use super::look::Looks;
use super::paint::Paint;
use super::plot::{Plot, TEXT_SIZE, draw_axes, widest};
use super::scene::{Anchor, Scene, Shape};
use super::series;

/// Space above the series, for the title and the name of the vertical axis.
const TOP: f64 = 62.0;
/// Space below the series, for the horizontal axis.
const BOTTOM: f64 = 54.0;
/// Widest labels, as a share of the chart.
const LABELS: f64 = 0.4;

const TITLE_SIZE: f64 = 15.0;
/// Factor of the width of a title, which a browser draws bold.
const BOLDER: f64 = 1.25;
/// Height of a line of a title.
const TITLE: f64 = 19.0;

/// Room for a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Room {
    /// Page or screen: charts side by side, labels at the right of the series.
    #[default]
    Page,
    /// Telephone: charts below each other, labels above the series.
    Phone,
}

impl Room {
    /// Returns the width of a chart.
    const fn width(self) -> f64 {
        match self {
            Self::Page => 760.0,
            Self::Phone => 360.0,
        }
    }

    /// Returns the least height of a chart without labels above.
    const fn height(self) -> f64 {
        match self {
            Self::Page => 400.0,
            Self::Phone => 320.0,
        }
    }

    /// Returns the space at the sides of a chart.
    const fn margin(self) -> f64 {
        match self {
            Self::Page => 20.0,
            Self::Phone => 6.0,
        }
    }
}

/// Returns the drawing of all charts of a figure.
pub(super) fn scene(figure: &Figure, room: Room) -> Scene {
    let columns = match room {
        // A figure without charts would give `clamp` an upper end below the lower one, and it would panic.
        Room::Page => figure.columns.clamp(1, figure.charts.len().max(1)),
        Room::Phone => 1,
    };
    let mut scene = Scene {
        width: room.width() * columns as f64,
        ..Scene::default()
    };
    let looks = Looks::of(figure);
    for row in figure.charts.chunks(columns) {
        let heights = row.iter().map(|chart| height(chart, room));
        let height = heights.fold(room.height(), f64::max);
        for (column, chart) in row.iter().enumerate() {
            let place = Place {
                left: room.width() * column as f64,
                top: scene.height,
                height,
                room,
            };
            draw(&mut scene, chart, place, &looks);
        }
        scene.height += height;
    }
    scene.height = scene.height.max(room.height());
    scene
}

/// Returns the height that a chart needs.
fn height(chart: &Chart, room: Room) -> f64 {
    let lines = title(chart, room).len() as f64 - 1.0;
    match room {
        Room::Page => TOP + BOTTOM + TITLE * lines + key::LABEL * chart.series.len() as f64,
        Room::Phone => room.height() + TITLE * lines + key_height(chart, room),
    }
}

/// Returns the height of the labels above the series.
fn key_height(chart: &Chart, room: Room) -> f64 {
    match room {
        Room::Phone if chart.labelled => key::height(chart, inner(room)) + 6.0,
        _ => 0.0,
    }
}

/// Returns the width between the margins.
fn inner(room: Room) -> f64 {
    room.width() - 2.0 * room.margin()
}

/// Returns the lines of the title.
fn title(chart: &Chart, room: Room) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in chart.title.split(' ') {
        let line = lines.last().map_or("", String::as_str);
        let longer = match line {
            "" => word.to_owned(),
            line => format!("{line} {word}"),
        };
        let fits = font::width(&longer, TITLE_SIZE) * BOLDER <= inner(room);
        match lines.last_mut() {
            Some(line) if fits || line.is_empty() => *line = longer,
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Place of a chart in its figure.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    top: f64,
    height: f64,
    room: Room,
}

fn draw(scene: &mut Scene, chart: &Chart, place: Place, looks: &Looks<'_>) {
    let room = place.room;
    let places: Vec<f64> = chart.series.iter().flat_map(|it| it.places()).collect();
    let mut heights: Vec<f64> = chart.series.iter().flat_map(|it| it.heights()).collect();
    let has_bars = chart.series.iter().any(|it| it.is_bars());
    if has_bars && !chart.y.is_logarithmic() {
        // Bars begin at 0, so the axis has to show it. A logarithmic one cannot.
        heights.push(0.0);
    }
    let ticks = match room {
        Room::Page => 7,
        Room::Phone => 4,
    };
    let x = chart.x.resolve(&places, ticks, true);
    let y = chart.y.resolve(&heights, 5, false);
    let labels = chart.series.iter().map(|series| series.label.as_str());
    let of_labels = match room {
        Room::Page if chart.labelled => widest(labels) + 26.0,
        _ => 0.0,
    };
    let of_ticks = widest(y.ticks().map(|tick| tick.1));
    let (left, margin) = (place.left + room.margin(), room.margin());
    let lines = title(chart, room);
    let above = TITLE * (lines.len() as f64 - 1.0);
    let of_key = key_height(chart, room);
    let plot = Plot {
        left: left + of_ticks + 10.0,
        right: place.left + room.width() - margin - of_labels.min(LABELS * room.width()),
        top: place.top + TOP + above + of_key,
        bottom: place.top + place.height - BOTTOM,
        x,
        y,
    };
    let mut y = place.top + 27.0;
    for line in lines {
        scene.shapes.push(Shape::Text {
            at: (left, y),
            anchor: Anchor::Start,
            size: TITLE_SIZE,
            bold: true,
            paint: Paint::Text,
            text: line,
        });
        y += TITLE;
    }
    if of_key > 0.0 {
        key::draw_above(scene, chart, looks, (left, y), inner(room));
    }
    let name = (left, y - 2.0 + of_key);
    scene.text(name, Anchor::Start, TEXT_SIZE, Paint::Muted, chart.y.name());
    draw_axes(scene, chart, &plot);
    for it in &chart.series {
        series::draw(scene, it, &looks.look(chart, it), &plot);
    }
    if chart.labelled && room == Room::Page {
        key::draw_beside(scene, chart, looks, &plot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, ChartSeries};

    fn chart(labels: &[String]) -> Chart {
        let mut chart = Chart::new("A title with several words", Axis::new(""), Axis::new(""));
        let lines = labels.iter().enumerate();
        let line = |(index, label): (usize, &String)| {
            ChartSeries::line(label, vec![(1.0, index as f64), (2.0, index as f64 * 2.0)])
        };
        chart.series = lines.map(line).collect();
        chart
    }

    fn names(count: usize) -> Vec<String> {
        (0..count)
            .map(|number| format!("subject {number}"))
            .collect()
    }

    #[test]
    fn labels_do_not_cover_each_other_and_stay_inside() {
        for count in [1, 7, 30] {
            let scene = scene(&Figure::of(chart(&names(count))), Room::Page);
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

    #[test]
    fn a_phone_has_the_labels_above_and_all_texts_inside() {
        let mut long = chart(&names(5));
        long.title =
            "A title that is too long for one line of a telephone, but not for two".to_owned();
        let figure = Figure {
            charts: vec![long, chart(&names(2))],
            columns: 2,
        };
        let scene = scene(&figure, Room::Phone);
        assert_eq!(scene.width, 360.0);
        let mut places: Vec<(f64, f64)> = Vec::new();
        for shape in &scene.shapes {
            if let Shape::Text {
                at,
                text,
                anchor: Anchor::Start,
                size,
                ..
            } = shape
            {
                assert!(at.0 + font::width(text, *size) <= scene.width, "{text}");
                let is_new = places
                    .iter()
                    .all(|it| (it.0 - at.0).abs() > 8.0 || (it.1 - at.1).abs() > 8.0);
                assert!(is_new, "{text}: {places:?}");
                places.push(*at);
            }
        }
        assert_eq!(scene.height, 2.0 * 320.0 + TITLE + 22.0 + 38.0);
    }
}
