//! Backend `uml`: a run in User-Mode Linux.

use std::path::Path;

use miette::Report;

use crate::explain;

/// Runs a prepared directory in User-Mode Linux.
pub(super) fn execute(_: &Path) -> miette::Result<()> {
    Err(missing())
}

/// Returns the error of a version of Takt without this backend.
pub(super) fn missing() -> Report {
    explain::with_help(
        "this version of Takt has no backend uml",
        "`--backend netns` runs on the kernel of this host.",
    )
}
