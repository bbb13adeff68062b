//! Backend `uml`: a run in User-Mode Linux.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use miette::IntoDiagnostic;
use takt_lab::uml::{KernelCache, Machine, ready_made};

use super::advice;

/// Returns a machine with the lab's kernel, if it is built.
pub(super) fn built_machine() -> miette::Result<Machine> {
    let cache = KernelCache::of_environment();
    let kernel = cache.and_then(|cache| cache.built());
    let kernel = kernel.map_err(|error| advice::explained_uml(&error))?;
    Ok(Machine::new(kernel, program()?))
}

/// Returns a machine with the ready-made kernel, if it is installed.
pub(super) fn ready_made_machine() -> miette::Result<Machine> {
    let kernel = ready_made().map_err(|error| advice::explained_uml(&error))?;
    Ok(Machine::new(kernel, program()?).in_real_time())
}

fn program() -> miette::Result<PathBuf> {
    std::env::current_exe().into_diagnostic()
}

/// Runs a prepared directory in User-Mode Linux. `line` gets the lines about the cases for people.
pub(super) fn execute(
    machine: &Machine,
    directory: &Path,
    line: &mut dyn FnMut(&str),
    stop: &AtomicBool,
) -> miette::Result<()> {
    let run = machine.run(directory, line, stop);
    run.map_err(|error| advice::explained_uml(&error))
}
