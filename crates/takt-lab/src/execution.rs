//! Execution of a prepared run in the running kernel.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use takt_scenario::{Scenario, ScenarioFile};

use crate::backend::Backend;
use crate::error::LabError;
use crate::executor::{CaseRequest, LinkDevice, offloads, run_case};
use crate::run_directory::{RunCase, RunDescription, SCENARIO};

/// Receiver of the progress of a run.
pub trait RunObserver {
    /// Reports that a case begins. `index` counts from 0.
    fn begins(&mut self, index: usize, count: usize, case: &RunCase) {
        let _ = (index, count, case);
    }

    /// Reports that a case has ended. [`RunCase::failure`] has the reason if it has no result.
    fn ends(&mut self, index: usize, count: usize, case: &RunCase) {
        let _ = (index, count, case);
    }
}

/// An observer that ignores all reports.
impl RunObserver for () {}

/// Runs all cases of a prepared directory one after the other, and writes their results into it. Links are made by `device`.
///
/// A case that fails does not end the run; its failure is in the description. The description is up to date after each case.
///
/// # Errors
/// [`LabError::Interrupted`] after `stop` was set; the directory cannot be read or written, or this user may not make namespaces.
pub fn execute(
    directory: &Path,
    device: &dyn LinkDevice,
    observer: &mut dyn RunObserver,
    stop: &AtomicBool,
) -> Result<RunDescription, LabError> {
    let mut description = RunDescription::read(directory)?;
    let kernel = rustix::system::uname();
    let fact = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    let facts = [
        ("kernel", fact(kernel.release())),
        ("architecture", fact(kernel.machine())),
        ("links", device.name().to_owned()),
        (
            "offload",
            offload(device, description.disciplines).to_owned(),
        ),
    ];
    for (name, value) in facts {
        description.host.insert(name.to_owned(), value);
    }
    let scenarios = scenarios(directory, &description)?;
    let count = description.cases.len();
    for (index, scenario) in scenarios.iter().enumerate() {
        let Some(case) = description.cases.get_mut(index) else {
            break;
        };
        observer.begins(index, count, case);
        let outcome = run_case(
            &CaseRequest {
                scenario,
                directory: &directory.join(&case.directory),
                device,
                configures: description.disciplines,
                messages: case.messages,
                seed: case.seed.unwrap_or(scenario.simulation.seed),
                // In virtual time only: elsewhere threads have latencies of their own.
                draws_latencies: description.backend == Backend::Uml.name(),
            },
            stop,
        );
        match outcome {
            Ok(applications) => {
                case.applications = applications;
                case.failure = None;
            }
            Err(error) => {
                case.failure = Some(error.to_string());
                case.is_of_scenario = error.is_of_scenario();
                if ends_run(&error) {
                    // The failure of this case must not be lost with the run.
                    description.write(directory)?;
                    return Err(error);
                }
            }
        }
        observer.ends(index, count, case);
        description.write(directory)?;
    }
    Ok(description)
}

/// Returns the offloads of the devices in words, in a run with or without the scenario's disciplines.
fn offload(device: &dyn LinkDevice, disciplines: bool) -> &'static str {
    match offloads(device, disciplines) {
        true => "launch times and gates where the scenario offloads them",
        false => "none",
    }
}

/// Returns true for errors that all further cases would have, too.
const fn ends_run(error: &LabError) -> bool {
    matches!(
        error,
        LabError::Interrupted
            | LabError::NotPermitted
            | LabError::NoProgram(_)
            | LabError::NoGroups { .. }
    )
}

/// Returns the scenarios of the cases, from the copy in the directory.
fn scenarios(directory: &Path, description: &RunDescription) -> Result<Vec<Scenario>, LabError> {
    let path = directory.join(SCENARIO);
    let name = path.display().to_string();
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return Err(LabError::Io { path, error }),
    };
    let text = ScenarioFile::text(bytes, &name)?;
    let file = ScenarioFile::parse(&text, &name)?.with_settings(&description.settings)?;
    let variants = file.variants()?.into_iter().map(|it| it.scenario);
    Ok(variants.collect())
}
