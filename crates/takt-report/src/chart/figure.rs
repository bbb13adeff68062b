//! Charts as they are described by their callers.

use super::axis::Axis;

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
