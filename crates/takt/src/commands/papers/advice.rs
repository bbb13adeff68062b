//! Errors of the library of papers with advice.

use std::io;

use miette::Report;
use takt_campaign::CampaignError;
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
        PaperError::Results(error) => of_results(error),
        PaperError::Trace { .. } => explain::with_help(
            error,
            "The settings and the port of a trace are those of one case of its campaign (docs/papers.md).",
        ),
        PaperError::TraceFile { .. } => explain::with_help(
            error,
            "Is there room on the disk? `takt papers run` computes traces again.",
        ),
        PaperError::OtherFiles { .. } => explain::with_help(
            error,
            "Remove them, and compute them again with `takt papers run`; or use another directory with --to, and --from for the report.",
        ),
        PaperError::Interrupted => {
            explain::with_help(error, "The same command goes on with what is missing.")
        }
        PaperError::Unknown { known, .. } => {
            explain::with_help(error, format!("Known are {}.", known.join(", ")))
        }
    }
}

/// Explains a campaign of the library that cannot be run or read. `takt papers run` always goes on, so it has no option for it.
pub(super) fn of_results(error: &CampaignError) -> Report {
    let help = match error {
        CampaignError::Io { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
            "Rows that are there stay. Make space, and run the same command again."
        }
        CampaignError::Interrupted { .. } => {
            "The same command goes on with the rows that are missing."
        }
        CampaignError::OtherVersion { .. }
        | CampaignError::OtherKernel { .. }
        | CampaignError::OtherCampaign { .. }
        | CampaignError::RowsLost { .. }
        | CampaignError::NotEmpty(_)
        | CampaignError::Damaged { .. } => {
            "Remove this directory, or use --to with another one: all rows are then computed again."
        }
        other => return advice::explained(other),
    };
    explain::with_help(error, help)
}
