//! Errors of the library of papers with advice.

use miette::Report;
use takt_papers::PaperError;

use super::super::campaign::advice;
use crate::explain;

/// Explains an error of the library, or of results.
pub(super) fn explained(error: &PaperError) -> Report {
    match error {
        PaperError::Read { error: cause, path } if path.ends_with("papers.toml") => {
            let help = format!(
                "{} Takt's repository has the folder scenarios/papers; --papers names another one.",
                explain::file_help(cause)
            );
            explain::with_help(error, help)
        }
        PaperError::Read { error: cause, .. } => {
            explain::with_help(error, explain::file_help(cause))
        }
        PaperError::File { error, text } => explain::scenario_with_help(
            text,
            error,
            "docs/papers.md is the reference of this file.",
        ),
        PaperError::Plan(error) => advice::plan(error),
        PaperError::Results(error) => advice::explained(error),
        PaperError::Trace { .. } => explain::with_help(
            error,
            "The settings and the port of a trace are those of one case of its campaign (docs/papers.md).",
        ),
        PaperError::TraceFile { .. } => explain::with_help(
            error,
            "Is there room on the disk? `takt papers run` computes traces again.",
        ),
        PaperError::Unknown { known, .. } => {
            explain::with_help(error, format!("Known are {}.", known.join(", ")))
        }
    }
}
