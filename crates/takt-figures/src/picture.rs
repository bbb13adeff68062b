//! PNG and SVG files of figures.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use crate::chart::{Figure, Palette};

/// A picture that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw {}: {reason}", path.display())]
pub struct PictureError {
    /// Path of the file.
    pub path: PathBuf,
    /// Error of the operating system.
    pub reason: String,
}

/// Colours of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Light colours. SVG files follow the theme of their viewer.
    #[default]
    Auto,
    /// Dark colours on light.
    Light,
    /// Light colours on dark.
    Dark,
}

impl std::str::FromStr for Theme {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "light" => Ok(Self::Light),
            "dark" => Ok(Self::Dark),
            _ => Err("possible values: auto, light, dark".to_owned()),
        }
    }
}

/// File for a drawing. Its name ends with `.png` or `.svg`.
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
            _ => return Err(format!("`{text}` must end with .png or .svg")),
        };
        Ok(Self { path, kind })
    }
}

impl Picture {
    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the files of a drawing with this name in a directory, one of each kind.
    #[must_use]
    pub fn of_each_kind(directory: &Path, name: &str) -> [Self; 2] {
        [("svg", Kind::Svg), ("png", Kind::Png)].map(|(extension, kind)| Self {
            path: directory.join(format!("{name}.{extension}")),
            kind,
        })
    }

    /// Draws a figure into the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn draw(&self, figure: &Figure, theme: Theme) -> Result<(), PictureError> {
        let palette = match theme {
            Theme::Auto => Palette::Adaptive,
            Theme::Light => Palette::Light,
            Theme::Dark => Palette::Dark,
        };
        let written = match self.kind {
            Kind::Svg => {
                std::fs::write(&self.path, figure.svg(palette)).map_err(|error| error.to_string())
            }
            Kind::Png => self
                .write_png(figure, palette)
                .map_err(|error| error.to_string()),
        };
        written.map_err(|reason| PictureError {
            path: self.path.clone(),
            reason,
        })
    }

    fn write_png(&self, figure: &Figure, palette: Palette) -> Result<(), png::EncodingError> {
        let file = BufWriter::new(File::create(&self.path)?);
        let pixels = figure.pixels(palette);
        let mut encoder = png::Encoder::new(file, pixels.width, pixels.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels.bytes)?;
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::chart::{Axis, Chart, ChartSeries};

    fn figure() -> Figure {
        let line = |number: i32| {
            let points = vec![(4.0, f64::from(number)), (4096.0, f64::from(number) * 2.0)];
            ChartSeries::marked(format!("subject {number}"), points)
        };
        let mut chart = Chart::new("Median", Axis::new("size"), Axis::new("µs"));
        chart.series = (1..4).map(line).collect();
        Figure::of(chart)
    }

    #[test]
    fn pictures_are_files_of_a_kind() {
        for (name, kind) in [("a.png", Kind::Png), ("a/b.SVG", Kind::Svg)] {
            assert_eq!(name.parse::<Picture>().unwrap().kind, kind);
        }
        assert!("a.pdf".parse::<Picture>().is_err());
        assert!("png".parse::<Picture>().is_err());
        assert_eq!("dark".parse(), Ok(Theme::Dark));
        assert!("blue".parse::<Theme>().is_err());
    }

    #[test]
    fn a_picture_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let draw = |name: &str, theme| {
            let path = folder.path().join(name);
            let picture: Picture = path.to_str().unwrap().parse().unwrap();
            picture.draw(&figure(), theme).unwrap();
            path
        };
        let svg = std::fs::read_to_string(draw("a.svg", Theme::Auto)).unwrap();
        for text in ["subject 3", "Median", "</svg>"] {
            assert!(svg.contains(text), "{text}");
        }
        for (theme, background) in [(Theme::Auto, 0xFF), (Theme::Dark, 0x0D)] {
            let file = File::open(draw("a.png", theme)).unwrap();
            let mut reader = png::Decoder::new(std::io::BufReader::new(file))
                .read_info()
                .unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            let of_background = pixels.iter().filter(|value| **value == background).count();
            // The background is a large part of the picture. Lines and text are the rest.
            assert!(of_background > pixels.len() / 4 && of_background < pixels.len() - 10_000);
        }
        let nowhere: Picture = "/nowhere/a.png".parse().unwrap();
        let error = nowhere.draw(&figure(), Theme::Auto).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("cannot draw /nowhere/a.png: ")
        );
    }
}
