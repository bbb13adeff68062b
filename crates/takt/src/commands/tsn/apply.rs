//! `takt tsn apply`.

use serde_json::{Value, json};
use takt_tsn::{
    ApplyOutcome, PortPlan, ShellCommand, apply, changes, kernel_state, plan_for_interface,
};

use super::{advice, ports, script, system};
use crate::arguments::TsnApplyArguments;
use crate::output::{self, joined};

pub(super) fn run(arguments: &TsnApplyArguments) -> miette::Result<()> {
    let input = ports::one_port(&arguments.port)?;
    let mut executor = system::executor(&arguments.system);
    let options = ports::options(&arguments.port);
    let plan = plan_for_interface(&input, &options, &mut executor)
        .map_err(|error| advice::interface(&error))?;
    if arguments.dry_run {
        let state = kernel_state(&mut executor, &plan.interface);
        let (state, _) = state.map_err(|error| advice::system(&error))?;
        let commands = changes(&plan, &state);
        if arguments.json {
            let commands: Vec<String> = commands.iter().map(ToString::to_string).collect();
            output::line(joined(
                object(&plan, "planned"),
                json!({"commands": commands}),
            ));
            return Ok(());
        }
        commands
            .iter()
            .flat_map(ShellCommand::lines)
            .for_each(output::line);
        // The output of a dry run is a script, so warnings are comments in it.
        script::warnings(&plan).iter().for_each(output::line);
        return Ok(());
    }
    let states = system::states(&arguments.system);
    let outcome = apply(&plan, &mut executor, &states).map_err(|error| advice::apply(&error))?;
    let (name, done) = match outcome {
        ApplyOutcome::Applied => ("applied", "configured, and read back"),
        ApplyOutcome::Unchanged => ("unchanged", "configured already"),
    };
    let text = format_args!(
        "{}: {} of {}: {done}",
        plan.interface, plan.discipline, plan.port
    );
    output::tell(arguments.json, || object(&plan, name), text);
    if !arguments.json {
        script::warnings(&plan).iter().for_each(output::complain);
    }
    Ok(())
}

/// Returns the outcome for programs.
fn object(plan: &PortPlan, outcome: &str) -> Value {
    json!({
        "interface": plan.interface,
        "port": plan.port,
        "discipline": plan.discipline,
        "outcome": outcome,
        "warnings": plan.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
