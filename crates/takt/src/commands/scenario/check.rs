//! `takt scenario check`.

use std::path::Path;

use takt_scenario::ScenarioFile;

use crate::arguments::CheckScenarioArguments;
use crate::{explain, output};

pub(super) fn run(arguments: &CheckScenarioArguments) -> miette::Result<()> {
    let mut failed = None;
    for path in &arguments.files {
        if let Err(error) = check(path) {
            // All scenarios are checked. The last error is that of the command.
            if let Some(earlier) = failed.replace(error) {
                output::error(&earlier);
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn check(path: &Path) -> miette::Result<()> {
    let (file, text) = crate::scenario_file::read(path)?;
    // Swept values can contradict the rest of the file, so all combinations are checked.
    let variants = file
        .variants()
        .map_err(|error| explain::scenario(&text, &error))?;
    let summary = summary(&file, variants.len());
    output::line(format!("{}: {summary}", path.display()));
    Ok(())
}

/// Returns the contents of the scenario in one line.
fn summary(file: &ScenarioFile, variants: usize) -> String {
    let scenario = file.scenario();
    let count = |number: usize, one: &str, more: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{number} {more}"),
    };
    let parts = [
        count(scenario.nodes.len(), "node", "nodes"),
        count(scenario.links.len(), "link", "links"),
        count(scenario.applications.len(), "application", "applications"),
        count(
            scenario.cross_traffic.len(),
            "flow of cross traffic",
            "flows of cross traffic",
        ),
        count(variants, "variant", "variants"),
    ];
    parts.join(", ")
}
