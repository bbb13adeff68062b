//! Errors of campaigns with advice.

use std::io;

use miette::Report;
use takt_campaign::{CampaignError, CampaignLabError, CampaignPlanError, MergeFlaw};

use crate::commands::lab::advice as lab_advice;
use crate::explain;

/// Explains a campaign that cannot be planned.
pub(in crate::commands) fn plan(error: &CampaignPlanError) -> Report {
    match error {
        // The text is not UTF-8.
        CampaignPlanError::Campaign { error, text }
        | CampaignPlanError::Scenario { error, text }
            if text.is_empty() =>
        {
            explain::with_help(error, "Save the file as UTF-8.")
        }
        CampaignPlanError::Campaign { error, text } => {
            let help = "docs/campaigns.md is the reference of this file.";
            explain::scenario_with_help(text, error, help)
        }
        CampaignPlanError::Scenario { error, text } => explain::scenario(text, error),
        CampaignPlanError::Read { error: cause, .. } => {
            explain::with_help(error, explain::file_help(cause))
        }
        CampaignPlanError::CaseTwice { .. } => explain::with_help(
            error,
            "A sweep of the scenario has a value twice. Name it once.",
        ),
    }
}

/// Explains a campaign that cannot be run, merged or read.
pub(in crate::commands) fn explained(error: &CampaignError) -> Report {
    let help = match error {
        CampaignError::Io { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
            "Rows that are there stay. Make space, and go on with --resume."
        }
        CampaignError::Io { error, .. } => explain::file_help(error),
        CampaignError::Damaged { .. } => {
            "The file is not as Takt wrote it. Restore it, or compute the campaign in another directory."
        }
        CampaignError::Occupied { .. } => {
            "--resume goes on with this campaign. Use --to with another directory for a new one."
        }
        CampaignError::NotEmpty(_) => "Use --to with a new directory.",
        CampaignError::NoCampaign(_) | CampaignError::Incomplete(_) => {
            "`takt campaign run FILE --to DIRECTORY --resume` computes the rows that are missing."
        }
        CampaignError::Locked(_) => "Wait for it, or end it, or use another directory.",
        CampaignError::OtherVersion { .. } => {
            "Go on with the version that began, or use --to with a new directory: all rows are then computed again."
        }
        CampaignError::OtherKernel { .. } => {
            "Go on with the kernel that ran them, or use --to with a new directory: all rows are then computed again."
        }
        CampaignError::NoLab(_) => "`takt campaign run` has a lab.",
        CampaignError::Lab(error) => return explain::with_help(error, of_lab(error)),
        CampaignError::LabRow { error: cause, .. } => {
            let help = format!(
                "{} Rows that are there stay; --resume goes on with this one.",
                of_lab(cause)
            );
            return explain::with_help(error, help);
        }
        CampaignError::OtherShard { .. } => {
            "Give each share a directory of its own with --to, and merge them with `takt campaign merge`."
        }
        CampaignError::OtherCampaign { .. } => {
            "Use --to with a new directory: all rows are then computed again. campaign.toml in the directory is the campaign of its \
             rows."
        }
        CampaignError::RowsLost { .. } => {
            "Use --to with a new directory: all rows are then computed again. Or restore the campaign from campaign.toml in the \
             directory. Further values and repetitions and a narrower interval lose no rows, unless the directory has a share."
        }
        CampaignError::Panicked { .. } => {
            "Please report the campaign with its scenarios. Rows that are there stay."
        }
        CampaignError::Interrupted { .. } => "--resume goes on with the rows that are missing.",
        CampaignError::NotMerged(flaw) => match flaw {
            MergeFlaw::Whole(_) => {
                "Only shares are merged, which `takt campaign run --shard` computes."
            }
            MergeFlaw::Different(..) => {
                "Compute all shares with one version of Takt, from the same files."
            }
            MergeFlaw::Twice(..) => "Name each share once.",
            MergeFlaw::Missing(_) => {
                "`takt campaign run FILE --shard NUMBER/COUNT --to DIRECTORY` computes a share."
            }
        },
    };
    explain::with_help(error, help)
}

/// Returns the fix of an error of the lab.
fn of_lab(error: &CampaignLabError) -> String {
    match error {
        CampaignLabError::Lab(error) => lab_advice::help(error),
        CampaignLabError::Uml(error) => lab_advice::help_uml(error),
        error if error.to_string().contains("No space left") => {
            "The disk is full: make space.".to_owned()
        }
        _ => "docs/lab.md describes the lab.".to_owned(),
    }
}
