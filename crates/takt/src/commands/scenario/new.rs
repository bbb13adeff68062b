//! `takt scenario new`.

use std::io::ErrorKind;

use serde_json::json;
use takt_scenario::ScenarioFile;
use takt_scenario::template::{Template, TemplateMessage, TopologyKind};

use super::check::contents;
use crate::arguments::{ModelName, NewArguments, TemplateName};
use crate::output::joined;
use crate::{explain, output, output_file};

pub(super) fn run(arguments: &NewArguments) -> miette::Result<()> {
    let text = template(arguments)?.text();
    // The check comes before the file is written, so that contradictions are reported first.
    let file = ScenarioFile::parse(&text, "the scenario");
    let file = file.map_err(|error| explain::scenario(&text, &error))?;
    let Some(path) = &arguments.output else {
        output::lines(text.trim_end().lines());
        return Ok(());
    };
    output_file::write(path, text.as_bytes(), false).map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        let help = match error.kind() {
            ErrorKind::AlreadyExists => "Existing files are not overwritten.",
            _ => "Check that the directory exists and that this user may write to it.",
        };
        explain::with_help(message, help)
    })?;
    if arguments.json {
        let mut object = json!({"file": path.display().to_string()});
        object = joined(object, contents(&file, None));
        output::line(object);
    }
    Ok(())
}

fn template(arguments: &NewArguments) -> miette::Result<Template> {
    let name = arguments.template;
    let stray = |option: &str, of: &str| {
        explain::with_help(
            format!("only {of} has {option}"),
            "See `takt scenario new --help`.",
        )
    };
    if arguments.hops.is_some() && name != TemplateName::Line {
        return Err(stray("--hops", "a line"));
    }
    if arguments.nodes.is_some() && !matches!(name, TemplateName::Ring | TemplateName::Star) {
        return Err(stray("--nodes", "a ring or a star"));
    }
    if arguments.provisioning.is_some() && !arguments.qdisc.has_provisioning() {
        return Err(stray("--provisioning", "--qdisc cbs"));
    }
    let nodes = arguments.nodes.unwrap_or(4);
    if name == TemplateName::Ring && nodes < 3 {
        return Err(explain::with_help(
            format!("a ring has at least 3 bridges, not {nodes}"),
            "See `takt scenario new --help`.",
        ));
    }
    let topology = match name {
        TemplateName::P2p => TopologyKind::PointToPoint,
        TemplateName::Bridged => TopologyKind::Bridged,
        TemplateName::Line => TopologyKind::Line(arguments.hops.unwrap_or(7)),
        TemplateName::Ring => TopologyKind::Ring(nodes),
        TemplateName::Star => TopologyKind::Star(nodes),
    };
    let mut template = Template::new(topology, arguments.qdisc);
    template.provisioning = arguments.provisioning.unwrap_or_default();
    template.message = match (arguments.rnc, arguments.payload) {
        (_, Some(payload)) => TemplateMessage::Payload(payload),
        (count, None) => TemplateMessage::RepeatedNodeCount(count.unwrap_or(2)),
    };
    template.cycle = arguments.cycle.unwrap_or(template.cycle);
    template.offset = arguments.offset.unwrap_or(template.offset);
    template.rate = arguments.rate.unwrap_or(template.rate);
    template.paper = arguments.model == ModelName::Paper;
    Ok(template)
}
