//! Errors of campaigns.

use std::io;
use std::path::{Path, PathBuf};

use takt_scenario::{CampaignBackend, ScenarioError};

use crate::lab_error::CampaignLabError;
use crate::shard::Shard;

/// A campaign that cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum CampaignPlanError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// Mistakes in the campaign's file, with its text.
    #[error("{error}")]
    Campaign {
        /// Mistakes.
        error: ScenarioError,
        /// Text of the file.
        text: String,
    },
    /// Mistakes in a scenario, perhaps by the values of a case, with the text of its file.
    #[error("{error}")]
    Scenario {
        /// Mistakes.
        error: ScenarioError,
        /// Text of the file.
        text: String,
    },
    /// Two cases have the same scenario and the same values.
    #[error("{scenario} has the case {case} twice, with {values}")]
    CaseTwice {
        /// File name of the scenario, as the campaign has it.
        scenario: String,
        /// Id of the case.
        case: String,
        /// Values of the case.
        values: String,
    },
}

/// A campaign that cannot be run or merged.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A file of the campaign's folder cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// A file of the campaign's folder has other contents than a campaign writes.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// The folder has a campaign already.
    #[error("{} has the campaign `{name}` already, with {rows} rows", directory.display())]
    Occupied {
        /// The folder.
        directory: PathBuf,
        /// Name of the campaign in it.
        name: String,
        /// Number of its rows.
        rows: usize,
    },
    /// The folder has files, but no campaign.
    #[error("{} is not empty, and has no campaign", .0.display())]
    NotEmpty(PathBuf),
    /// The folder has no campaign.
    #[error("{} has no campaign", .0.display())]
    NoCampaign(PathBuf),
    /// Another process works in the folder.
    #[error("another process works in {}", .0.display())]
    Locked(PathBuf),
    /// The rows in the folder are of another version of Takt.
    #[error("{} has {rows} rows of version {then} of Takt, and this is {now}: rows of two versions are not mixed", directory.display())]
    OtherVersion {
        /// The folder.
        directory: PathBuf,
        /// Number of rows.
        rows: usize,
        /// Version that computed them.
        then: String,
        /// This version.
        now: String,
    },
    /// The rows in the folder are of another kernel of User-Mode Linux.
    #[error(
        "{} has {rows} rows with Linux {then} as the kernel of uml, and this one is Linux {now}: rows of two kernels are not mixed",
        directory.display()
    )]
    OtherKernel {
        /// The folder.
        directory: PathBuf,
        /// Number of rows.
        rows: usize,
        /// Release of the kernel that ran them.
        then: String,
        /// Release of this kernel.
        now: String,
    },
    /// A backend is one of the lab, and the run has no lab.
    #[error("the backend {} needs the lab", .0.name())]
    NoLab(CampaignBackend),
    /// The lab cannot run the rows. Nothing was changed.
    #[error(transparent)]
    Lab(CampaignLabError),
    /// A run of the lab failed, and its scenario is not the reason. The row is missing; those that are there stay.
    #[error("case {case} on {}: {error}", backend.name())]
    LabRow {
        /// Id of the case.
        case: String,
        /// Backend.
        backend: CampaignBackend,
        /// Reason.
        #[source]
        error: CampaignLabError,
    },
    /// The folder has another share.
    #[error("{} has {}, and this is {}", directory.display(), share(*then), share(*now))]
    OtherShard {
        /// The folder.
        directory: PathBuf,
        /// Share in the folder.
        then: Option<Shard>,
        /// Share that is wanted.
        now: Option<Shard>,
    },
    /// The rows in the folder are of other scenarios, messages, models or seeds.
    #[error(
        "{} has {rows} rows of the campaign `{then}`, whose scenarios, messages, model or seeds differ from those of `{now}`",
        directory.display()
    )]
    OtherCampaign {
        /// The folder.
        directory: PathBuf,
        /// Number of rows.
        rows: usize,
        /// Name of the campaign in the folder.
        then: String,
        /// Name of the campaign that is wanted.
        now: String,
    },
    /// The campaign was changed, and rows in the folder belong to none of its cases any more, or its stop rule excludes them.
    #[error("the campaign has changed: {lost} of {rows} rows in {} would be lost", directory.display())]
    RowsLost {
        /// The folder.
        directory: PathBuf,
        /// Number of rows.
        rows: usize,
        /// Number of those that are not part of the result any more.
        lost: usize,
    },
    /// The computation of a row panicked.
    #[error("the computation of case {case} panicked: this is a fault of Takt")]
    Panicked {
        /// Id of the case.
        case: String,
    },
    /// The run was interrupted. What is there stays.
    #[error("interrupted: {done} of {of} rows are there")]
    Interrupted {
        /// Number of rows that are there.
        done: usize,
        /// Number of rows of the complete campaign; a stop rule may end with fewer.
        of: usize,
    },
    /// A campaign is not complete.
    #[error("the campaign in {} is not complete", .0.display())]
    Incomplete(PathBuf),
    /// Folders whose shares do not fit together.
    #[error("{0}")]
    NotMerged(MergeFlaw),
}

/// Reason why shares are not those of one campaign.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeFlaw {
    /// A folder has a whole campaign.
    #[error("{} has a whole campaign, not a share", .0.display())]
    Whole(PathBuf),
    /// Folders have shares of different campaigns, versions, or numbers of shares.
    #[error("{} and {} have shares of different campaigns, versions of Takt, or numbers of shares", .0.display(), .1.display())]
    Different(PathBuf, PathBuf),
    /// Two folders have the same share.
    #[error("{} and {} have the same share", .0.display(), .1.display())]
    Twice(PathBuf, PathBuf),
    /// Shares are missing.
    #[error("shares are missing: {}", texts(.0))]
    Missing(Vec<Shard>),
}

/// Returns the first few shares as a text, with the number of the others.
fn texts(shards: &[Shard]) -> String {
    const MOST: usize = 8;
    let named: Vec<String> = shards.iter().take(MOST).map(Shard::to_string).collect();
    let named = named.join(", ");
    match shards.len().saturating_sub(MOST) {
        0 => named,
        others => format!("{named} and {others} more"),
    }
}

fn share(shard: Option<Shard>) -> String {
    match shard {
        None => "a whole campaign".to_owned(),
        Some(shard) => format!("share {shard}"),
    }
}

impl CampaignError {
    /// Returns the error at a file.
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            error,
        }
    }
}
