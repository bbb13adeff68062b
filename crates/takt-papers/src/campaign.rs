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
    /// Creates the campaign of an element. `users` are all elements that use it.
    pub(crate) fn of<'e>(
        element: &PaperElement,
        file: &Path,
        users: impl Iterator<Item = &'e PaperElement>,
    ) -> Self {
        // An element without a number needs those of the campaign.
        let greatest = users.map(|it| it.quick).reduce(|one, other| {
            let messages = one.0.zip(other.0).map(|(one, other)| one.max(other));
            let repetitions = one.1.zip(other.1).map(|(one, other)| one.max(other));
            (messages, repetitions)
        });
        Self {
            name: stem(file),
            file: file.to_owned(),
            elements: vec![element.name.clone()],
            quick: greatest.unwrap_or_default(),
        }
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
        // Also without other backends: it checks the number of rows.
        let backends = match backends {
            [] => plan.backends().to_vec(),
            given => given.to_vec(),
        };
        plan.set_backends(backends)?;
        Ok(plan)
    }
}

/// Returns the name of a file without its ending.
pub(crate) fn stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}
