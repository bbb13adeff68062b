//! Rectangle of a chart in which its series are drawn, with its axes.

use super::axis::Resolved;
use super::figure::Chart;
use super::font;
use super::paint::Paint;
use super::scene::{Anchor, Point, Scene};

/// Size of texts besides titles.
pub(super) const TEXT_SIZE: f64 = 12.0;
/// Factor of the width of letters, because a browser's font may be wider than ours.
pub(super) const WIDER: f64 = 1.1;

/// Rectangle of the series, and its axes.
pub(super) struct Plot {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: Resolved,
    pub(super) y: Resolved,
}

impl Plot {
    fn x(&self, place: f64) -> f64 {
        self.left + (self.right - self.left) * place
    }

    fn y(&self, place: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * place
    }

    /// Returns the place of a value of the data.
    pub(super) fn point(&self, (x, y): (f64, f64)) -> Point {
        (self.x(self.x.place(x)), self.y(self.y.place(y)))
    }
}

/// Returns the width of the widest text.
pub(super) fn widest<'t>(texts: impl Iterator<Item = &'t str>) -> f64 {
    let widths = texts.map(|text| font::width(text, TEXT_SIZE) * WIDER);
    widths.fold(0.0, f64::max)
}

/// Draws the axes with ticks, labels and names.
pub(super) fn draw_axes(scene: &mut Scene, chart: &Chart, plot: &Plot) {
    for (place, label) in plot.y.ticks() {
        let y = plot.y(place);
        scene.line(vec![(plot.left, y), (plot.right, y)], 1.0, Paint::Grid);
        let beside = (plot.left - 8.0, y);
        scene.text(beside, Anchor::End, TEXT_SIZE, Paint::Muted, label);
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
    let name = chart.x.name();
    scene.text(middle, Anchor::Middle, TEXT_SIZE, Paint::Muted, name);
    if let Some(remark) = plot.y.remark() {
        let below = (plot.left, plot.bottom + 51.0);
        scene.text(below, Anchor::Start, TEXT_SIZE, Paint::Muted, remark);
    }
}
