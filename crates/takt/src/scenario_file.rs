//! Scenarios that commands are given.

use std::path::Path;

use takt_scenario::{ScenarioFile, Variant};

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

/// All combinations of the values of its sweeps.
///
/// # Errors
/// One of them is no scenario, or nothing is sent in any.
pub fn variants(path: &Path) -> miette::Result<Vec<Variant>> {
    let (file, text) = read(path)?;
    let variants = file
        .variants()
        .map_err(|error| explain::scenario(&text, &error))?;
    if variants.iter().all(|it| it.scenario.flows().is_empty()) {
        return Err(explain::with_help(
            format!(
                "{}: nothing is sent: there are no applications, and no cross traffic",
                path.display()
            ),
            "docs/scenario.md says how to describe an application; `takt scenario new` writes one.",
        ));
    }
    Ok(variants)
}
