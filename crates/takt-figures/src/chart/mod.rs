//! Charts: lines, box plots, bars, dots and bounds over two axes, each series with its label.
//!
//! A [`Figure`] is laid out as a list of shapes (`scene.rs`). `svg.rs` writes them as SVG, and `pixels.rs` draws them as pixels.

mod axis;
mod figure;
mod font;
mod key;
mod labels;
mod layout;
mod look;
mod paint;
mod pixels;
mod plot;
mod scene;
mod series;
mod svg;

pub use axis::{Axis, Scale};
pub use figure::{
    Bar, BoxPlot, Chart, ChartSeries, Figure, IntervalMark, Level, SeriesRole, SeriesShape,
};

pub(crate) use layout::Room;
pub(crate) use paint::Palette;
pub(crate) use svg::{escaped, page_style};

impl Figure {
    /// Returns the figure as an SVG document.
    pub(crate) fn svg(&self, palette: Palette) -> String {
        svg::document(&layout::scene(self, Room::Page), palette)
    }

    /// Returns the figure as an SVG element of a page that has the rules of [`page_style`].
    pub(crate) fn element(&self, room: Room, description: &str) -> String {
        svg::element_of_page(&layout::scene(self, room), description)
    }

    /// Returns the figure as pixels.
    pub(crate) fn pixels(&self, palette: Palette) -> pixels::Pixels {
        pixels::draw(&layout::scene(self, Room::Page), palette)
    }
}
