//! Labels of series: at the right of a chart, or as rows below its title.

use super::figure::{Chart, ChartSeries, SeriesShape};
use super::font;
use super::labels::spread;
use super::look::Looks;
use super::paint::Paint;
use super::plot::{Plot, TEXT_SIZE, WIDER};
use super::scene::{Anchor, Point, Scene};
use super::series::draw_sign;

/// Height of a label.
pub(super) const LABEL: f64 = 16.0;
/// Width of a sign and of the blanks around it.
const SIGN: f64 = 28.0;

/// Draws labels at the right, in the order of the heights of the series. Series without points have theirs at the bottom.
pub(super) fn draw_beside(scene: &mut Scene, chart: &Chart, looks: &Looks<'_>, plot: &Plot) {
    let mut ends: Vec<(&ChartSeries, Option<Point>)> = chart
        .series
        .iter()
        .map(|series| (series, series.end().map(|end| plot.point(end))))
        .collect();
    let height = |end: &Option<Point>| end.map_or(plot.bottom, |end| end.1);
    ends.sort_by(|(_, one), (_, other)| height(one).total_cmp(&height(other)));
    let wanted: Vec<f64> = ends.iter().map(|(_, end)| height(end)).collect();
    let places = spread(&wanted, LABEL, plot.top, plot.bottom);
    for ((series, end), y) in ends.iter().zip(places) {
        let x = plot.right + 22.0;
        let look = looks.look(chart, series);
        if let Some(end) = end {
            match &series.shape {
                SeriesShape::Line { .. } => {
                    let leader = vec![
                        (end.0 + 5.0, end.1),
                        (plot.right + 8.0, end.1),
                        (x - 4.0, y),
                    ];
                    scene.line(leader, 1.2, look.paint);
                }
                _ => draw_sign(scene, series, &look, (plot.right + 4.0, y), (x - 4.0, y)),
            }
        }
        let paint = if end.is_some() {
            Paint::Text
        } else {
            Paint::Muted
        };
        scene.text((x, y), Anchor::Start, TEXT_SIZE, paint, &series.label);
    }
}

/// Returns the rows of a key: as many labels as have room in each.
fn rows(chart: &Chart, width: f64) -> Vec<Vec<(&ChartSeries, f64)>> {
    let mut rows: Vec<Vec<(&ChartSeries, f64)>> = Vec::new();
    // No label fits behind this, so the first one begins a row.
    let mut end = f64::MAX;
    for series in &chart.series {
        let needed = SIGN + font::width(&series.label, TEXT_SIZE) * WIDER + 10.0;
        if end + needed > width {
            rows.push(Vec::new());
            end = 0.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((series, end));
        }
        end += needed;
    }
    rows
}

/// Returns the height of a key of this width.
pub(super) fn height(chart: &Chart, width: f64) -> f64 {
    rows(chart, width).len() as f64 * LABEL
}

/// Draws a key whose first row has its middle at this point.
pub(super) fn draw_above(
    scene: &mut Scene,
    chart: &Chart,
    looks: &Looks<'_>,
    (left, top): Point,
    width: f64,
) {
    for (number, row) in rows(chart, width).into_iter().enumerate() {
        let y = top + number as f64 * LABEL;
        for (series, place) in row {
            let x = left + place;
            let look = looks.look(chart, series);
            draw_sign(scene, series, &look, (x, y), (x + 18.0, y));
            let at = (x + 24.0, y);
            scene.text(at, Anchor::Start, TEXT_SIZE, Paint::Text, &series.label);
        }
    }
}
