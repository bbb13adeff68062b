//! Errors of the lab of a campaign.

use takt_analysis::AnalysisError;
use takt_lab::LabError;
use takt_lab::run_directory::RunDirectoryError;
use takt_lab::uml::UmlError;

/// Reason why the lab gives no row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CampaignLabError {
    /// A run of the lab.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A machine of User-Mode Linux.
    #[error(transparent)]
    Uml(#[from] UmlError),
    /// A run ended without a result, and not because of its scenario.
    #[error("{0}")]
    Run(String),
    /// The files of a run have no quantities.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The directory of a run.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
}

impl CampaignLabError {
    /// Returns true if the run was ended from outside.
    pub(crate) const fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Lab(LabError::Interrupted) | Self::Uml(UmlError::Interrupted)
        )
    }
}
