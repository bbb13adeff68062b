//! Scenario files of commands.

use std::path::Path;

use takt_scenario::{ScenarioError, ScenarioFile, ScenarioVariant};

use crate::{explain, input_file};

/// Reads a scenario. Returns its text as well, for errors that come later.
pub fn read(path: &Path) -> miette::Result<(ScenarioFile, String)> {
    of_bytes(path, read_bytes(path)?)
}

/// Returns the content of a scenario file.
pub fn read_bytes(path: &Path) -> miette::Result<Vec<u8>> {
    input_file::read(path).map_err(|error| {
        explain::with_help(
            format!("cannot read {}: {error}", path.display()),
            "`takt scenario new` writes a scenario to begin with.",
        )
    })
}

/// Returns the scenario of the content of a file, and its text.
pub fn of_bytes(path: &Path, bytes: Vec<u8>) -> miette::Result<(ScenarioFile, String)> {
    let text = text_of_bytes(path, bytes)?;
    let file = ScenarioFile::parse(&text, &path.display().to_string());
    let file = file.map_err(|error| explain::scenario(&text, &error))?;
    Ok((file, text))
}

/// Returns the text of the content of a scenario file.
pub fn text_of_bytes(path: &Path, bytes: Vec<u8>) -> miette::Result<String> {
    let name = path.display().to_string();
    explain::refuse_foreign(&bytes, &name, "a scenario")?;
    ScenarioFile::text(bytes, &name)
        .map_err(|error| explain::with_help(error, "Save the file as UTF-8."))
}

/// Returns a scenario with other values in some fields.
pub fn with_settings(
    file: &ScenarioFile,
    text: &str,
    settings: &[(String, String)],
) -> miette::Result<ScenarioFile> {
    file.with_settings(settings)
        .map_err(|error| setting_error(text, &error))
}

/// Returns true if the first mistake is in the text of the file, not in a setting.
pub fn has_place(error: &ScenarioError) -> bool {
    let first = error.mistakes.first();
    first.is_none_or(|mistake| mistake.span != (0..0))
}

/// Explains a mistake that a setting causes. It may have no place in the file.
pub fn setting_error(text: &str, error: &ScenarioError) -> miette::Report {
    match error.mistakes.first() {
        Some(mistake) if !has_place(error) => {
            let help = mistake.help.clone().unwrap_or_default();
            explain::with_help(&mistake.message, help)
        }
        _ => explain::scenario(text, error),
    }
}

/// A scenario file with all combinations of its swept values.
pub struct Loaded {
    pub file: ScenarioFile,
    /// Text of the file, for errors that come later.
    pub text: String,
    pub variants: Vec<ScenarioVariant>,
}

/// Reads a scenario with other values in some fields, and with all combinations of its swept values.
///
/// # Errors
/// A setting or a combination is not a valid scenario, or no message is sent in any combination.
pub fn load(path: &Path, settings: &[(String, String)]) -> miette::Result<Loaded> {
    let (file, text) = read(path)?;
    let file = with_settings(&file, &text, settings)?;
    let variants = file
        .variants()
        .map_err(|error| explain::scenario(&text, &error))?;
    if variants.iter().all(|it| it.scenario.flows().is_empty()) {
        return Err(explain::with_help(
            format!(
                "{}: the scenario has neither applications nor cross traffic",
                path.display()
            ),
            "docs/scenario.md describes applications; `takt scenario new` writes a scenario with one.",
        ));
    }
    Ok(Loaded {
        file,
        text,
        variants,
    })
}

/// Returns all combinations of the swept values of a scenario. Their settings begin with the given ones.
///
/// # Errors
/// Those of [`load`].
pub fn variants(
    path: &Path,
    settings: &[(String, String)],
) -> miette::Result<Vec<ScenarioVariant>> {
    let mut variants = load(path, settings)?.variants;
    for variant in &mut variants {
        variant.settings.splice(0..0, settings.iter().cloned());
    }
    Ok(variants)
}
