//! Campaigns of the library.

use std::path::{Path, PathBuf};

use takt_campaign::CampaignPlan;
use takt_scenario::CampaignBackend;

use crate::element::PaperElement;
use crate::error::PaperError;

/// Number of messages and repetitions of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaperEffort {
    /// Those of the campaign's file.
    Full,
    /// Fewer, as the elements tell.
    Quick,
    /// This number of messages, and one repetition.
    Messages(u64),
}

impl PaperEffort {
    /// Returns the most messages of an element's traces; `None` for as many as they have.
    #[must_use]
    pub fn trace_messages(self, element: &PaperElement) -> Option<u64> {
        match self {
            Self::Full => None,
            Self::Quick => element.quick.0,
            Self::Messages(messages) => Some(messages),
        }
    }

    /// Returns the name of the folder of such results.
    #[must_use]
    pub fn folder(self) -> String {
        match self {
            Self::Full => "full".to_owned(),
            Self::Quick => "quick".to_owned(),
            Self::Messages(messages) => format!("messages-{messages}"),
        }
    }
}

/// A campaign with the elements that use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaperCampaign {
    /// Name: that of its file.
    pub name: String,
    /// Path of its file.
    pub file: PathBuf,
    /// Names of the elements.
    pub elements: Vec<String>,
    /// Messages and repetitions of a quick run: the greatest ones of the elements.
    pub quick: (Option<u64>, Option<u32>),
}

impl PaperCampaign {
    pub(crate) fn of(element: &PaperElement, file: &Path) -> Self {
        Self {
            name: stem(file),
            file: file.to_owned(),
            elements: vec![element.name.clone()],
            quick: element.quick,
        }
    }

    pub(crate) fn add(&mut self, element: &PaperElement) {
        self.elements.push(element.name.clone());
        self.quick = (
            self.quick.0.max(element.quick.0),
            self.quick.1.max(element.quick.1),
        );
    }

    /// Returns the folder of its results below that of all results.
    #[must_use]
    pub fn directory(&self, results: &Path, effort: PaperEffort) -> PathBuf {
        results.join(effort.folder()).join(&self.name)
    }

    /// Reads the campaign. `backends` replace those of the file, if there are any.
    ///
    /// # Errors
    /// The campaign has a mistake.
    pub fn plan(
        &self,
        effort: PaperEffort,
        backends: &[CampaignBackend],
    ) -> Result<CampaignPlan, PaperError> {
        let mut plan = CampaignPlan::read(&self.file)?;
        let (messages, repetitions) = match effort {
            PaperEffort::Full => (None, None),
            PaperEffort::Quick => self.quick,
            PaperEffort::Messages(messages) => (Some(messages), Some(1)),
        };
        plan.file.messages = messages.or(plan.file.messages);
        if let Some(repetitions) = repetitions {
            plan.file.repetitions = repetitions;
            // With fewer repetitions, the rule could need more than there are.
            plan.file.stop = None;
        }
        if !backends.is_empty() {
            plan.set_backends(backends.to_vec())?;
        }
        Ok(plan)
    }
}

/// Returns the name of a file without its ending.
pub(crate) fn stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}
