//! The file of a table or figure, as it is written.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use toml::Spanned;

use crate::trace_spec::TraceKind;

/// File of a table or figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ElementFile {
    pub(crate) version: Spanned<i64>,
    pub(crate) place: String,
    pub(crate) title: String,
    pub(crate) source: String,
    pub(crate) campaigns: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    pub(crate) heading: String,
    pub(crate) columns: Spanned<Vec<ColumnFile>>,
    pub(crate) rows: Spanned<Vec<RowFile>>,
    #[serde(default)]
    pub(crate) findings: Vec<FindingFile>,
    #[serde(default)]
    pub(crate) charts: Vec<ChartFile>,
    pub(crate) quick: Option<Spanned<QuickFile>>,
    #[serde(default)]
    pub(crate) traces: Vec<TraceFile>,
    #[serde(default)]
    pub(crate) pictures: Vec<PictureFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceFile {
    pub(crate) name: Spanned<String>,
    pub(crate) kind: TraceKind,
    pub(crate) campaign: Spanned<String>,
    pub(crate) port: String,
    pub(crate) messages: Spanned<u64>,
    pub(crate) period: Option<Spanned<String>>,
    #[serde(default, rename = "where")]
    pub(crate) settings: BTreeMap<String, Scalar>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PictureFile {
    pub(crate) title: String,
    pub(crate) traces: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) range: Option<Spanned<(f64, f64)>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnFile {
    pub(crate) name: Spanned<String>,
    #[serde(default, rename = "where")]
    pub(crate) settings: BTreeMap<String, Scalar>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowFile {
    pub(crate) name: Spanned<String>,
    #[serde(default)]
    pub(crate) unit: String,
    pub(crate) value: Option<Spanned<String>>,
    pub(crate) cells: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) over: OverFile,
    #[serde(default)]
    pub(crate) bound: bool,
    pub(crate) decimals: Option<Spanned<usize>>,
    #[serde(default, rename = "where")]
    pub(crate) settings: BTreeMap<String, Scalar>,
    pub(crate) paper: Option<Spanned<Vec<PaperFigure>>>,
}

/// Statistic that merges repetitions.
#[derive(Debug, Clone, Copy, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OverFile {
    #[default]
    Mean,
    Min,
    Max,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindingFile {
    pub(crate) name: Spanned<String>,
    pub(crate) claim: String,
    pub(crate) source: Option<String>,
    pub(crate) holds: Option<Spanned<String>>,
    pub(crate) expect: Spanned<PaperExpectation>,
    pub(crate) reason: Option<String>,
    pub(crate) fitted: Option<String>,
    pub(crate) least_messages: Option<u64>,
}

/// Verdict that a finding should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PaperExpectation {
    /// It holds for our results.
    Reproduced,
    /// It holds, because values were chosen so.
    Fitted,
    /// It does not hold, with a reason.
    NotReproduced,
    /// The backends cannot decide it, with a reason.
    NotDecidable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChartFile {
    pub(crate) title: String,
    pub(crate) rows: Vec<Spanned<String>>,
    pub(crate) axis: String,
    #[serde(default)]
    pub(crate) bars: bool,
    #[serde(default)]
    pub(crate) ranked: bool,
    pub(crate) from: Option<Spanned<f64>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuickFile {
    pub(crate) messages: Option<u64>,
    pub(crate) repetitions: Option<u32>,
}

/// A value of a setting.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Truth(bool),
    Integer(i64),
    Text(String),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truth(truth) => truth.fmt(f),
            Self::Integer(integer) => integer.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A figure of the paper, in the unit of its row.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum PaperFigure {
    Integer(i64),
    Number(f64),
    /// `inf`, or any other text for a cell without a number.
    Text(String),
}

/// File of all papers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LibraryFile {
    pub(crate) version: Spanned<i64>,
    pub(crate) papers: Vec<PaperFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperFile {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) source: String,
    pub(crate) elements: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) missing: Vec<MissingFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MissingFile {
    pub(crate) place: String,
    pub(crate) title: String,
    pub(crate) reason: String,
}
