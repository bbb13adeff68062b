//! State of a folder when a run begins: may the run go on with it?

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use takt_scenario::{CampaignBackend, CampaignFile};

use crate::case::RowKey;
use crate::error::CampaignError;
use crate::folder::{CampaignDescription, DESCRIPTION, JOURNAL, SOURCE, partial};
use crate::items::owned;
use crate::options::CampaignRunOptions;
use crate::plan::{CampaignPlan, stop_text};
use crate::store::RowStore;

/// Returns the description of a campaign.
pub(crate) fn described(
    plan: &CampaignPlan,
    options: &CampaignRunOptions,
    kernel: Option<&str>,
) -> CampaignDescription {
    CampaignDescription {
        format: CampaignDescription::format(),
        name: plan.file.name.clone(),
        takt: options.takt.clone(),
        base: plan.base(),
        plan: plan.digest(),
        shard: options.shard,
        items: plan.items().count(),
        quantities: plan.file.quantities.clone(),
        kernel: kernel.map(str::to_owned),
        histograms: plan.histograms.clone(),
    }
}

impl CampaignPlan {
    /// Returns true if the rows of a campaign in a folder can be rows of this one: scenarios, histograms, messages, model and seed are the
    /// same.
    #[must_use]
    pub fn has_rows_of(&self, earlier: &CampaignDescription) -> bool {
        earlier.base == self.base() && has_histograms_of(&self.histograms, earlier)
    }
}

/// Returns true if the histograms of a campaign in a folder have not changed. Further ones belong to further cases.
fn has_histograms_of(now: &BTreeMap<String, String>, earlier: &CampaignDescription) -> bool {
    let mut earlier = earlier.histograms.iter();
    earlier.all(|(name, digest)| now.get(name).is_none_or(|now| now == digest))
}

/// Returns the description of the campaign in a folder; `None` if nothing is there yet.
pub(crate) fn earlier(
    directory: &Path,
    resume: bool,
) -> Result<Option<CampaignDescription>, CampaignError> {
    let earlier = match CampaignDescription::read(directory) {
        Ok(earlier) => Some(earlier),
        Err(CampaignError::NoCampaign(_)) => None,
        Err(error) => return Err(error),
    };
    match earlier {
        Some(earlier) if !resume => Err(CampaignError::Occupied {
            directory: directory.to_owned(),
            name: earlier.name,
            rows: RowStore::count(directory),
        }),
        Some(earlier) => Ok(Some(earlier)),
        None if is_new(directory)? => Ok(None),
        None => Err(CampaignError::NotEmpty(directory.to_owned())),
    }
}

/// Returns true if a folder has nothing but files of a run that was killed at its very beginning.
fn is_new(directory: &Path) -> Result<bool, CampaignError> {
    let failed = |error| CampaignError::io(directory, error);
    let description = partial(Path::new(DESCRIPTION));
    let own = [Path::new(JOURNAL), description.as_path()];
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        // A journal without a description has no rows yet.
        let is_empty = || entry.metadata().is_ok_and(|it| it.len() == 0);
        if !own.contains(&Path::new(&name)) || name == JOURNAL && !is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Checks that a campaign goes on in its folder. Returns true if its plan has changed.
pub(crate) fn check(
    directory: &Path,
    earlier: &CampaignDescription,
    now: &CampaignDescription,
) -> Result<bool, CampaignError> {
    let directory = directory.to_owned();
    let rows = RowStore::count(&directory);
    if earlier.base != now.base || !has_histograms_of(&now.histograms, earlier) {
        return Err(CampaignError::OtherCampaign {
            directory,
            rows,
            then: earlier.name.clone(),
            now: now.name.clone(),
        });
    }
    if earlier.shard != now.shard {
        return Err(CampaignError::OtherShard {
            directory,
            then: earlier.shard,
            now: now.shard,
        });
    }
    if earlier.takt != now.takt && rows > 0 {
        return Err(CampaignError::OtherVersion {
            directory,
            rows,
            then: earlier.takt.clone(),
            now: now.takt.clone(),
        });
    }
    if let (Some(then), Some(now)) = (&earlier.kernel, &now.kernel)
        && then != now
        && rows > 0
    {
        return Err(CampaignError::OtherKernel {
            directory,
            rows,
            then: then.clone(),
            now: now.clone(),
        });
    }
    Ok(earlier.plan != now.plan)
}

/// Returns the stop rule of the campaign in a folder as a text. It is empty without a rule, or if the file cannot be read.
pub(crate) fn stop_of_folder(directory: &Path) -> String {
    let text = fs::read_to_string(directory.join(SOURCE)).ok();
    let file = text.and_then(|text| CampaignFile::parse(&text, SOURCE).ok());
    file.map_or(String::new(), |file| stop_text(&file))
}

/// Refuses to go on if rows would be lost, because they belong to no case any more.
pub(crate) fn check_rows(
    plan: &CampaignPlan,
    options: &CampaignRunOptions,
    store: &RowStore,
) -> Result<(), CampaignError> {
    let planned: HashSet<(&str, CampaignBackend)> = owned(plan, options.shard)
        .map(|(case, backend)| (plan.cases[case].id.as_str(), backend))
        .collect();
    let is_planned = |key: &RowKey, seed: Option<u64>| {
        planned.contains(&(key.case.as_str(), key.backend))
            && (1..=plan.repetitions(key.backend)).contains(&key.repetition)
            && plan.seed(key.backend, key.repetition) == seed
    };
    let others = store.rows().filter(|(key, row)| !is_planned(key, row.seed));
    match others.count() {
        0 => Ok(()),
        lost => Err(CampaignError::RowsLost {
            directory: options.directory.clone(),
            rows: store.rows().count(),
            lost,
        }),
    }
}
