//! Scenario files of commands, and names of their fields for people.

use std::path::Path;

use takt_scenario::{ScenarioError, ScenarioFile, ScenarioVariant};

use crate::explain;

/// Reads a scenario. Returns its text as well, for errors that come later.
pub fn read(path: &Path) -> miette::Result<(ScenarioFile, String)> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        explain::with_help(
            format!("cannot read {name}: {error}"),
            "`takt scenario new` writes a scenario to begin with.",
        )
    })?;
    let text = ScenarioFile::text(bytes, &name)
        .map_err(|error| explain::with_help(error, "Save the file as UTF-8."))?;
    let file =
        ScenarioFile::parse(&text, &name).map_err(|error| explain::scenario(&text, &error))?;
    Ok((file, text))
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

/// Explains a mistake that a setting causes. It has no place in the file.
fn setting_error(text: &str, error: &ScenarioError) -> miette::Report {
    match error.mistakes.first() {
        Some(mistake) if mistake.span == (0..0) => {
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

/// Reads a scenario with all combinations of its swept values.
///
/// # Errors
/// A combination is not a valid scenario, or no message is sent in any combination.
pub fn load(path: &Path) -> miette::Result<Loaded> {
    let (file, text) = read(path)?;
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

/// Returns all combinations of the swept values of a scenario.
///
/// # Errors
/// Those of [`load`].
pub fn variants(path: &Path) -> miette::Result<Vec<ScenarioVariant>> {
    Ok(load(path)?.variants)
}

/// Returns the name of a swept field for people, with its owner: `applications.control.cycle` is the "cycle of control".
pub fn parameter_name(path: &str) -> String {
    let segments: Vec<&str> = path.split('.').collect();
    match segments.as_slice() {
        [.., "classes", class, _] => format!("{} of class {class}", field_name(path)),
        [_, .., owner, _] => format!("{} of {owner}", field_name(path)),
        _ => field_name(path),
    }
}

/// Returns the name of a swept field for people, without its owner.
pub fn field_name(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).replace('_', " ")
}

/// Returns the name of a quantity with a value: `3 hops`, `59 B`, `discipline etf`.
pub fn named(name: &str, value: &str) -> String {
    match name {
        "hops" if value == "1" => "1 hop".to_owned(),
        "hops" => format!("{value} hops"),
        "payload (B)" => format!("{value} B"),
        name => format!("{name} {value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_name_or_their_unit() {
        for (name, value, text) in [
            ("hops", "1", "1 hop"),
            ("hops", "7", "7 hops"),
            ("payload (B)", "59", "59 B"),
            ("discipline", "etf", "discipline etf"),
        ] {
            assert_eq!(named(name, value), text);
        }
    }

    #[test]
    fn fields_have_readable_names() {
        for (path, name) in [
            ("discipline", "discipline"),
            ("topology.hops", "hops"),
            (
                "applications.control.repeated_node_count",
                "repeated node count of control",
            ),
            ("cross_traffic.iperf3.rate", "rate of iperf3"),
            (
                "disciplines.cbs.classes.A.provisioning",
                "provisioning of class A",
            ),
        ] {
            assert_eq!(parameter_name(path), name);
        }
    }
}
