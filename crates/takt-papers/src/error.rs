//! Errors of the library of papers.

use std::io;
use std::path::{Path, PathBuf};

use takt_campaign::{CampaignError, CampaignPlanError};
use takt_scenario::ScenarioError;

/// A library of papers, or results, that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// A mistake in a file, with its text.
    #[error("{error}")]
    File {
        /// The mistake, with its place.
        error: ScenarioError,
        /// Text of the file.
        text: String,
    },
    /// A campaign cannot be planned.
    #[error(transparent)]
    Plan(#[from] CampaignPlanError),
    /// Results of a campaign cannot be read.
    #[error(transparent)]
    Results(#[from] CampaignError),
    /// A trace that cannot be computed.
    #[error("the trace `{name}`: {reason}")]
    Trace {
        /// Name of the trace.
        name: String,
        /// Reason.
        reason: String,
    },
    /// A file of traces cannot be written, or has other contents.
    #[error("{}: {reason}", path.display())]
    TraceFile {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// Results that were computed from other files: the campaign, its scenario or the trace has changed since.
    #[error("{} has results of other files: they have changed since", path.display())]
    OtherFiles {
        /// Path of the results.
        path: PathBuf,
    },
    /// The computation of traces was ended from outside.
    #[error("interrupted")]
    Interrupted,
    /// There is no element of this name.
    #[error("there is no `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: Vec<String>,
    },
}

impl PaperError {
    pub(crate) fn read(path: &Path, error: io::Error) -> Self {
        Self::Read {
            path: path.to_owned(),
            error,
        }
    }
}
