//! Drawings as pixels.

use super::font;
use super::paint::{Colour, Paint, Palette};
use super::scene::{Anchor, Point, Scene, Shape};

/// Pixels for each unit of a drawing, so that pictures are sharp on screens with many pixels.
const SCALE: f64 = 2.0;

/// Pixels of a picture: red, green and blue, row by row.
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Draws a drawing.
pub(super) fn draw(scene: &Scene, palette: Palette) -> Pixels {
    let dark = palette == Palette::Dark;
    let (width, height) = (scene.width * SCALE, scene.height * SCALE);
    let (width, height) = (width.ceil() as u32, height.ceil() as u32);
    let background = Paint::Background.colour(dark);
    let mut pixels = Pixels {
        width,
        height,
        bytes: background.repeat(width as usize * height as usize),
    };
    for shape in &scene.shapes {
        pixels.shape(shape, dark);
    }
    pixels
}

impl Pixels {
    fn shape(&mut self, shape: &Shape, dark: bool) {
        match shape {
            Shape::Line {
                points,
                width,
                dashes,
                paint,
            } => {
                for part in dashed(points, dashes) {
                    for pair in part.windows(2) {
                        if let [from, to] = pair {
                            self.capsule(*from, *to, width / 2.0, paint.colour(dark));
                        }
                    }
                }
            }
            Shape::Area {
                points,
                opacity,
                paint,
            } => self.area(points, *opacity, paint.colour(dark)),
            Shape::Dot {
                centre,
                radius,
                paint,
            } => self.capsule(*centre, *centre, *radius, paint.colour(dark)),
            Shape::Text {
                at,
                anchor,
                size,
                bold,
                paint,
                text,
            } => {
                let width = font::width(text, *size);
                let start = match anchor {
                    Anchor::Start => at.0,
                    Anchor::Middle => at.0 - width / 2.0,
                    Anchor::End => at.0 - width,
                };
                let colour = paint.colour(dark);
                // The font has one weight. Drawing it twice, side by side, makes it bolder.
                let shifts: &[f64] = if *bold { &[0.0, 0.4] } else { &[0.0] };
                for shift in shifts {
                    let at = ((start + shift) * SCALE, at.1 * SCALE);
                    font::draw(text, at, size * SCALE, |x, y, coverage| {
                        self.blend(x, y, coverage, colour);
                    });
                }
            }
        }
    }

    /// Draws all points that are at most `radius` away from the line between two points.
    fn capsule(&mut self, from: Point, to: Point, radius: f64, colour: Colour) {
        let [from, to] = [from, to].map(|(x, y)| (x * SCALE, y * SCALE));
        let radius = radius * SCALE;
        // The edge fades out beyond the radius.
        let reach = radius + 1.0;
        let low = |a: f64, b: f64| (a.min(b) - reach).floor() as i64;
        let high = |a: f64, b: f64| (a.max(b) + reach).ceil() as i64;
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let squared = dx * dx + dy * dy;
        for y in low(from.1, to.1).max(0)..=high(from.1, to.1).min(i64::from(self.height)) {
            for x in low(from.0, to.0).max(0)..=high(from.0, to.0).min(i64::from(self.width)) {
                let centre = (x as f64 + 0.5 - from.0, y as f64 + 0.5 - from.1);
                let along = if squared > 0.0 {
                    ((centre.0 * dx + centre.1 * dy) / squared).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let away = (centre.0 - along * dx).hypot(centre.1 - along * dy);
                // The edge fades out over the width of a pixel. Otherwise slanted lines would have steps.
                self.blend(x, y, (radius + 0.5 - away).clamp(0.0, 1.0), colour);
            }
        }
    }

    /// Fills a convex polygon. Each pixel is sampled at 16 points.
    fn area(&mut self, points: &[Point], opacity: f64, colour: Colour) {
        const SAMPLES: [f64; 4] = [0.125, 0.375, 0.625, 0.875];
        let points: Vec<Point> = points.iter().map(|(x, y)| (x * SCALE, y * SCALE)).collect();
        let range = |which: fn(&Point) -> f64, size: u32| {
            let low = points.iter().map(which).fold(f64::MAX, f64::min).floor();
            let high = points.iter().map(which).fold(f64::MIN, f64::max).ceil();
            (low as i64).max(0)..=(high as i64).min(i64::from(size))
        };
        for y in range(|point| point.1, self.height) {
            for x in range(|point| point.0, self.width) {
                let samples = SAMPLES.iter().flat_map(|dx| SAMPLES.map(|dy| (*dx, dy)));
                let inside =
                    samples.filter(|(dx, dy)| is_inside(&points, (x as f64 + dx, y as f64 + dy)));
                let coverage = inside.count() as f64 / 16.0;
                self.blend(x, y, coverage * opacity, colour);
            }
        }
    }

    /// Mixes a colour into a pixel.
    fn blend(&mut self, x: i64, y: i64, coverage: f64, colour: Colour) {
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else {
            return;
        };
        if x >= self.width || y >= self.height || coverage <= 0.0 {
            return;
        }
        let at = (y as usize * self.width as usize + x as usize) * 3;
        let pixel = self.bytes.get_mut(at..at + 3).unwrap_or_default();
        for (channel, new) in pixel.iter_mut().zip(colour) {
            let mixed = f64::from(*channel) * (1.0 - coverage) + f64::from(new) * coverage;
            *channel = mixed.round() as u8;
        }
    }
}

/// Returns true if a point is on the same side of all edges of a convex polygon.
fn is_inside(polygon: &[Point], (x, y): Point) -> bool {
    let edges = polygon.iter().zip(polygon.iter().cycle().skip(1));
    let sides =
        edges.map(|(from, to)| (to.0 - from.0) * (y - from.1) - (to.1 - from.1) * (x - from.0));
    let (mut left, mut right) = (false, false);
    for side in sides {
        left |= side < 0.0;
        right |= side > 0.0;
    }
    !(left && right)
}

/// Returns the parts of a line that remain with dashes.
fn dashed(points: &[Point], dashes: &[f64]) -> Vec<Vec<Point>> {
    if dashes.iter().sum::<f64>() <= 0.0 {
        return vec![points.to_vec()];
    }
    let mut parts = Vec::new();
    let mut lengths = dashes.iter().copied().cycle();
    let mut left = lengths.next().unwrap_or(0.0);
    let mut is_dash = true;
    let mut part: Vec<Point> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let [mut from, to] = [pair[0], pair[1]];
        loop {
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let length = dx.hypot(dy);
            if length < left {
                left -= length;
                part.push(to);
                break;
            }
            let share = if length > 0.0 { left / length } else { 0.0 };
            from = (from.0 + dx * share, from.1 + dy * share);
            part.push(from);
            if is_dash {
                parts.push(std::mem::take(&mut part));
            }
            part = vec![from];
            is_dash = !is_dash;
            left = lengths.next().unwrap_or(1.0).max(0.1);
        }
    }
    if is_dash {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_wide_as_they_should_be() {
        let mut scene = Scene {
            width: 20.0,
            height: 10.0,
            shapes: Vec::new(),
        };
        scene.line(vec![(2.0, 5.0), (18.0, 5.0)], 2.0, Paint::Text);
        let pixels = draw(&scene, Palette::Light);
        assert_eq!((pixels.width, pixels.height), (40, 20));
        let ink = |y: usize| 255 - pixels.bytes[(y * 40 + 20) * 3];
        assert_eq!([ink(7), ink(12)], [0, 0]);
        assert!(ink(8) > 200 && ink(9) > 200 && ink(11) > 200);
    }

    #[test]
    fn areas_are_filled_to_their_edges() {
        let mut scene = Scene {
            width: 20.0,
            height: 10.0,
            shapes: Vec::new(),
        };
        scene.rectangle((2.0, 2.0), (10.0, 8.0), 1.0, Paint::Text);
        scene.diamond((15.0, 5.0), 3.0, Paint::Text);
        let pixels = draw(&scene, Palette::Light);
        let ink = |x: usize, y: usize| 255 - pixels.bytes[(y * 40 + x) * 3];
        assert!(ink(4, 4) > 200 && ink(19, 15) > 200);
        assert_eq!([ink(3, 4), ink(20, 4), ink(4, 16)], [0; 3]);
        assert!(ink(30, 10) > 200);
        assert_eq!(ink(25, 5), 0);
    }

    #[test]
    fn dashes_leave_gaps() {
        let parts = dashed(&[(0.0, 0.0), (4.0, 0.0), (10.0, 0.0)], &[3.0, 2.0]);
        let ends: Vec<(f64, f64)> = parts
            .iter()
            .map(|part| (part[0].0, part[part.len() - 1].0))
            .collect();
        assert_eq!(ends, [(0.0, 3.0), (5.0, 8.0), (10.0, 10.0)]);
        assert_eq!(dashed(&[(0.0, 0.0), (9.0, 0.0)], &[]).len(), 1);
    }
}
