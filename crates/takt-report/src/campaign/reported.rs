//! Result of a campaign, read from its folder.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;
use takt_campaign::{CampaignError, CampaignSummary, FACTS, ROWS, for_each_row};

use super::judged::JudgedRows;
use crate::comparison::Requirement;

/// Result of a campaign.
#[derive(Debug)]
pub struct ReportedCampaign {
    /// Folder.
    pub directory: PathBuf,
    /// Repetitions merged.
    pub summary: CampaignSummary,
    /// Reasons of rows without quantities, each once, at most 20.
    pub failures: Vec<String>,
    /// Names and values about the hosts, versions and kernels of the runs, each once.
    pub facts: Vec<(String, String)>,
    pub(crate) judged: JudgedRows,
}

/// Largest number of reasons that are shown.
const MOST_FAILURES: usize = 20;

impl ReportedCampaign {
    /// Returns true if a folder has a campaign.
    #[must_use]
    pub fn is_in(directory: &Path) -> bool {
        directory.join("campaign.json").is_file()
    }

    /// Reads a complete campaign. Without `quantities`, it has those of the campaign's file, or the usual ones.
    ///
    /// # Errors
    /// There is no complete campaign, or its files cannot be read.
    pub fn read(directory: &Path, quantities: &[String]) -> Result<Self, CampaignError> {
        let summary = CampaignSummary::read(directory, quantities)?;
        let mut failures: Vec<String> = Vec::new();
        let mut judged = JudgedRows::new(&summary.known, &Requirement::ALL);
        for_each_row(&directory.join(ROWS), |row| {
            if let Some(failure) = &row.failure
                && failures.len() < MOST_FAILURES
            {
                let failure = format!("{}: {failure}", row.backend);
                if !failures.contains(&failure) {
                    failures.push(failure);
                }
            }
            judged.add(row);
            Ok(())
        })?;
        Ok(Self {
            directory: directory.to_owned(),
            summary,
            failures,
            facts: facts(&directory.join(FACTS)),
            judged,
        })
    }
}

/// Returns facts about the runs. Facts that cannot be read are left out: they are for people.
fn facts(path: &Path) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Null | Value::Object(_) | Value::Array(_) => return,
            other => other.to_string(),
        };
        let fact = (name.to_owned(), text);
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    };
    let Ok(file) = File::open(path) else {
        return facts;
    };
    for line in BufReader::new(file).lines().map_while(Result::ok) {
        let Ok(line) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        if line["event"] == "began" {
            add("takt", &line["takt"]);
            add("kernel of uml", &line["umlKernel"]);
            for (name, value) in line["host"].as_object().into_iter().flatten() {
                add(name, value);
            }
        }
        if line["backend"] == "netns" {
            for end in line["run"]["ends"].as_array().into_iter().flatten() {
                for unset in end["unset"].as_array().into_iter().flatten() {
                    add("not set for a thread of netns", unset);
                }
            }
        }
    }
    facts
}
