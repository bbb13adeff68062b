//! `takt tsn plan`.

use serde_json::{Value, json};
use takt_tsn::{PortPlan, plan_port};

use super::{advice, ports, script};
use crate::arguments::TsnPlanArguments;
use crate::{explain, output};

pub(super) fn run(arguments: &TsnPlanArguments) -> miette::Result<()> {
    let ports = ports::ports(&arguments.port)?;
    let mut options = ports::options(&arguments.port);
    if arguments.bridge.is_some() && ports.inputs.iter().all(|input| input.groups.is_empty()) {
        let help = "Only a port of a bridge to several subscribers, or to a written `group`, has such commands: leave out --bridge.";
        let message =
            "no planned port forwards messages to several subscribers or to a written group";
        return Err(explain::with_help(message, help));
    }
    options.bridge.clone_from(&arguments.bridge);
    if let Some(path) = &arguments.svg {
        if ports.picture.ports.is_empty() {
            let help = "Only taprio has gates: choose such a discipline, for example with --field discipline=taprio.";
            return Err(explain::with_help("there are no gates to draw", help));
        }
        std::fs::write(path, ports.picture.svg()).map_err(|error| {
            let help = "Check that the directory exists and that this user may write to it.";
            explain::with_help(format!("cannot write {}: {error}", path.display()), help)
        })?;
    }
    let plans = ports.inputs.iter().enumerate().map(|(port, input)| {
        let plan = plan_port(input, &options);
        plan.map_err(|error| advice::plan_of(&error, port, ports.places.as_ref()))
    });
    // A mistake at one port shows before the first script, so that no part of the set looks like the whole.
    let plans: Vec<PortPlan> = plans.collect::<Result<_, _>>()?;
    for (number, plan) in plans.iter().enumerate() {
        if arguments.json {
            output::line(object(plan));
            continue;
        }
        if number > 0 {
            output::line("");
        }
        script::lines(plan, arguments.explain)
            .iter()
            .for_each(output::line);
    }
    if !arguments.json && !ports.picture.ports.is_empty() {
        output::line("");
        output::line("# open gates:");
        for line in ports.picture.text() {
            output::line(format_args!("# {line}"));
        }
    }
    Ok(())
}

fn object(plan: &PortPlan) -> Value {
    let classes = plan.classes.iter().map(|class| {
        json!({
            "name": class.name,
            "priorities": class.priorities,
            "queues": class.queues.clone().collect::<Vec<u16>>(),
            "discipline": class.queue,
        })
    });
    let commands = takt_tsn::qdisc_commands(plan)
        .into_iter()
        .chain(takt_tsn::filter_commands(plan));
    let derivations = plan.derivations.iter();
    let mut object = json!({
        "port": plan.port,
        "node": plan.node,
        "interface": plan.interface,
        "discipline": plan.discipline,
        "speed": plan.speed.bits_per_second(),
        "classes": classes.collect::<Vec<_>>(),
        "vlans": plan.vlans,
        "marked": plan.marked,
        "commands": commands.map(|command| command.to_string()).collect::<Vec<_>>(),
        "derivations": derivations.map(|it| json!({"number": it.number, "origin": it.origin})).collect::<Vec<_>>(),
        "warnings": plan.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if let (false, Some(fields)) = (plan.groups.is_empty(), object.as_object_mut()) {
        let commands = takt_tsn::group_commands(plan);
        let commands: Vec<String> = commands.iter().map(ToString::to_string).collect();
        fields.insert("group_commands".to_owned(), commands.into());
    }
    object
}
