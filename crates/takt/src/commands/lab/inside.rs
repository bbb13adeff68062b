//! `takt lab inside`: what `takt lab run` has prepared, in the running kernel. It is the first process of a machine of the lab.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use miette::IntoDiagnostic;
use takt_lab::executor::{LinkDevice, RatedLink, Veth};
use takt_lab::run_directory::{RunCase, RunDescription};
use takt_lab::uml::{PROGRESS, ReportLine, initialize, is_first_process, load_modules, power_off};
use takt_lab::{Backend, LabError, RunObserver};

use super::progress;
use crate::arguments::LabInsideArguments;
use crate::explain;

pub(super) fn run(arguments: &LabInsideArguments) -> miette::Result<()> {
    if !is_first_process() {
        return Err(explain::with_help(
            "this is not a machine of the lab",
            "`takt lab run SCENARIO --backend uml` starts one.",
        ));
    }
    let mut report = Report {
        path: arguments.directory.join(PROGRESS),
    };
    let outcome = execute(arguments, &mut report);
    match &outcome {
        // Without one of these lines, the host takes the machine for broken.
        Ok(()) => report.add(ReportLine::Complete),
        Err(reason) => report.add(ReportLine::Failed(reason)),
    }
    // `power_off` returns only if it fails. The kernel panics if its first process ends by itself.
    Err(power_off()).into_diagnostic()
}

fn execute(arguments: &LabInsideArguments, report: &mut Report) -> Result<(), String> {
    initialize().map_err(|error| error.to_string())?;
    let description = RunDescription::read(&arguments.directory);
    let description = description.map_err(|error| error.to_string())?;
    let is_ready_made = description.backend == Backend::UmlReady.name();
    let device: &dyn LinkDevice = match is_ready_made {
        true => &Veth,
        false => &RatedLink,
    };
    if is_ready_made {
        load_modules().map_err(|error| error.to_string())?;
    }
    // Nothing sets it: to stop a run, the host ends the whole machine.
    let stop = AtomicBool::new(false);
    let run = takt_lab::execute(&arguments.directory, device, report, &stop);
    run.map(drop).map_err(|error: LabError| error.to_string())
}

/// Lines for the host, in a file that both sides see.
struct Report {
    path: PathBuf,
}

impl Report {
    /// Adds a line. If that fails, the host learns of the end of the machine.
    fn add(&mut self, line: ReportLine<'_>) {
        let file = OpenOptions::new().append(true).open(&self.path);
        let _ = file.and_then(|mut file| file.write_all(line.to_string().as_bytes()));
    }
}

impl RunObserver for Report {
    fn begins(&mut self, index: usize, count: usize, case: &RunCase) {
        self.add(ReportLine::Line(&progress::begins(index, count, case)));
    }

    fn ends(&mut self, _: usize, _: usize, case: &RunCase) {
        if let Some(line) = progress::ends(case) {
            self.add(ReportLine::Line(&line));
        }
    }
}
