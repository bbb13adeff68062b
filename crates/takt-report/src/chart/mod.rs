//! Charts: lines over two axes, each line with its label at its end.
//!
//! A [`Figure`] is laid out as a list of shapes (`scene.rs`). `svg.rs` writes them as SVG, and `pixels.rs` draws them as pixels.

mod axis;
mod font;
mod labels;
mod layout;
mod paint;
mod pixels;
mod scene;
mod svg;

pub use axis::{Axis, Scale};

pub(crate) use paint::Palette;

/// A line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Label at the end of the line. Lines with the same label look the same in all charts of a figure.
    pub label: String,
    /// Points in ascending order of x.
    pub points: Vec<(f64, f64)>,
    /// True if each point has a mark.
    pub marks: bool,
}

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Lines.
    pub lines: Vec<Line>,
    /// True if the lines are in the order of a quantity. Then their colours are in order as well.
    pub ordered: bool,
    /// True if lines have labels. A chart without labels is beside one with the same lines.
    pub labelled: bool,
}

/// Charts side by side and below each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Charts, row by row.
    pub charts: Vec<Chart>,
    /// Number of charts side by side.
    pub columns: usize,
}

impl Figure {
    /// Returns the figure as SVG.
    pub(crate) fn svg(&self, palette: Palette) -> String {
        svg::text(&layout::scene(self), palette)
    }

    /// Returns the figure as pixels.
    pub(crate) fn pixels(&self, palette: Palette) -> pixels::Pixels {
        pixels::draw(&layout::scene(self), palette)
    }
}
