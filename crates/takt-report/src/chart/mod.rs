//! Charts: lines over two axes, each line with its label at its end.
//!
//! A [`Figure`] is laid out as a list of shapes (`scene.rs`). `svg.rs` writes them as SVG, and `pixels.rs` draws them as pixels.

mod axis;
mod figure;
mod font;
mod labels;
mod layout;
mod paint;
mod pixels;
mod scene;
mod svg;

pub use axis::{Axis, Scale};
pub use figure::{Chart, Figure, Line};

pub(crate) use paint::Palette;

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
