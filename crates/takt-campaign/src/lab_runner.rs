//! Runs of the lab for rows: each in a directory of its own, which is removed when its quantities are known.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

use serde_json::{Value, json};
use takt_lab::executor::Veth;
use takt_lab::run_directory::{RunCase, RunDescription};
use takt_lab::uml::Machine;
use takt_lab::{Backend, CaseRecord, LabError, PreparedRun, RunFolder, RunRequest};
use takt_scenario::{CampaignBackend, Scenario};

use crate::case::{CampaignCase, RowKey};
use crate::lab_error::CampaignLabError;
use crate::plan::CampaignPlan;
use crate::quantities::of_run;
use crate::row::Quantities;

/// Field of a scenario with its seed.
const SEED: &str = "simulation.seed";

/// Row of the lab: its quantities or the reason why the scenario has none, and facts that may differ between runs.
pub(crate) struct LabRow {
    pub(crate) outcome: Result<Quantities, String>,
    pub(crate) facts: Value,
}

/// Runs of the lab.
#[derive(Debug)]
pub(crate) struct LabRunner {
    machine: Option<Machine>,
    kernel: Option<String>,
    /// Rows that are measured have the host for themselves. All others share it.
    host: Option<RwLock<()>>,
    /// Number of machines that may be started.
    machines: Counted,
    /// Number of runs that have not ended.
    active: Counted,
    stop: AtomicBool,
    folder: Mutex<Option<RunFolder>>,
}

/// A number that threads wait for.
#[derive(Debug)]
struct Counted(Mutex<usize>, Condvar);

impl Counted {
    fn new(count: usize) -> Self {
        Self(Mutex::new(count), Condvar::new())
    }

    fn change(&self, change: impl FnOnce(&mut usize)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.1.notify_all();
    }

    /// Waits until the number fulfils a condition.
    fn wait(&self, is_met: impl Fn(usize) -> bool) -> MutexGuard<'_, usize> {
        let count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.1.wait_while(count, |count| !is_met(*count));
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of a number, which counts again when this is dropped.
struct Taken<'a>(&'a Counted);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.change(|count| *count += 1);
    }
}

/// A run that has not ended.
struct Active<'a>(&'a Counted);

impl<'a> Active<'a> {
    fn new(count: &'a Counted) -> Self {
        count.change(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.change(|count| *count -= 1);
    }
}

/// The host, as long as a row is computed on it.
#[allow(dead_code, reason = "dropping it makes the host free")]
pub(crate) enum HostShare<'a> {
    Whole(RwLockWriteGuard<'a, ()>),
    Part(RwLockReadGuard<'a, ()>),
}

impl LabRunner {
    pub(crate) fn new(
        machine: Option<Machine>,
        kernel: Option<String>,
        measures: bool,
        jobs: usize,
    ) -> Self {
        Self {
            machine,
            kernel,
            host: measures.then(RwLock::default),
            machines: Counted::new(Machine::most_at_once().min(jobs.max(1))),
            active: Counted::new(0),
            stop: AtomicBool::new(false),
            folder: Mutex::new(None),
        }
    }

    /// Returns the release of the machines' kernel.
    pub(crate) fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    /// Makes the folder of the runs.
    pub(crate) fn open(&self, directory: &Path) -> Result<(), CampaignLabError> {
        let folder = RunFolder::new(directory)?;
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
        Ok(())
    }

    /// Waits until a row of a backend may be computed: nothing else runs beside a measurement.
    pub(crate) fn host(&self, backend: CampaignBackend) -> Option<HostShare<'_>> {
        let host = self.host.as_ref()?;
        Some(match backend.is_measured() {
            true => HostShare::Whole(host.write().unwrap_or_else(PoisonError::into_inner)),
            false => HostShare::Part(host.read().unwrap_or_else(PoisonError::into_inner)),
        })
    }

    /// Ends all runs, waits for their ends, and removes their files.
    pub(crate) fn end(&self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(self.active.wait(|count| count == 0));
        let folder = self
            .folder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(folder);
    }

    /// Computes a row.
    pub(crate) fn row(
        &self,
        plan: &CampaignPlan,
        case: &CampaignCase,
        key: &RowKey,
    ) -> Result<LabRow, CampaignLabError> {
        let _active = Active::new(&self.active);
        let is_virtual = key.backend == CampaignBackend::Uml;
        let _machine = is_virtual.then(|| self.take_machine());
        // `end` sets it before it looks at the number of active runs.
        if self.stop.load(Ordering::SeqCst) {
            return Err(LabError::Interrupted.into());
        }
        let backend = match is_virtual {
            true => Backend::Uml,
            false => Backend::Netns,
        };
        let (prepared, scenario, messages) = match prepared(plan, case, key, backend) {
            Ok(prepared) => prepared,
            Err(error) if error.is_of_scenario() => {
                return Ok(LabRow {
                    outcome: Err(error.to_string()),
                    facts: Value::Null,
                });
            }
            Err(error) => return Err(error.into()),
        };
        let directory = self.directory(key)?;
        let row = self.run(&prepared, &scenario, messages, &directory);
        // The rest of the campaign needs the room. What stays is removed with the folder.
        let _ = std::fs::remove_dir_all(&directory);
        row
    }

    fn take_machine(&self) -> Taken<'_> {
        *self.machines.wait(|count| count > 0) -= 1;
        Taken(&self.machines)
    }

    /// Returns the directory of a run, which does not exist yet.
    fn directory(&self, key: &RowKey) -> Result<std::path::PathBuf, CampaignLabError> {
        let folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = folder.as_ref().ok_or(LabError::Interrupted)?;
        let name = format!("{}-{}-{}", key.case, key.backend.name(), key.repetition);
        Ok(folder.path().join(name))
    }

    fn run(
        &self,
        prepared: &PreparedRun,
        scenario: &Scenario,
        messages: u64,
        directory: &Path,
    ) -> Result<LabRow, CampaignLabError> {
        prepared.write(directory)?;
        match &self.machine {
            Some(machine) if prepared.description().backend == Backend::Uml.name() => {
                machine.run(directory, &mut |_| {}, &self.stop)?;
            }
            _ => {
                takt_lab::execute(directory, &Veth, &mut (), &self.stop)?;
            }
        }
        let description = RunDescription::read(directory)?;
        let [case] = description.cases.as_slice() else {
            let count = description.cases.len();
            return Err(CampaignLabError::Run(format!("the run has {count} cases")));
        };
        match &case.failure {
            None => {}
            Some(reason) if case.is_of_scenario => {
                return Ok(LabRow {
                    outcome: Err(reason.clone()),
                    facts: facts(&description, None),
                });
            }
            Some(reason) => return Err(CampaignLabError::Run(reason.clone())),
        }
        measured(&description, case, scenario, messages, directory)
    }
}

/// Returns the run of a row with its scenario and number of messages.
fn prepared(
    plan: &CampaignPlan,
    case: &CampaignCase,
    key: &RowKey,
    backend: Backend,
) -> Result<(PreparedRun, Scenario, u64), LabError> {
    let mut settings = case.settings.clone();
    if let Some(seed) = plan.seed(key.backend, key.repetition) {
        // As in a simulation, the repetition decides, whatever the case has.
        settings.retain(|(field, _)| field != SEED);
        settings.push((SEED.to_owned(), seed.to_string()));
    }
    let file = plan.file_of(case);
    let scenario = file.with_settings(&settings)?.scenario().clone();
    let messages = plan.file.messages.unwrap_or(scenario.simulation.cycles);
    let prepared = PreparedRun::new(&RunRequest {
        scenario: file,
        text: plan.text_of(case),
        settings: &settings,
        messages: Some(messages),
        backend,
        disciplines: plan.file.disciplines,
    })?;
    Ok((prepared, scenario, messages))
}

/// Returns the row of a run that has ended with a result.
fn measured(
    description: &RunDescription,
    case: &RunCase,
    scenario: &Scenario,
    messages: u64,
    directory: &Path,
) -> Result<LabRow, CampaignLabError> {
    let directory = directory.join(&case.directory);
    let record = CaseRecord::read(&directory)?;
    // As in a simulation with this number of messages.
    let trim = match scenario.simulation.trim.saturating_mul(2) < messages {
        true => scenario.simulation.trim,
        false => 0,
    };
    let quantities = of_run(scenario, &directory, case, &record, trim)?;
    Ok(LabRow {
        outcome: Ok(quantities),
        facts: facts(description, Some(&record)),
    })
}

/// Returns facts about a run that may differ from those of another one.
fn facts(description: &RunDescription, record: Option<&CaseRecord>) -> Value {
    let ends = record.iter().flat_map(|it| &it.ends).map(|end| {
        json!({
            "application": end.application,
            "end": end.end,
            "maxWakeUpLatencyNs": end.max_wake_up_latency_nanos,
            "overruns": end.overruns,
            "unset": end.unset,
        })
    });
    json!({
        "machine": description.host,
        "remarks": record.map(|it| it.remarks.clone()),
        "ends": ends.collect::<Vec<Value>>(),
    })
}
