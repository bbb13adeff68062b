//! `takt scenario check`.

use std::path::Path;

use miette::Report;
use serde_json::{Value, json};
use takt_scenario::{Mistake, ScenarioError, ScenarioFile};

use crate::arguments::CheckScenarioArguments;
use crate::output::joined;
use crate::{explain, output, scenario_file};

pub(super) fn run(arguments: &CheckScenarioArguments) -> miette::Result<()> {
    let mut failed = None;
    for path in &arguments.files {
        let name = path.display();
        let (object, error) = match check(path, &arguments.settings) {
            Ok((file, variants)) => {
                output::tell(
                    arguments.json,
                    || {
                        let object = json!({"file": name.to_string(), "valid": true});
                        let object = joined(object, contents(&file, Some(variants)));
                        joined(object, json!({"mistakes": []}))
                    },
                    format_args!("{name}: {}", summary(&file, variants)),
                );
                continue;
            }
            Err(Refused::Unreadable(error)) => {
                let mistake = json!({
                    "line": null,
                    "column": null,
                    "message": error.to_string(),
                    "help": error.help().map(|help| help.to_string()),
                });
                (vec![mistake], error)
            }
            Err(Refused::Mistakes { text, error }) => (
                error.mistakes.iter().map(object_of).collect(),
                explain::scenario(&text, &error),
            ),
        };
        if arguments.json {
            output::line(json!({"file": name.to_string(), "valid": false, "mistakes": object}));
        }
        // All scenarios are checked. The last error is that of the command.
        if let Some(earlier) = failed.replace(error) {
            output::error(&earlier);
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Reason why a file is no valid scenario.
enum Refused {
    Unreadable(Report),
    Mistakes { text: String, error: ScenarioError },
}

/// Returns the scenario of a file, and the number of its variants.
fn check(path: &Path, settings: &[(String, String)]) -> Result<(ScenarioFile, usize), Refused> {
    let bytes = scenario_file::read_bytes(path).map_err(Refused::Unreadable)?;
    let text = scenario_file::text_of_bytes(path, bytes).map_err(Refused::Unreadable)?;
    let mistakes = |error| Refused::Mistakes {
        text: text.clone(),
        error,
    };
    let file = ScenarioFile::parse(&text, &path.display().to_string()).map_err(mistakes)?;
    let file =
        file.with_settings(settings)
            .map_err(|error| match scenario_file::has_place(&error) {
                true => mistakes(error),
                false => Refused::Unreadable(scenario_file::setting_error(&text, &error)),
            })?;
    // Swept values can contradict the rest of the file, so all combinations are checked.
    let variants = file.variants().map_err(mistakes)?.len();
    Ok((file, variants))
}

fn object_of(mistake: &Mistake) -> Value {
    json!({
        "line": mistake.line,
        "column": mistake.column,
        "message": mistake.message,
        "help": mistake.help,
    })
}

/// Returns the contents of the scenario for programs.
pub(super) fn contents(file: &ScenarioFile, variants: Option<usize>) -> Value {
    let scenario = file.scenario();
    let mut object = json!({
        "name": scenario.name,
        "nodes": scenario.nodes.len(),
        "links": scenario.links.len(),
        "applications": scenario.applications.len(),
        "crossTraffic": scenario.cross_traffic.len(),
    });
    if let (Some(object), Some(variants)) = (object.as_object_mut(), variants) {
        object.insert("variants".to_owned(), variants.into());
    }
    object
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
