//! Facts that differ between runs: host, times, versions.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::error::CampaignError;
use crate::folder::FACTS;
use crate::options::CampaignRunOptions;
use crate::plan::CampaignPlan;

/// Returns the facts of a run that begins.
pub(crate) fn session(
    plan: &CampaignPlan,
    options: &CampaignRunOptions,
    kernel: Option<&str>,
) -> Value {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    let host = options.facts.iter();
    let host = host.map(|(name, value)| (name.clone(), Value::from(value.clone())));
    json!({
        "unixTimeS": time.map_or(0, |time| time.as_secs()),
        "takt": options.takt,
        "jobs": options.jobs,
        "shard": options.shard.map(|shard| shard.to_string()),
        "host": host.collect::<Map<String, Value>>(),
        "umlKernel": kernel,
        "histograms": plan.histogram_digests(),
    })
}

/// File of the facts that differ between runs.
pub(crate) struct Facts {
    path: PathBuf,
    file: File,
}

impl Facts {
    /// Opens the file of a folder.
    pub(crate) fn open(directory: &Path) -> Result<Self, CampaignError> {
        let path = directory.join(FACTS);
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.map_err(|error| CampaignError::io(&path, error))?;
        Ok(Self { path, file })
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, event: &str, facts: Value) -> Result<(), CampaignError> {
        let mut line = Map::new();
        line.insert("event".to_owned(), event.into());
        if let Value::Object(facts) = facts {
            line.extend(facts);
        }
        let line = format!("{}\n", Value::Object(line));
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|error| CampaignError::io(&self.path, error))
    }
}
