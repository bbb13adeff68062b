//! Scenarios that commands are given.

use std::path::Path;

use takt_scenario::ScenarioFile;

use crate::explain;

/// Reads a scenario, and gives its text as well, for errors that come later.
pub fn read(path: &Path) -> miette::Result<(ScenarioFile, String)> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        explain::with_help(
            format!("cannot read {name}: {error}"),
            "`takt scenario new` writes a scenario to begin with.",
        )
    })?;
    let file =
        ScenarioFile::parse(&text, &name).map_err(|error| explain::scenario(&text, &error))?;
    Ok((file, text))
}
