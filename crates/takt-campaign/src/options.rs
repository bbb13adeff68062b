//! Options of a run, and what it tells while it goes on.

use std::path::PathBuf;

use crate::progress::CampaignProgress;
use crate::row::CampaignRow;
use crate::shard::Shard;

/// Options of a run.
#[derive(Debug, Clone)]
pub struct CampaignRunOptions {
    /// Folder of the results.
    pub directory: PathBuf,
    /// True if a campaign that is in the folder goes on.
    pub resume: bool,
    /// Share to compute; `None` for all of the campaign.
    pub shard: Option<Shard>,
    /// Number of rows that are computed at the same time.
    pub jobs: usize,
    /// Version of Takt.
    pub takt: String,
    /// Facts about the host, as names and values.
    pub facts: Vec<(String, String)>,
}

/// Beginning of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CampaignStart {
    /// Number of rows that are there already.
    pub present: usize,
    /// Number of lines of the folder that are no rows. They are computed again.
    pub damaged: usize,
    /// True if the campaign has more cases, repetitions or backends than the folder's one had.
    pub is_extended: bool,
}

/// End of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CampaignOutcome {
    /// Number of rows of the result.
    pub rows: usize,
    /// Number of those with a failure in place of quantities.
    pub failed: usize,
    /// Number of rows that this run has computed.
    pub computed: usize,
}

/// Observer of a run.
pub trait CampaignObserver {
    /// The run begins.
    fn begins(&mut self, start: CampaignStart, progress: CampaignProgress) {
        let _ = (start, progress);
    }

    /// A row is there.
    fn row(&mut self, row: &CampaignRow, progress: CampaignProgress) {
        let _ = (row, progress);
    }
}

impl CampaignObserver for () {}
