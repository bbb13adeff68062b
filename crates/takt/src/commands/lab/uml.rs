//! Backend `uml`: a run in User-Mode Linux.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use miette::IntoDiagnostic;
use takt_lab::uml::{KernelCache, Machine};

use super::advice;
use crate::output;

/// Returns the kernel, if it is built.
pub(super) fn kernel() -> miette::Result<PathBuf> {
    let cache = KernelCache::of_environment();
    let kernel = cache.and_then(|cache| cache.built());
    kernel.map_err(|error| advice::explained_uml(&error))
}

/// Runs a prepared directory in User-Mode Linux.
pub(super) fn execute(kernel: PathBuf, directory: &Path, stop: &AtomicBool) -> miette::Result<()> {
    let program = std::env::current_exe().into_diagnostic()?;
    let machine = Machine::new(kernel, program);
    let run = machine.run(directory, &mut |line| output::line(line), stop);
    run.map_err(|error| advice::explained_uml(&error))
}
