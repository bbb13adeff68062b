//! Queueing disciplines that a scenario needs, and those that the running kernel has.

use std::collections::BTreeMap;

use takt_scenario::{PortIndex, Scenario};
use takt_tsn::{
    Executor, HardwareOffload, PlanOptions, PlanWarning, PortInput, Qdisc, SavedStates,
    ShellCommand, SystemExecutor, apply, plan_for_interface, plan_port,
};

use super::node::{LabNode, STATES};
use crate::error::LabError;

/// Device on which disciplines are tried.
const PROBE: &str = "eth0";

/// Classifier and action that set the priority of received frames at bridges.
const MARKING: &str = "flower with skbedit";
const MARKING_WORDS: &str = "filter replace dev eth0 ingress protocol 802.1Q pref 1 handle 1 flower vlan_prio 3 \
                             action skbedit priority 3";

/// Returns the options of plans for devices with or without offloads.
fn options(has_offloads: bool) -> PlanOptions {
    PlanOptions {
        offload: match has_offloads {
            true => HardwareOffload::AsInScenario,
            false => HardwareOffload::None,
        },
        ..PlanOptions::default()
    }
}

/// Returns the disciplines, classifiers and actions that the ports of a scenario need: for each name, the words of `tc` that try it.
///
/// # Errors
/// [`LabError::Discipline`]: a port cannot be planned.
pub fn required_disciplines(
    scenario: &Scenario,
) -> Result<BTreeMap<&'static str, String>, LabError> {
    let mut required = BTreeMap::new();
    for port in (0..scenario.ports.len()).map(PortIndex) {
        let Some(input) = PortInput::of_scenario(scenario, port) else {
            continue;
        };
        let plan = plan_port(&input, &options(false)).map_err(|error| LabError::Discipline {
            port: input.name(),
            message: error.to_string(),
        })?;
        for Qdisc { kind, .. } in &plan.tree {
            let (name, parameters) = (kind.name(), kind.phrases().join(" "));
            required.entry(name).or_insert_with(|| {
                format!("qdisc replace dev {PROBE} root handle 1: {name} {parameters}")
            });
        }
        if !plan.marked.is_empty() {
            required.insert(MARKING, MARKING_WORDS.to_owned());
        }
    }
    // They are in every kernel with queueing disciplines.
    required.retain(|name, _| !matches!(*name, "pfifo" | "bfifo"));
    Ok(required)
}

/// Returns the names of those disciplines that the running kernel lacks. It tries them in namespaces of their own.
///
/// # Errors
/// [`LabError::NotPermitted`], or a program is missing.
pub fn missing_disciplines(
    required: BTreeMap<&'static str, String>,
) -> Result<Vec<&'static str>, LabError> {
    // The node is made in any case, so that a missing permission is found here.
    let node = LabNode::new("probe")?;
    if required.is_empty() {
        return Ok(Vec::new());
    }
    node.commands(vec![
        // As many queues as a discipline has classes at most: some refuse more classes than queues.
        ShellCommand::ip(format!(
            "link add {PROBE} numtxqueues 8 type veth peer name eth1"
        )),
        ShellCommand::ip(format!("link set {PROBE} up")),
        ShellCommand::tc(format!("qdisc add dev {PROBE} clsact")),
    ])?;
    node.run(move || {
        let missing = required
            .into_iter()
            .filter(|(name, words)| is_missing(name, words));
        missing.map(|(name, _)| name).collect()
    })
}

/// Tries a discipline at the device of the calling thread's namespace.
fn is_missing(name: &str, words: &str) -> bool {
    let result = SystemExecutor::default().run(&ShellCommand::tc(words));
    // A discipline may have other reasons to refuse: then applying the plan names them.
    let unknown = ["kind is unknown", "Unknown qdisc", "Unknown filter"];
    match result {
        Ok(result) if result.success => false,
        // Classifier and action are in modules of their own, each with its own message.
        Ok(_) if name == MARKING => true,
        Ok(result) => unknown.iter().any(|part| result.stderr.contains(part)),
        Err(_) => true,
    }
}

/// Configures the device of a port, with the offloads of the scenario if the device has them, and compares what the kernel holds. Returns
/// warnings.
///
/// # Errors
/// [`LabError::Discipline`].
pub(crate) fn configure(
    node: &LabNode,
    scenario: &Scenario,
    port: PortIndex,
    has_offloads: bool,
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
        let plan = plan_for_interface(&input, &options(has_offloads), &mut executor);
        let plan = plan.map_err(|error| error.to_string())?;
        apply(&plan, &mut executor, &SavedStates::new(STATES))
            .map_err(|error| error.to_string())?;
        // The device has taken the gates, so nobody needs to hear what they demand of a device. Bridges of laboratories have VLANs.
        let warnings = plan.warnings.iter();
        let warnings = warnings.filter(|it| {
            !matches!(
                it,
                PlanWarning::FullOffload | PlanWarning::SharedGroup { .. }
            )
        });
        Ok(warnings.map(ToString::to_string).collect())
    })?;
    configured.map_err(failed)
}
