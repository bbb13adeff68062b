//! A folder with a campaign, its scenarios, and its results.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_campaign::{
    CampaignError, CampaignObserver, CampaignOutcome, CampaignPlan, CampaignPlanError,
    CampaignProgress, CampaignRow, CampaignRunOptions, CampaignStart, Shard, run_campaign,
};
use tempfile::TempDir;

/// Two hosts, a bridge, and a thread that wakes up late by chance: each seed gives other delays.
pub(crate) const SCENARIO: &str = r#"
version = 1
[topology]
kind = "bridged"
[[nodes]]
name = "host1"
wake_up_latency = { histogram = [["2 us", 1000], ["10 us", 100], ["30 us", 1], ["40 us", 0]] }
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "250 us"
payload = "59 B"
"#;

/// Four cases, eight rows of simulations and four of bounds.
pub(crate) const CAMPAIGN: &str = r#"
version = 1
scenarios = ["plant.toml"]
backends = ["simulate", "bounds"]
repetitions = 3
messages = 20
[[sweeps]]
field = "applications.control.payload"
values = ["59 B", "600 B"]
[[sweeps]]
field = "applications.control.cycle"
values = ["250 us", "1 ms"]
"#;

pub(crate) struct Folder(TempDir);

impl Folder {
    /// Makes a folder with the scenario, and a campaign.
    pub(crate) fn new(campaign: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("plant.toml", SCENARIO);
        folder.write("campaign.toml", campaign);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn plan(&self) -> Result<CampaignPlan, CampaignPlanError> {
        CampaignPlan::read(&self.path("campaign.toml"))
    }

    pub(crate) fn options(&self, to: &str) -> CampaignRunOptions {
        CampaignRunOptions {
            directory: self.path(to),
            resume: false,
            shard: None,
            jobs: 1,
            takt: "1.0.0".to_owned(),
            facts: Vec::new(),
        }
    }

    pub(crate) fn run(
        &self,
        options: &CampaignRunOptions,
    ) -> Result<CampaignOutcome, CampaignError> {
        self.run_with(options, &mut Stop::never())
    }

    /// Runs the campaign until the observer has enough.
    pub(crate) fn run_with(
        &self,
        options: &CampaignRunOptions,
        stop: &mut Stop,
    ) -> Result<CampaignOutcome, CampaignError> {
        let plan = Arc::new(self.plan().unwrap());
        let flag = Arc::clone(&stop.flag);
        run_campaign(&plan, options, stop, &flag)
    }

    /// Runs a share.
    pub(crate) fn share(&self, number: u32, of: u32, to: &str) -> CampaignOutcome {
        let shard = Some(Shard { number, of });
        let options = CampaignRunOptions {
            shard,
            ..self.options(to)
        };
        self.run(&options).unwrap()
    }

    /// Returns the files of a result, without the facts that differ between runs.
    pub(crate) fn result(&self, of: &str) -> BTreeMap<String, String> {
        result(&self.path(of))
    }
}

/// Returns the files of a result, without the facts that differ between runs.
pub(crate) fn result(directory: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(directory).unwrap().map(|file| {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    let mut files: BTreeMap<String, String> = files.collect();
    files.remove("facts.jsonl").unwrap();
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let expected = ["campaign.json", "campaign.toml", "rows.csv", "rows.jsonl"];
    assert_eq!(names, expected, "nothing is left behind");
    files
}

/// Observer that interrupts a run after some rows.
pub(crate) struct Stop {
    after: usize,
    pub(crate) flag: Arc<AtomicBool>,
    pub(crate) start: Option<CampaignStart>,
    pub(crate) progress: CampaignProgress,
}

impl Stop {
    pub(crate) fn after(after: usize) -> Self {
        Self {
            after,
            flag: Arc::default(),
            start: None,
            progress: CampaignProgress::default(),
        }
    }

    pub(crate) fn never() -> Self {
        Self::after(usize::MAX)
    }
}

impl CampaignObserver for Stop {
    fn begins(&mut self, start: CampaignStart, progress: CampaignProgress) {
        self.start = Some(start);
        self.progress = progress;
    }

    fn row(&mut self, _: &CampaignRow, progress: CampaignProgress) {
        self.progress = progress;
        if progress.computed >= self.after {
            self.flag.store(true, Ordering::Relaxed);
        }
    }
}
