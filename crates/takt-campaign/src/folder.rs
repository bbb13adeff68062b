//! The folder of a campaign: its description, its lock, and files that are written completely or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use takt_rt::file_lock::FileLock;

use crate::error::CampaignError;
use crate::shard::Shard;

/// Description of the campaign.
pub(crate) const DESCRIPTION: &str = "campaign.json";
/// Copy of the campaign's file.
pub(crate) const SOURCE: &str = "campaign.toml";
/// Rows of a campaign that is not complete, in the order in which they were computed.
pub(crate) const JOURNAL: &str = "journal.jsonl";
/// Rows of a complete campaign, in the order of the plan.
pub const ROWS: &str = "rows.jsonl";
/// The same rows as a table.
pub const TABLE: &str = "rows.csv";
/// Facts that differ between runs: host, times, versions.
pub const FACTS: &str = "facts.jsonl";

/// Format of the folder.
const FORMAT: u32 = 1;

/// Description of a campaign in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignDescription {
    /// Format of the folder: 1.
    pub format: u32,
    /// Name of the campaign.
    pub name: String,
    /// Version of Takt that computes the rows.
    pub takt: String,
    /// Digest of scenarios, messages, model and seed.
    pub base: String,
    /// Digest of all of the plan.
    pub plan: String,
    /// Share; `None` for the whole campaign.
    pub shard: Option<Shard>,
    /// Number of pairs of case and backend of the whole campaign.
    pub items: usize,
    /// Quantities of the summary.
    pub quantities: Vec<String>,
    /// Release of the kernel of User-Mode Linux, if there are rows of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Digests of histograms to which values of cases lead, by scenario and file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, String>,
}

impl CampaignDescription {
    /// Returns the format of this version.
    pub(crate) const fn format() -> u32 {
        FORMAT
    }

    /// Reads the description of a folder.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, CampaignError> {
        let path = directory.join(DESCRIPTION);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(CampaignError::NoCampaign(directory.to_owned()));
            }
            Err(error) => return Err(CampaignError::io(&path, error)),
        };
        let damaged = |reason: String| CampaignError::Damaged {
            path: path.clone(),
            reason,
        };
        let description: Self =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        match description.format == FORMAT {
            true => Ok(description),
            false => Err(damaged(format!(
                "its format is {}, and this version has {FORMAT}",
                description.format
            ))),
        }
    }

    /// Writes the description into a folder.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), CampaignError> {
        let path = directory.join(DESCRIPTION);
        write_whole(&path, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })
    }
}

/// Writes a file completely, or not at all: until it is complete, another file has its contents.
pub(crate) fn write_whole(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), CampaignError> {
    let partial = partial(path);
    let write = || {
        let mut file = BufWriter::new(File::create(&partial)?);
        content(&mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        // The name comes after the contents, also if the power fails.
        file.sync_all()?;
        fs::rename(&partial, path)
    };
    write().map_err(|error| {
        // It would take space that the next try needs.
        let _ = fs::remove_file(&partial);
        CampaignError::io(path, error)
    })
}

/// Returns the path of a file that is not complete.
pub(crate) fn partial(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".partial");
    PathBuf::from(path)
}

/// Lock of a folder, which ends with the process.
#[derive(Debug)]
pub(crate) struct FolderLock(#[allow(dead_code, reason = "dropping it ends the lock")] FileLock);

impl FolderLock {
    /// Locks a folder.
    pub(crate) fn take(directory: &Path) -> Result<Self, CampaignError> {
        let folder = File::open(directory).map_err(|error| CampaignError::io(directory, error))?;
        match FileLock::try_take(folder) {
            Ok(Some(lock)) => Ok(Self(lock)),
            Ok(None) => Err(CampaignError::Locked(directory.to_owned())),
            Err(error) => Err(CampaignError::io(directory, error.into())),
        }
    }
}
