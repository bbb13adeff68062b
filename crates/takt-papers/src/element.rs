//! A table or figure of a paper: its layout, its figures, and its findings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::expression::{Expression, ValueKind};
use crate::file::PaperExpectation;
use crate::trace_spec::PaperTrace;

/// Unit of a row, as it is printed.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperUnit {
    /// Name; empty for a number without a unit.
    pub name: String,
    /// Kind of the values.
    pub kind: ValueKind,
    /// Nanoseconds, or the number, of one unit.
    pub size: f64,
}

impl PaperUnit {
    pub(crate) fn new(name: &str) -> Self {
        let (kind, size) = match name {
            "ns" => (ValueKind::Time, 1.0),
            "us" | "\u{b5}s" => (ValueKind::Time, 1e3),
            "ms" => (ValueKind::Time, 1e6),
            "s" => (ValueKind::Time, 1e9),
            "%" => (ValueKind::Number, 0.01),
            _ => (ValueKind::Number, 1.0),
        };
        let name = if name == "us" { "\u{b5}s" } else { name };
        Self {
            name: name.to_owned(),
            kind,
            size,
        }
    }
}

/// Statistic that makes one value of repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// The smallest one.
    Min,
    /// The greatest one.
    Max,
}

/// Origin of a row's values.
#[derive(Debug, Clone, PartialEq)]
pub enum RowSource {
    /// An expression over the quantities of a campaign's row.
    Quantities(Expression),
    /// An expression over other rows of the table.
    Cells(Expression),
}

/// Column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperColumn {
    /// Name, as in the paper.
    pub name: String,
    /// Settings of its cases.
    pub settings: BTreeMap<String, String>,
}

/// Row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperRow {
    /// Name, as in the paper.
    pub name: String,
    /// Unit.
    pub unit: PaperUnit,
    /// Origin of its values.
    pub source: RowSource,
    /// Statistic that merges repetitions.
    pub over: Statistic,
    /// True if the values are bounds, false if they are simulated or measured.
    pub is_bound: bool,
    /// Number of decimals; by default as many as are significant.
    pub decimals: Option<usize>,
    /// Settings of its cases, besides those of the columns.
    pub settings: BTreeMap<String, String>,
    /// The paper's figure for each column, in nanoseconds or as a number; `None` if it has no figures for this row.
    pub paper: Option<Vec<Option<f64>>>,
}

/// A finding of the paper.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperFinding {
    /// Name, which is unique in the element.
    pub name: String,
    /// The claim in a sentence.
    pub claim: String,
    /// Section of the paper; by default that of the element.
    pub source: String,
    /// Condition; `None` if no backend can decide it.
    pub holds: Option<Expression>,
    /// Verdict that it should have.
    pub expected: PaperExpectation,
    /// Reason of a verdict other than reproduced.
    pub reason: String,
    /// Values that were chosen so that the finding holds.
    pub fitted: Option<String>,
    /// Smallest number of messages that decides it.
    pub least_messages: u64,
}

/// Chart of a table's rows.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperChart {
    /// Title.
    pub title: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Name of the vertical axis.
    pub axis: String,
    /// True for bars instead of lines.
    pub has_bars: bool,
    /// True if the columns are ranked by each row, in words.
    pub is_ranked: bool,
    /// Beginning of the vertical axis in the rows' unit; `None` for 0.
    pub from: Option<f64>,
}

/// A table or figure of a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperElement {
    /// Name: that of its file.
    pub name: String,
    /// Short name of the paper.
    pub paper: String,
    /// Place in the paper: `Table V`.
    pub place: String,
    /// Title.
    pub title: String,
    /// Section of the paper.
    pub source: String,
    /// Paths of its campaigns' files.
    pub campaigns: Vec<PathBuf>,
    /// Assumptions and differences.
    pub notes: Vec<String>,
    /// Heading of the first column.
    pub heading: String,
    /// Columns.
    pub columns: Vec<PaperColumn>,
    /// Rows.
    pub rows: Vec<PaperRow>,
    /// Findings.
    pub findings: Vec<PaperFinding>,
    /// Charts.
    pub charts: Vec<PaperChart>,
    /// Messages and repetitions of a quick run; `None` for those of the campaign.
    pub quick: (Option<u64>, Option<u32>),
    /// Traces.
    pub traces: Vec<PaperTrace>,
    /// Pictures of traces.
    pub pictures: Vec<TracePicture>,
}

/// Picture of several traces of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct TracePicture {
    /// Title.
    pub title: String,
    /// Names of the traces.
    pub traces: Vec<String>,
    /// Range of the horizontal axis in microseconds; `None` for one that fits.
    pub range: Option<(f64, f64)>,
}

impl PaperElement {
    /// Returns a row by its name.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&PaperRow> {
        self.rows.iter().find(|row| row.name == name)
    }
}
