//! Charts as they are described by their callers.

use super::axis::Axis;

/// Meaning of a series, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SeriesRole {
    /// Data: each label has a colour of its own.
    #[default]
    Data,
    /// Bound or limit that nothing should exceed: red.
    Bound,
    /// Value to compare with, such as a simulated one: the colour of text.
    Reference,
}

/// A box plot: five numbers of a distribution, and values beyond them.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxPlot {
    /// Place of its middle on the horizontal axis.
    pub place: f64,
    /// Width on the horizontal axis.
    pub width: f64,
    /// Lower end of the whisker.
    pub low: f64,
    /// Lower end of the box: the first quartile.
    pub first_quartile: f64,
    /// Line in the box.
    pub median: f64,
    /// Upper end of the box: the third quartile.
    pub third_quartile: f64,
    /// Upper end of the whisker.
    pub high: f64,
    /// Values beyond the whiskers, as dots.
    pub outliers: Vec<f64>,
}

/// Horizontal line over a part of the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Beginning on the horizontal axis.
    pub from: f64,
    /// End on the horizontal axis.
    pub to: f64,
    /// Height.
    pub value: f64,
}

/// Bar of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Beginning on the horizontal axis.
    pub from: f64,
    /// End on the horizontal axis.
    pub to: f64,
    /// Height.
    pub value: f64,
}

/// Value with the interval in which it is expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalMark {
    /// Place on the horizontal axis.
    pub place: f64,
    /// Lower end.
    pub low: f64,
    /// Value.
    pub value: f64,
    /// Upper end.
    pub high: f64,
    /// Extreme of the values that the value is of, as a diamond.
    pub extreme: Option<f64>,
}

/// Shape of a series.
#[derive(Debug, Clone, PartialEq)]
pub enum SeriesShape {
    /// Line through points in ascending order of x.
    Line {
        /// Points.
        points: Vec<(f64, f64)>,
        /// True if each point has a mark.
        marks: bool,
    },
    /// Dots without a line.
    Dots(Vec<(f64, f64)>),
    /// Diamonds without a line.
    Diamonds(Vec<(f64, f64)>),
    /// Triangles that point upwards, without a line: values above the axis, at its end.
    Triangles(Vec<(f64, f64)>),
    /// Crosses without a line: values that must stand out.
    Crosses(Vec<(f64, f64)>),
    /// Box plots, from left to right.
    Boxes(Vec<BoxPlot>),
    /// Values with intervals, joined by a line from left to right.
    Intervals(Vec<IntervalMark>),
    /// Horizontal lines.
    Levels(Vec<Level>),
    /// Bars of a histogram.
    Bars(Vec<Bar>),
}

/// Data of one kind in a chart, with its label.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartSeries {
    /// Label at the series. Series with the same label look the same in all charts of a figure.
    pub label: String,
    /// Meaning.
    pub role: SeriesRole,
    /// Shape.
    pub shape: SeriesShape,
}

impl ChartSeries {
    /// Creates a series of data.
    pub fn new(label: impl Into<String>, shape: SeriesShape) -> Self {
        Self {
            label: label.into(),
            role: SeriesRole::Data,
            shape,
        }
    }

    /// Creates a line through points in ascending order of x.
    pub fn line(label: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        let marks = false;
        Self::new(label, SeriesShape::Line { points, marks })
    }

    /// Creates a line whose points have marks.
    pub fn marked(label: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        let marks = true;
        Self::new(label, SeriesShape::Line { points, marks })
    }

    /// Sets the meaning.
    #[must_use]
    pub fn role(mut self, role: SeriesRole) -> Self {
        self.role = role;
        self
    }

    /// Returns true if there is nothing to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.shape {
            SeriesShape::Line { points, .. }
            | SeriesShape::Dots(points)
            | SeriesShape::Diamonds(points)
            | SeriesShape::Triangles(points)
            | SeriesShape::Crosses(points) => points.is_empty(),
            SeriesShape::Boxes(boxes) => boxes.is_empty(),
            SeriesShape::Intervals(marks) => marks.is_empty(),
            SeriesShape::Levels(levels) => levels.is_empty(),
            SeriesShape::Bars(bars) => bars.is_empty(),
        }
    }

    pub(super) const fn is_bars(&self) -> bool {
        matches!(self.shape, SeriesShape::Bars(_))
    }

    /// Returns all places on the horizontal axis that must be visible.
    pub(super) fn places(&self) -> Vec<f64> {
        match &self.shape {
            SeriesShape::Line { points, .. }
            | SeriesShape::Dots(points)
            | SeriesShape::Diamonds(points)
            | SeriesShape::Triangles(points)
            | SeriesShape::Crosses(points) => points.iter().map(|point| point.0).collect(),
            SeriesShape::Boxes(boxes) => boxes
                .iter()
                .flat_map(|it| [it.place - it.width / 2.0, it.place + it.width / 2.0])
                .collect(),
            SeriesShape::Intervals(marks) => marks.iter().map(|it| it.place).collect(),
            SeriesShape::Levels(levels) => levels.iter().flat_map(|it| [it.from, it.to]).collect(),
            SeriesShape::Bars(bars) => bars.iter().flat_map(|it| [it.from, it.to]).collect(),
        }
    }

    /// Returns all heights that must be visible.
    pub(super) fn heights(&self) -> Vec<f64> {
        match &self.shape {
            SeriesShape::Line { points, .. }
            | SeriesShape::Dots(points)
            | SeriesShape::Diamonds(points)
            | SeriesShape::Triangles(points)
            | SeriesShape::Crosses(points) => points.iter().map(|point| point.1).collect(),
            SeriesShape::Boxes(boxes) => boxes
                .iter()
                .flat_map(|it| it.outliers.iter().copied().chain([it.low, it.high]))
                .collect(),
            SeriesShape::Intervals(marks) => marks
                .iter()
                .flat_map(|it| [it.low, it.value, it.high].into_iter().chain(it.extreme))
                .collect(),
            SeriesShape::Levels(levels) => levels.iter().map(|it| it.value).collect(),
            SeriesShape::Bars(bars) => bars.iter().map(|it| it.value).collect(),
        }
    }

    /// Returns the point beside which the label is.
    pub(super) fn end(&self) -> Option<(f64, f64)> {
        match &self.shape {
            SeriesShape::Line { points, .. }
            | SeriesShape::Dots(points)
            | SeriesShape::Diamonds(points)
            | SeriesShape::Triangles(points)
            | SeriesShape::Crosses(points) => points.last().copied(),
            SeriesShape::Boxes(boxes) => boxes.last().map(|it| (it.place, it.median)),
            SeriesShape::Intervals(marks) => marks.last().map(|it| (it.place, it.value)),
            SeriesShape::Levels(levels) => levels.last().map(|it| (it.to, it.value)),
            SeriesShape::Bars(bars) => bars.last().map(|it| (it.to, it.value)),
        }
    }
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
    /// Series of data, bounds and references. Later ones are drawn over earlier ones.
    pub series: Vec<ChartSeries>,
    /// True if the series of data are in the order of a quantity. Then their colours are in order as well.
    pub ordered: bool,
    /// True if series have labels. A chart without labels is beside one with the same series.
    pub labelled: bool,
}

impl Chart {
    /// Creates a chart without series.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series: Vec::new(),
            ordered: false,
            labelled: true,
        }
    }
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
    /// Creates a figure of one chart.
    #[must_use]
    pub fn of(chart: Chart) -> Self {
        Self {
            charts: vec![chart],
            columns: 1,
        }
    }
}
