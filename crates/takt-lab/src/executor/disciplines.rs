//! Queueing disciplines that a scenario needs, and those that the running kernel has.

use std::collections::BTreeSet;

use takt_scenario::{PortIndex, Scenario};
use takt_tsn::{
    Executor, HardwareOffload, PlanOptions, PortInput, SavedStates, ShellCommand, SystemExecutor,
    apply, plan_for_interface, plan_port,
};

use super::node::{LabNode, STATES};
use crate::error::LabError;

/// Classifier and action that set the priority of received frames at bridges.
const MARKING: &str = "flower with skbedit";

/// Returns the options of plans in the lab: its devices have no hardware that could do anything.
fn options() -> PlanOptions {
    PlanOptions {
        offload: HardwareOffload::None,
        ..PlanOptions::default()
    }
}

/// Returns the names of the disciplines, classifiers and actions that the ports of a scenario need.
///
/// # Errors
/// [`LabError::Discipline`]: a port cannot be planned.
pub fn required_disciplines(scenario: &Scenario) -> Result<BTreeSet<&'static str>, LabError> {
    let mut required = BTreeSet::new();
    for port in (0..scenario.ports.len()).map(PortIndex) {
        let Some(input) = PortInput::of_scenario(scenario, port) else {
            continue;
        };
        let plan = plan_port(&input, &options()).map_err(|error| LabError::Discipline {
            port: input.name(),
            message: error.to_string(),
        })?;
        required.extend(plan.tree.iter().map(|qdisc| qdisc.kind.name()));
        if !plan.marked.is_empty() {
            required.insert(MARKING);
        }
    }
    // They are in every kernel with queueing disciplines.
    required.retain(|name| !matches!(*name, "pfifo" | "bfifo"));
    Ok(required)
}

/// Returns the names of those disciplines that the running kernel lacks. It tries them in namespaces of their own.
///
/// # Errors
/// [`LabError::NotPermitted`], or a program is missing.
pub fn missing_disciplines(
    required: &BTreeSet<&'static str>,
) -> Result<Vec<&'static str>, LabError> {
    let node = LabNode::new("probe")?;
    if required.is_empty() {
        return Ok(Vec::new());
    }
    node.commands(vec![
        ShellCommand::ip("link add eth0 numtxqueues 2 type veth peer name eth1"),
        ShellCommand::ip("link set eth0 up"),
        ShellCommand::tc("qdisc add dev eth0 clsact"),
    ])?;
    let required: Vec<&'static str> = required.iter().copied().collect();
    node.run(move || {
        required
            .into_iter()
            .filter(|name| is_missing(name))
            .collect()
    })
}

/// Tries a discipline at the device eth0 of the calling thread's namespace.
fn is_missing(name: &str) -> bool {
    let words = match name {
        MARKING => {
            "filter replace dev eth0 ingress protocol 802.1Q pref 1 handle 1 flower vlan_prio 3 action skbedit priority 3"
        }
        "fq_codel" => "qdisc replace dev eth0 root handle 1: fq_codel",
        "mqprio" => {
            "qdisc replace dev eth0 root handle 1: mqprio num_tc 2 map 0 1 queues 1@0 1@1 hw 0"
        }
        "cbs" => {
            "qdisc replace dev eth0 root handle 1: cbs idleslope 1000 sendslope -999000 hicredit 1 locredit -1 offload 0"
        }
        "etf" => "qdisc replace dev eth0 root handle 1: etf clockid CLOCK_TAI delta 1000",
        "taprio" => {
            "qdisc replace dev eth0 root handle 1: taprio num_tc 2 map 0 1 queues 1@0 1@1 base-time 0 \
             sched-entry S 01 100000 sched-entry S 02 100000 clockid CLOCK_TAI"
        }
        _ => return true,
    };
    let result = SystemExecutor::default().run(&ShellCommand::tc(words));
    // A discipline may have other reasons to refuse: then applying the plan names them.
    let unknown = ["kind is unknown", "Unknown qdisc", "Unknown filter"];
    match result {
        Ok(result) if result.success => false,
        Ok(_) if name == MARKING => true,
        Ok(result) => unknown.iter().any(|part| result.stderr.contains(part)),
        Err(_) => true,
    }
}

/// Configures the device of a port, and compares what the kernel holds. Returns warnings.
///
/// # Errors
/// [`LabError::Discipline`].
pub(crate) fn configure(
    node: &LabNode,
    scenario: &Scenario,
    port: PortIndex,
) -> Result<Vec<String>, LabError> {
    let Some(input) = PortInput::of_scenario(scenario, port) else {
        return Ok(Vec::new());
    };
    let name = input.name();
    let failed = |message: String| LabError::Discipline {
        port: name.clone(),
        message,
    };
    let configured = node.run(move || {
        let mut executor = SystemExecutor::default();
        let plan = plan_for_interface(&input, &options(), &mut executor);
        let plan = plan.map_err(|error| error.to_string())?;
        apply(&plan, &mut executor, &SavedStates::new(STATES))
            .map_err(|error| error.to_string())?;
        Ok(plan.warnings.iter().map(ToString::to_string).collect())
    })?;
    configured.map_err(failed)
}
