//! Tables and figures of papers beside the results of campaigns, with a verdict for each finding.
//!
//! * [`PaperLibrary`] reads the folder `scenarios/papers`: one [`PaperElement`] for each table or figure, with the paper's figures, the
//!   quantities that belong to its rows, and its findings.
//! * A finding is an [`Expression`] over cells of the table: typed, with mistakes at the exact place of the file.
//! * [`PaperTable`] has the cells that follow from a campaign's rows, and [`PaperVerdict`] judges each finding.
//! * [`PaperCampaign`] is a campaign of the library, with fewer messages if it must be quick.
//! * [`paper_page`] is the page of all of them.
//!
//! This crate knows no command line. `docs/papers.md` describes the files and the language.

#![forbid(unsafe_code)]

mod campaign;
mod cells;
mod charts;
mod element;
mod error;
mod expression;
mod file;
mod library;
mod limits;
mod page;
mod place;
mod read;
mod results;
mod settings;
mod table;
mod trace;
mod trace_spec;
mod verdict;

#[cfg(test)]
mod tests;

pub use campaign::{PaperCampaign, PaperEffort};
pub use cells::{PaperCell, PaperTable};
pub use element::{
    PaperChart, PaperColumn, PaperElement, PaperFinding, PaperRow, PaperUnit, RowSource, Statistic,
    TracePicture,
};
pub use error::PaperError;
pub use expression::{
    CellSide, Expression, ExpressionCells, ExpressionMistake, ExpressionType, ExpressionValue,
    KnownNames, Undecided, ValueKind,
};
pub use file::PaperExpectation;
pub use library::{MissingElement, Paper, PaperLibrary};
pub use page::paper_page;
pub use results::PaperResults;
pub use table::{side_by_side, verdicts_table};
pub use trace::{TraceCurve, TracedCase};
pub use trace_spec::{PaperTrace, TraceKind};
pub use verdict::{PaperVerdict, PaperVerdictKind};
