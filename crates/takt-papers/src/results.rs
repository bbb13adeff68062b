//! Results of campaigns that are there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use takt_campaign::{CampaignDescription, CampaignRow, ROWS, for_each_row};

use crate::campaign::{PaperEffort, stem};
use crate::element::PaperElement;
use crate::error::PaperError;
use crate::library::PaperLibrary;
use crate::trace::TracedCase;

/// Rows of campaigns, by the names of the campaigns.
#[derive(Debug, Clone, Default)]
pub struct PaperResults {
    rows: HashMap<String, Vec<CampaignRow>>,
    /// Traces by the names of the elements.
    traces: HashMap<String, Vec<TracedCase>>,
}

impl PaperResults {
    /// Reads the rows of campaigns and the traces of elements below a folder. A campaign without a complete result has no rows.
    ///
    /// # Errors
    /// A file cannot be read, or has results of other files than those of the library.
    pub fn read(
        folder: &Path,
        effort: PaperEffort,
        library: &PaperLibrary,
    ) -> Result<Self, PaperError> {
        let elements: Vec<&PaperElement> = library.elements().collect();
        let campaigns = library.campaigns(&elements);
        let mut results = Self::default();
        for campaign in campaigns {
            let directory = campaign.directory(folder, effort);
            let path = directory.join(ROWS);
            if !path.is_file() {
                continue;
            }
            // Rows of an earlier file are not those that the tables name.
            let plan = campaign.plan(effort, &[])?;
            if !plan.has_rows_of(&CampaignDescription::read(&directory)?) {
                return Err(PaperError::OtherFiles { path: directory });
            }
            let mut rows = Vec::new();
            for_each_row(&path, |row| {
                rows.push(row.clone());
                Ok(())
            })?;
            results.add(&campaign.name, rows);
        }
        for element in elements {
            let path = traces_path(folder, effort, element);
            if path.is_file() {
                let traces = read_traces(&path)?;
                if !TracedCase::are_of(&traces, element, effort.trace_messages(element))? {
                    return Err(PaperError::OtherFiles { path });
                }
                results.add_traces(element, traces);
            }
        }
        Ok(results)
    }

    /// Adds the rows of a campaign.
    pub fn add(&mut self, campaign: &str, rows: Vec<CampaignRow>) {
        self.rows.insert(campaign.to_owned(), rows);
    }

    /// Adds the traces of an element.
    pub fn add_traces(&mut self, element: &PaperElement, traces: Vec<TracedCase>) {
        self.traces.insert(element.name.clone(), traces);
    }

    /// Writes the traces of an element into a folder of results.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_traces(
        folder: &Path,
        effort: PaperEffort,
        element: &PaperElement,
        traces: &[TracedCase],
    ) -> Result<(), PaperError> {
        let path = traces_path(folder, effort, element);
        let failed = |reason: String| PaperError::TraceFile {
            path: path.clone(),
            reason,
        };
        let text = serde_json::to_string(traces).map_err(|error| failed(error.to_string()))?;
        // An interrupt leaves the earlier file, or the whole one.
        let partial = path.with_extension("partial");
        std::fs::create_dir_all(folder.join(effort.folder()))
            .and_then(|()| std::fs::write(&partial, text))
            .and_then(|()| std::fs::rename(&partial, &path))
            .map_err(|error| {
                // It would take space that the next try needs.
                let _ = std::fs::remove_file(&partial);
                failed(error.to_string())
            })
    }

    /// Returns the rows of an element: those of its campaigns that ran, and those of its traces.
    #[must_use]
    pub fn rows(&self, element: &PaperElement) -> Vec<&CampaignRow> {
        let campaigns = element.campaigns.iter().map(|file| stem(file));
        let rows = campaigns.filter_map(|name| self.rows.get(&name));
        let traced = self.traces(element).iter().map(|it| &it.row);
        rows.flatten().chain(traced).collect()
    }

    /// Returns the traces of an element; none if they were not computed.
    #[must_use]
    pub fn traces(&self, element: &PaperElement) -> &[TracedCase] {
        self.traces.get(&element.name).map_or(&[], Vec::as_slice)
    }

    /// Returns true if no campaign has rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Returns the file of an element's traces.
fn traces_path(folder: &Path, effort: PaperEffort, element: &PaperElement) -> PathBuf {
    let name = format!("{}.traces.json", element.name);
    folder.join(effort.folder()).join(name)
}

fn read_traces(path: &Path) -> Result<Vec<TracedCase>, PaperError> {
    let text = std::fs::read_to_string(path).map_err(|error| PaperError::read(path, error))?;
    serde_json::from_str(&text).map_err(|error| PaperError::TraceFile {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}
