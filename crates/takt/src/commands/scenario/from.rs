//! `takt scenario from`.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Value, json};
use takt_plant::{
    PlantAssumption, PlantConfiguration, PlantFlow, PlantScenario, PlantWarning, scenario_of_plant,
};
use takt_scenario::{PlantFile, ScenarioFile};

use super::check::contents;
use crate::arguments::FromArguments;
use crate::commands::pubsub::config;
use crate::output::joined;
use crate::{explain, input_file, output, output_file};

pub(super) fn run(arguments: &FromArguments) -> miette::Result<()> {
    let plant = network(&arguments.network)?;
    let configurations = arguments.files.iter().map(|path| configuration(path));
    let configurations = configurations.collect::<miette::Result<Vec<_>>>()?;
    let made = scenario_of_plant(&plant, &configurations);
    let made = made.map_err(|error| explain::plant(plant.text(), &error))?;
    let Some(path) = &arguments.output else {
        // The text has the assumptions itself.
        output::lines(made.text.trim_end().lines());
        for warning in &made.warnings {
            output::warning(warning);
        }
        return Ok(());
    };
    write(path, made.text.as_bytes(), arguments.force)?;
    if arguments.json {
        output::line(object(path, &made));
        return Ok(());
    }
    output::lines(text(&made));
    for warning in &made.warnings {
        output::warning(warning);
    }
    Ok(())
}

fn network(path: &Path) -> miette::Result<PlantFile> {
    let name = path.display().to_string();
    let bytes = input_file::read(path).map_err(|error| {
        explain::with_help(
            format!("cannot read {name}: {error}"),
            "docs/plant.md describes a network file; examples/plant has one.",
        )
    })?;
    explain::refuse_foreign(&bytes, &name, "a network file")?;
    let text = ScenarioFile::text(bytes, &name)
        .map_err(|error| explain::with_help(error, "Save the file as UTF-8."))?;
    PlantFile::parse(&text, &name).map_err(|error| explain::network(&text, &error))
}

fn configuration(path: &Path) -> miette::Result<PlantConfiguration> {
    let bytes = config::read_bytes(path)?;
    let (file, format) = config::of_bytes(path, bytes.clone(), None)?;
    let name = path.display().to_string();
    let text = match format {
        crate::arguments::ConfigFormat::Toml => String::from_utf8(bytes).ok(),
        _ => None,
    };
    Ok(PlantConfiguration::new(&name, file, text.as_deref()))
}

fn write(path: &Path, bytes: &[u8], force: bool) -> miette::Result<()> {
    output_file::write(path, bytes, force).map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        let help = match error.kind() {
            ErrorKind::AlreadyExists => "Use --force to replace it.",
            _ => explain::file_help(&error),
        };
        explain::with_help(message, help)
    })
}

/// Returns flows and assumptions for people.
fn text(made: &PlantScenario) -> Vec<String> {
    let names = made.flows.iter().map(|it| it.application.chars().count());
    let width = names.max().unwrap_or(0);
    let mut lines: Vec<String> = Vec::new();
    // A frame that several nodes receive is one.
    for flows in made
        .flows
        .chunk_by(|one, next| one.application == next.application)
    {
        let Some(flow) = flows.first() else {
            continue;
        };
        lines.push(format!(
            "{:width$}  {} B every {} at {}, VLAN {}, PCP {}",
            flow.application, flow.payload, flow.cycle, flow.offset, flow.vlan, flow.pcp
        ));
        let way = format!("{} \u{2192} {}", flow.publisher, receivers(flows));
        lines.push(format!("{:width$}  {way}; {}", "", flow.parts));
    }
    if !made.assumptions.is_empty() {
        lines.push(String::new());
        lines.push("Assumed, because no file states it:".to_owned());
    }
    for assumption in &made.assumptions {
        lines.push(format!("* {assumption}"));
        lines.push(format!("  {}", assumption.advice));
    }
    lines
}

/// Returns the names of the receivers of an application.
fn receivers(flows: &[PlantFlow]) -> String {
    /// More names would hide the rest of the line.
    const SHOWN: usize = 6;
    let names = flows.iter().map(|it| it.subscriber.as_str());
    let shown: Vec<&str> = names.take(SHOWN).collect();
    let more = match flows.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// Returns the scenario for programs.
fn object(path: &Path, made: &PlantScenario) -> Value {
    let flows = made.flows.iter().map(flow);
    let assumptions = made.assumptions.iter().map(assumption);
    let warnings = made.warnings.iter().map(warning);
    let object = json!({"file": path.display().to_string()});
    let object = joined(object, contents(&made.file, None));
    joined(
        object,
        json!({
            "flows": flows.collect::<Vec<_>>(),
            "assumptions": assumptions.collect::<Vec<_>>(),
            "warnings": warnings.collect::<Vec<_>>(),
        }),
    )
}

fn flow(flow: &PlantFlow) -> Value {
    json!({
        "application": flow.application,
        "writerGroup": flow.writer_group,
        "file": flow.origin.file,
        "line": flow.origin.line,
        "publisher": flow.publisher,
        "subscriber": flow.subscriber,
        "readers": flow.readers,
        "payload": flow.payload,
        "parts": flow.parts,
        "cyclePs": flow.cycle.picos(),
        "offsetPs": flow.offset.picos(),
        "vlan": flow.vlan,
        "pcp": flow.pcp,
    })
}

fn assumption(assumption: &PlantAssumption) -> Value {
    json!({
        "field": assumption.field,
        "of": assumption.subjects,
        "value": assumption.value,
        "advice": assumption.advice,
    })
}

fn warning(warning: &PlantWarning) -> Value {
    json!({
        "file": warning.origin.file,
        "line": warning.origin.line,
        "entry": warning.entry,
        "message": warning.message,
    })
}
