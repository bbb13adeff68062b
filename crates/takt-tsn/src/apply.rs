//! Application of a plan to an interface, and the way back.
//!
//! The state before the first change is on the disk before anything changes. A plan is applied from an interface
//! without disciplines, because the kernel changes too few of them in place: `etf` not at all, `taprio` not its flags,
//! and no discipline its kind or its parent.

use crate::commands::{
    FILTER_PREFERENCE, add_clsact, delete_root, filter_commands, gates_again, qdisc_commands,
    replace, vlan_commands, vlan_interface,
};
use crate::compare::{PlanDifference, differences, tree_differences};
use crate::executor::Executor;
use crate::fault::SystemFault;
use crate::kernel_state::KernelState;
use crate::plan::PortPlan;
use crate::saved_state::{SavedState, SavedStateError, SavedStates};
use crate::shell_command::ShellCommand;
use crate::system::{InterfacePlace, interface_place, kernel_state, run};
use takt_scenario::NodeKind;

/// Result of [`apply`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// The interface has the plan now.
    Applied,
    /// The interface had the plan already. Gates were started again, since a link that was down freezes them.
    Unchanged,
}

/// Result of [`clear`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClearOutcome {
    /// The earlier state is restored.
    Restored,
    /// Nothing was applied.
    Nothing,
}

/// Reason why a plan was not applied, or not undone.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The system did not do a command, and the earlier state is restored.
    #[error("{0}")]
    Restored(#[source] SystemFault),
    /// The plan was not applied, and the earlier state could not be restored afterwards: the interface has a part of either.
    #[error(
        "{fault}; the earlier state could not be restored, and the interface has only a part of the disciplines: {restore}"
    )]
    NotRestored {
        /// First error.
        fault: Box<ApplyError>,
        /// Fault of the restoration.
        restore: Box<ApplyError>,
    },
    /// The kernel holds something else than the plan; the earlier state is restored.
    #[error("the kernel took the plan, but holds something else: {}", shown(.0))]
    Differs(Vec<PlanDifference>),
    /// The restored state is not the earlier one.
    #[error("the earlier state is not restored: {}", shown(.0))]
    NotAsBefore(Vec<PlanDifference>),
    /// The system cannot be asked; nothing was changed.
    #[error(transparent)]
    System(#[from] SystemFault),
    /// The earlier state cannot be kept; nothing was changed.
    #[error(transparent)]
    SavedState(#[from] SavedStateError),
}

fn shown(differences: &[PlanDifference]) -> String {
    differences
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}

/// Applies a plan, reads back what the kernel holds, and compares. If that fails, the earlier state is restored.
///
/// # Errors
/// See [`ApplyError`]. A second call after any error, or after the process was killed, is safe.
pub fn apply(
    plan: &PortPlan,
    executor: &mut impl Executor,
    states: &SavedStates,
) -> Result<ApplyOutcome, ApplyError> {
    let place = interface_place(executor, &plan.interface)?;
    let (before, text) = kernel_state(executor, &plan.interface)?;
    let missing = missing_vlan_interfaces(plan, executor)?;
    let saved = states.load(&place)?;
    if differences(plan, &before).is_empty() && missing.is_empty() {
        if let Some(gates) = gates_again(plan) {
            run(executor, &gates)?;
        }
        return Ok(ApplyOutcome::Unchanged);
    }
    save(saved, &place, (&before, text), &missing, states)?;
    let error = match change(plan, &before, &missing, executor) {
        Ok(()) => match kernel_state(executor, &plan.interface) {
            Ok((after, _)) => {
                let differences = differences(plan, &after);
                if differences.is_empty() {
                    return Ok(ApplyOutcome::Applied);
                }
                ApplyError::Differs(differences)
            }
            Err(fault) => ApplyError::Restored(fault),
        },
        Err(fault) => ApplyError::Restored(fault),
    };
    match restore(&place, executor, states) {
        Ok(_) => Err(error),
        Err(restore) => Err(ApplyError::NotRestored {
            fault: Box::new(error),
            restore: Box::new(restore),
        }),
    }
}

/// Returns the commands that [`apply`] runs to change an interface in this state, without those that ask the system.
pub fn changes(plan: &PortPlan, before: &KernelState) -> Vec<ShellCommand> {
    let mut commands = Vec::new();
    // `clsact` freezes the gates of a taprio that is there already, so it comes before the disciplines.
    if !plan.marked.is_empty() && !before.has_clsact() {
        commands.push(add_clsact(&plan.interface));
    }
    if before.root().is_some_and(|root| !root.is_default()) {
        commands.push(delete_root(&plan.interface));
    }
    commands.extend(qdisc_commands(plan));
    if !before.marked.is_empty() {
        commands.push(delete_filters(&plan.interface));
    }
    commands.extend(filter_commands(plan));
    commands
}

/// Restores the state that an interface had before the first [`apply`].
///
/// # Errors
/// See [`ApplyError`]. A second call after any error, or after the process was killed, is safe.
pub fn clear(
    interface: &str,
    executor: &mut impl Executor,
    states: &SavedStates,
) -> Result<ClearOutcome, ApplyError> {
    let place = interface_place(executor, interface)?;
    restore(&place, executor, states)
}

fn missing_vlan_interfaces(
    plan: &PortPlan,
    executor: &mut impl Executor,
) -> Result<Vec<u16>, SystemFault> {
    let mut missing = Vec::new();
    if !plan.vlan_interfaces || plan.kind == NodeKind::Bridge {
        return Ok(missing);
    }
    for vlan in &plan.vlans {
        let name = vlan_interface(&plan.interface, *vlan);
        if !executor
            .run(&ShellCommand::ip(format!("link show dev {name}")))?
            .success
        {
            missing.push(*vlan);
        }
    }
    Ok(missing)
}

/// Saves the state before the first change. An earlier saved state stays, since it is the one from before Takt.
fn save(
    saved: Option<SavedState>,
    place: &InterfacePlace,
    (before, text): (&KernelState, String),
    missing: &[u16],
    states: &SavedStates,
) -> Result<(), SavedStateError> {
    let mut state = saved.unwrap_or_else(|| SavedState {
        place: place.clone(),
        qdiscs: text,
        clsact: before.has_clsact(),
        vlan_interfaces: Vec::new(),
    });
    // A state that cannot be restored must be found before anything is removed.
    state.tree()?;
    let names = missing
        .iter()
        .map(|vlan| vlan_interface(&place.interface, *vlan));
    let new: Vec<String> = names
        .filter(|name| !state.vlan_interfaces.contains(name))
        .collect();
    state.vlan_interfaces.extend(new);
    states.save(&state)
}

fn change(
    plan: &PortPlan,
    before: &KernelState,
    missing: &[u16],
    executor: &mut impl Executor,
) -> Result<(), SystemFault> {
    for command in changes(plan, before) {
        run(executor, &command)?;
    }
    let mut only_missing = plan.clone();
    only_missing.vlans = missing.to_vec();
    for command in vlan_commands(&only_missing)
        .iter()
        .filter(|_| plan.vlan_interfaces)
    {
        run(executor, command)?;
    }
    Ok(())
}

fn delete_filters(interface: &str) -> ShellCommand {
    ShellCommand::tc(format!(
        "filter del dev {interface} ingress protocol 802.1Q pref {FILTER_PREFERENCE}"
    ))
}

fn restore(
    place: &InterfacePlace,
    executor: &mut impl Executor,
    states: &SavedStates,
) -> Result<ClearOutcome, ApplyError> {
    let Some(saved) = states.load(place)? else {
        return Ok(ClearOutcome::Nothing);
    };
    let interface = &place.interface;
    let tree = saved.tree()?;
    let (now, _) = kernel_state(executor, interface)?;
    let mut commands = Vec::new();
    for name in &saved.vlan_interfaces {
        // An interface that is gone already must not end the restoration.
        if executor
            .run(&ShellCommand::ip(format!("link show dev {name}")))
            .map_err(SystemFault::from)?
            .success
        {
            commands.push(ShellCommand::ip(format!("link del dev {name}")));
        }
    }
    if !now.marked.is_empty() {
        commands.push(delete_filters(interface));
    }
    if now.has_clsact() && !saved.clsact {
        commands.push(ShellCommand::tc(format!(
            "qdisc del dev {interface} clsact"
        )));
    }
    if now.root().is_some_and(|root| !root.is_default()) {
        commands.push(delete_root(interface));
    }
    commands.extend(tree.iter().map(|qdisc| replace(interface, qdisc)));
    // Children freeze the gates of an earlier taprio as well.
    let gates = tree.first().filter(|root| root.kind.gates().is_some());
    commands.extend(gates.map(|root| replace(interface, root)));
    for command in &commands {
        run(executor, command)?;
    }
    let (restored, _) = kernel_state(executor, interface)?;
    let differences = tree_differences(&tree, &restored.qdiscs);
    if !differences.is_empty() {
        return Err(ApplyError::NotAsBefore(differences));
    }
    // The saved state goes last: until then, a second call can restore the rest.
    states.remove(place)?;
    Ok(ClearOutcome::Restored)
}
