//! Where a picture is drawn: pixels for a PNG file, or an SVG file.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoDrawingArea, RGBColor,
    SVGBackend,
};
use plotters::style::{FontStyle, register_font};

/// What the font is registered as.
pub const FONT: &str = "sans-serif";

/// Colours that are told apart on white, dark ones first.
pub const COLOURS: [RGBColor; 12] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(255, 127, 14),
    RGBColor(23, 190, 207),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
    RGBColor(127, 127, 127),
    RGBColor(188, 189, 34),
    RGBColor(0, 0, 0),
    RGBColor(0, 90, 50),
];

/// Where something is drawn.
pub type Area<B> = DrawingArea<B, Shift>;
/// Whether it could be.
pub type Outcome<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Something that can be drawn, whatever into.
pub trait Drawing {
    /// Width and height, in pixels.
    fn size(&self) -> (u32, u32);

    /// Draws it.
    ///
    /// # Errors
    /// The backend's.
    fn draw<B: DrawingBackend>(&self, area: &Area<B>) -> Outcome<B>;
}

/// A picture could not be drawn or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw {}: {reason}", path.display())]
pub struct PictureError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// A file to draw into, whose name says how: `.png` or `.svg`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Png,
    Svg,
}

impl std::str::FromStr for Picture {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let extension = path.extension().and_then(|extension| extension.to_str());
        let kind = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("png") => Kind::Png,
            Some("svg") => Kind::Svg,
            _ => return Err(format!("`{text}` should end with .png or .svg")),
        };
        Ok(Self { path, kind })
    }
}

impl Picture {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Draws into the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn draw(&self, drawing: &impl Drawing) -> Result<(), PictureError> {
        let failed = |reason: String| PictureError {
            path: self.path.clone(),
            reason,
        };
        let size = drawing.size();
        // One font for both kinds. It is part of this program, and registering it again changes nothing.
        let _ = register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
        match self.kind {
            Kind::Svg => {
                let area = SVGBackend::new(&self.path, size).into_drawing_area();
                let drawn = drawing.draw(&area);
                drawn.map_err(|error| failed(error.to_string()))
            }
            Kind::Png => {
                let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
                {
                    let backend = BitMapBackend::with_buffer(&mut pixels, size);
                    let area = backend.into_drawing_area();
                    let drawn = drawing.draw(&area);
                    drawn.map_err(|error| failed(error.to_string()))?;
                }
                write_png(&self.path, size, &pixels).map_err(|error| failed(error.to_string()))
            }
        }
    }
}

fn write_png(
    path: &Path,
    (width, height): (u32, u32),
    pixels: &[u8],
) -> Result<(), png::EncodingError> {
    let file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_files_of_a_kind() {
        for (name, kind) in [("a.png", Kind::Png), ("a/b.SVG", Kind::Svg)] {
            assert_eq!(name.parse::<Picture>().unwrap().kind, kind);
        }
        assert!("a.pdf".parse::<Picture>().is_err());
        assert!("png".parse::<Picture>().is_err());
    }
}
