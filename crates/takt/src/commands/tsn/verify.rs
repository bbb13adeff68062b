//! `takt tsn verify`.

use serde_json::json;
use takt_tsn::{GateMotion, plan_for_interface, verify};

use super::{advice, ports, system};
use crate::arguments::TsnVerifyArguments;
use crate::{explain, output};

pub(super) fn run(arguments: &TsnVerifyArguments) -> miette::Result<()> {
    let input = ports::one_port(&arguments.port)?;
    let mut executor = system::executor(&arguments.system);
    let options = ports::options(&arguments.port);
    let plan = plan_for_interface(&input, &options, &mut executor)
        .map_err(|error| advice::interface(&error))?;
    let found = verify(&plan, &mut executor).map_err(|error| advice::system(&error))?;
    let mut warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
    if !found.is_up {
        warnings.push("the interface is down".to_owned());
    }
    if let Some(speed) = found.other_speed {
        warnings.push(format!(
            "the interface reports {speed}, the plan is for {}",
            plan.speed
        ));
    }
    if let GateMotion::Unknown(reason) = &found.gates {
        warnings.push(format!(
            "whether the gates move is unknown, because /proc/timer_list cannot be read: {reason}. `takt tsn apply` with the same \
             arguments starts them"
        ));
    }
    let gates = match &found.gates {
        GateMotion::NotInKernel => None,
        GateMotion::Moving => Some("moving"),
        GateMotion::Frozen | GateMotion::SomeFrozen(_) => Some("frozen"),
        GateMotion::Unknown(_) => Some("unknown"),
    };
    if arguments.json {
        let differences = found.differences.iter().map(|difference| {
            json!({
                "place": difference.place,
                "parameter": difference.parameter,
                "planned": difference.planned,
                "found": difference.found,
            })
        });
        output::line(json!({
            "interface": plan.interface,
            "differences": differences.collect::<Vec<_>>(),
            "gates": gates,
            "warnings": warnings,
        }));
    } else {
        for difference in &found.differences {
            output::line(format_args!("{}: {difference}", plan.interface));
        }
        for warning in &warnings {
            output::line(format_args!("{}: warning: {warning}", plan.interface));
        }
    }
    match found.differences.len() {
        0 => {
            if !arguments.json {
                output::line(format_args!(
                    "{}: as planned ({} of {})",
                    plan.interface, plan.discipline, plan.port
                ));
            }
            Ok(())
        }
        count => Err(explain::with_help(
            format!("{}: {count} differences from the plan", plan.interface),
            "`takt tsn apply` with the same arguments configures the interface.",
        )),
    }
}
