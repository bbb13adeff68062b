//! A drawing as a list of shapes.

use super::paint::Paint;

/// A point, in pixels from the upper left corner.
pub(crate) type Point = (f64, f64);

/// Part of a text that is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A shape.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A line through points.
    Line {
        points: Vec<Point>,
        width: f64,
        /// Lengths of dashes and gaps in turns; empty for a solid line.
        dashes: Vec<f64>,
        paint: Paint,
    },
    /// A filled polygon.
    Area {
        points: Vec<Point>,
        /// From 0, nothing, to 1, no background visible.
        opacity: f64,
        paint: Paint,
    },
    /// A filled circle.
    Dot {
        centre: Point,
        radius: f64,
        paint: Paint,
    },
    /// A line of text. Its baseline is at the position.
    Text {
        at: Point,
        anchor: Anchor,
        size: f64,
        bold: bool,
        paint: Paint,
        text: String,
    },
}

/// A drawing.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
}

impl Scene {
    /// Adds a solid line.
    pub(crate) fn line(&mut self, points: Vec<Point>, width: f64, paint: Paint) {
        self.shapes.push(Shape::Line {
            points,
            width,
            dashes: Vec::new(),
            paint,
        });
    }

    /// Adds a filled rectangle between two of its corners.
    pub(crate) fn rectangle(&mut self, one: Point, other: Point, opacity: f64, paint: Paint) {
        self.shapes.push(Shape::Area {
            points: vec![one, (other.0, one.1), other, (one.0, other.1)],
            opacity,
            paint,
        });
    }

    /// Adds a filled diamond.
    pub(crate) fn diamond(&mut self, (x, y): Point, radius: f64, paint: Paint) {
        self.shapes.push(Shape::Area {
            points: vec![
                (x, y - radius),
                (x + radius, y),
                (x, y + radius),
                (x - radius, y),
            ],
            opacity: 1.0,
            paint,
        });
    }

    /// Adds a filled triangle that points upwards.
    pub(crate) fn triangle(&mut self, (x, y): Point, radius: f64, paint: Paint) {
        self.shapes.push(Shape::Area {
            points: vec![
                (x, y - radius),
                (x + radius, y + radius),
                (x - radius, y + radius),
            ],
            opacity: 1.0,
            paint,
        });
    }

    /// Adds a text whose middle is at the height of the point.
    pub(crate) fn text(&mut self, at: Point, anchor: Anchor, size: f64, paint: Paint, text: &str) {
        self.shapes.push(Shape::Text {
            at: (at.0, at.1 + 0.35 * size),
            anchor,
            size,
            bold: false,
            paint,
            text: text.to_owned(),
        });
    }
}
