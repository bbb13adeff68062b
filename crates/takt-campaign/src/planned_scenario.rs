//! Scenarios of a campaign: their files, with the histograms that they name.

use std::fs;
use std::path::Path;

use takt_scenario::{CampaignFile, CampaignText, ScenarioError, ScenarioFile};

use crate::digest;
use crate::error::CampaignPlanError;

/// A scenario of a campaign.
#[derive(Debug, Clone)]
pub struct PlannedScenario {
    /// File name, as the campaign has it.
    pub name: String,
    /// Digest of the file and its histograms.
    pub digest: String,
    pub(crate) file: ScenarioFile,
    pub(crate) text: String,
}

/// Reads a scenario of a campaign in this folder.
pub(crate) fn scenario(
    campaign: &CampaignFile,
    folder: &Path,
    written: &CampaignText,
) -> Result<PlannedScenario, CampaignPlanError> {
    let path = folder.join(&written.text);
    let bytes = read(&path).map_err(|error| match error {
        // The place of the name tells more than the path alone.
        CampaignPlanError::Read { path, error } => CampaignPlanError::Campaign {
            error: campaign.error_at(
                &written.span,
                format!("cannot read {}: {error}", path.display()),
                Some("scenarios are relative to the folder of this file".to_owned()),
            ),
            text: campaign.text().to_owned(),
        },
        error => error,
    })?;
    let name = path.display().to_string();
    let wrong = |error: ScenarioError, text: &str| CampaignPlanError::Scenario {
        error,
        text: text.to_owned(),
    };
    let text = ScenarioFile::text(bytes, &name).map_err(|error| wrong(error, ""))?;
    let file = ScenarioFile::parse(&text, &name).map_err(|error| wrong(error, &text))?;
    let mut parts = vec![text.clone().into_bytes()];
    for histogram in file.histogram_files() {
        // The contents that the scenario was read with.
        let contents = file.histogram_text(histogram).unwrap_or_default();
        parts.push(histogram.as_bytes().to_vec());
        parts.push(contents.as_bytes().to_vec());
    }
    Ok(PlannedScenario {
        name: written.text.clone(),
        digest: digest::of_parts(parts),
        file,
        text,
    })
}

impl PlannedScenario {
    /// Returns the digest of a histogram that the scenario or a case of it was read with.
    pub(crate) fn histogram_digest(&self, name: &str) -> String {
        let contents = self.file.histogram_text(name).unwrap_or_default();
        digest::of_parts([contents.as_bytes()])
    }
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CampaignPlanError> {
    fs::read(path).map_err(|error| CampaignPlanError::Read {
        path: path.to_owned(),
        error,
    })
}
