//! Where a picture is drawn: pixels for a PNG file, or an SVG file.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use plotters::prelude::{BitMapBackend, IntoDrawingArea, SVGBackend};
use plotters::style::{FontStyle, register_font};

use super::plot::{self, Curve};
use crate::error::BenchError;

/// Width, in pixels.
const WIDTH: u32 = 1500;
/// Height of each placement's charts, in pixels.
const HEIGHT: u32 = 520;

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

    /// Draws a row of charts for each placement.
    pub(super) fn draw(&self, placements: &[&str], curves: &[Curve]) -> Result<(), BenchError> {
        let failed = |reason: String| BenchError::Plot {
            path: self.path.clone(),
            reason,
        };
        let rows = u32::try_from(placements.len()).unwrap_or(1).max(1);
        let size = (WIDTH, HEIGHT * rows);
        // One font for both kinds. It is part of this program, and registering it again changes nothing.
        let _ = register_font(
            plot::FONT,
            FontStyle::Normal,
            epaint_default_fonts::UBUNTU_LIGHT,
        );
        match self.kind {
            Kind::Svg => {
                let area = SVGBackend::new(&self.path, size).into_drawing_area();
                plot::draw(&area, placements, curves).map_err(|error| failed(error.to_string()))
            }
            Kind::Png => {
                let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
                {
                    let backend = BitMapBackend::with_buffer(&mut pixels, size);
                    let area = backend.into_drawing_area();
                    plot::draw(&area, placements, curves)
                        .map_err(|error| failed(error.to_string()))?;
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

    #[test]
    fn what_is_drawn_can_be_read_again() {
        let curves: Vec<Curve> = (1..4)
            .map(|number| Curve {
                label: format!("subject {number}"),
                placement: "diff".to_owned(),
                medians: vec![(4.0, f64::from(number)), (4096.0, f64::from(number) * 2.0)],
                distribution: vec![(f64::from(number), 0.5), (f64::from(number) * 3.0, 1.0)],
            })
            .collect();
        let directory =
            std::env::temp_dir().join(format!("takt-bench-plot-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = |name: &str| directory.join(name).to_string_lossy().into_owned();
        let (svg, png) = (file("a.svg"), file("a.png"));
        for path in [&svg, &png] {
            path.parse::<Picture>()
                .unwrap()
                .draw(&["diff"], &curves)
                .unwrap();
        }
        let text = std::fs::read_to_string(&svg).unwrap();
        for said in ["subject 3", "different cores", "4096 B", "</svg>"] {
            assert!(text.contains(said), "{said}");
        }
        let decoder = png::Decoder::new(std::io::BufReader::new(File::open(&png).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (WIDTH, HEIGHT));
        // Lines and text, on white.
        let white = pixels.iter().filter(|&&value| value == 255).count();
        assert!(white > pixels.len() / 2 && white < pixels.len() - 10_000);
        std::fs::remove_dir_all(&directory).unwrap();
        let nowhere: Picture = "/nowhere/a.png".parse().unwrap();
        assert!(nowhere.draw(&["diff"], &curves).is_err());
    }
}
