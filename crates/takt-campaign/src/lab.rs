//! The lab of a campaign: rows that are runs on Linux's own network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use takt_lab::LabError;
use takt_lab::executor::{missing_disciplines, required_disciplines};
use takt_lab::uml::{KernelCache, Machine, UmlError};
use takt_scenario::CampaignBackend;

use crate::items::owned;
use crate::lab_error::CampaignLabError;
use crate::lab_runner::LabRunner;
use crate::plan::CampaignPlan;
use crate::shard::Shard;

/// Lab for the backends `uml` and `netns`.
#[derive(Debug, Clone)]
pub struct CampaignLab {
    /// Program that a machine starts as its first process, with the arguments `lab inside DIRECTORY`.
    program: PathBuf,
    /// Place of the kernel; `None` for that of the environment.
    cache: Option<KernelCache>,
}

impl CampaignLab {
    /// Describes a lab with the kernel that `takt lab setup` has built. `program` is Takt: the machines start it.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            cache: None,
        }
    }

    /// Takes the kernel from another place.
    #[must_use]
    pub fn with_kernels(mut self, cache: KernelCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Checks that the lab can run the rows of a share, before anything is written. `jobs` is the number of rows at the same time.
    pub(crate) fn prepare(
        &self,
        plan: &CampaignPlan,
        shard: Option<Shard>,
        jobs: usize,
    ) -> Result<LabRunner, CampaignLabError> {
        let mut is_wanted = [false; 2];
        let mut required = BTreeMap::new();
        for (case, backend) in owned(plan, shard) {
            match backend {
                CampaignBackend::Uml => is_wanted[0] = true,
                CampaignBackend::Netns => {
                    is_wanted[1] = true;
                    let scenario = plan.cases.get(case).map(|case| plan.scenario_of(case));
                    if let (Some(Ok(scenario)), true) = (scenario, plan.file.disciplines) {
                        // A port that cannot be planned is the failure of its row.
                        required.extend(required_disciplines(&scenario).unwrap_or_default());
                    }
                }
                CampaignBackend::Simulate | CampaignBackend::Bounds => {}
            }
        }
        let [uml, netns] = is_wanted;
        if netns {
            let missing = missing_disciplines(required)?;
            if !missing.is_empty() {
                let missing = missing.into_iter().map(str::to_owned);
                return Err(LabError::MissingDisciplines(missing.collect()).into());
            }
        }
        let machine = match uml {
            true => Some(self.machine()?),
            false => None,
        };
        let kernel = machine.as_ref().map(Machine::release).transpose()?;
        Ok(LabRunner::new(machine, kernel, netns, jobs))
    }

    fn machine(&self) -> Result<Machine, UmlError> {
        let cache = match &self.cache {
            Some(cache) => cache.clone(),
            None => KernelCache::of_environment()?,
        };
        Ok(Machine::new(cache.built()?, self.program.clone()))
    }
}

/// Returns true if rows of these backends are runs of the lab.
pub(crate) fn needs_lab(backends: &[CampaignBackend]) -> Option<CampaignBackend> {
    backends.iter().copied().find(|backend| backend.is_of_lab())
}

/// Removes what killed runs have left in the folder of a campaign, which is locked.
pub(crate) fn remove_left(directory: &Path) -> Result<(), CampaignLabError> {
    Ok(takt_lab::RunFolder::remove_left(directory)?)
}
