//! Errors of `takt tsn` for people, with the fix.

use miette::Report;
use takt_scenario::Part;
use takt_tsn::{
    ApplyError, InterfacePlanError, LimitedPart, PlanError, SavedStateError, SystemFault,
};

use super::ports::Places;
use crate::explain;

pub(super) fn plan(error: &PlanError) -> Report {
    let help = match error {
        PlanError::InterfaceName(_) => "`ip link` lists the interfaces of this machine.",
        PlanError::Nanoseconds { .. } => "Write a time without a fraction of a nanosecond.",
        PlanError::Interval(_) => "Split the entry into several ones.",
        PlanError::Limit(limit) => return explain::with_help(error, &limit.fix),
        PlanError::IdleSlope { .. } => {
            "Reserve less, or use a faster link. --speed states the speed of the interface."
        }
        PlanError::ManyQueues(_) => "`--queues` uses fewer than the interface has.",
        PlanError::Queues { .. } => {
            "Use fewer classes, or an interface with more transmit queues (`ethtool -L`; for veth, numtxqueues)."
        }
    };
    explain::with_help(error, help)
}

/// Explains an error of a port, at its line if the port is of a scenario.
pub(super) fn plan_of(error: &PlanError, port: usize, places: Option<&Places>) -> Report {
    let (Some(places), PlanError::Limit(limit)) = (places, error) else {
        return plan(error);
    };
    let Some(port) = places.ports.get(port).copied() else {
        return plan(error);
    };
    let part = match limit.part {
        LimitedPart::Discipline => Part::Discipline(port),
        LimitedPart::Entry(entry) => Part::GateEntry { port, entry },
        LimitedPart::Class(class) => Part::Class { port, class },
    };
    let in_file = places
        .file
        .error_at(&places.variant, part, error.to_string());
    explain::scenario_with_help(&places.text, &in_file, &limit.fix)
}

pub(super) fn interface(error: &InterfacePlanError) -> Report {
    match error {
        InterfacePlanError::Plan(error) => plan(error),
        InterfacePlanError::System(error) => system(error),
    }
}

pub(super) fn system(error: &SystemFault) -> Report {
    explain::with_help(error, system_help(error))
}

fn system_help(error: &SystemFault) -> String {
    match error {
        SystemFault::Executor(_) => "Install iproute2 (`apt-get install iproute2`).".to_owned(),
        SystemFault::ReadBack(_) | SystemFault::Unreadable(_) => {
            "docs/tsn.md names the tested versions of iproute2 (`tc -V`).".to_owned()
        }
        SystemFault::NoInterface { .. } => {
            "`ip link` lists the interfaces; --namespace names a network namespace.".to_owned()
        }
        SystemFault::NoDiscipline { kind } => {
            let module = if kind == "clsact" { "ingress" } else { kind };
            format!(
            "`modprobe sch_{module}` loads it if the kernel has it. Kernels of containers often lack it; \
             docs/tsn.md names tested ones."
)}
        SystemFault::NoFilter { .. } => {
            "Bridges need the classifier flower and the action skbedit: `modprobe cls_flower act_skbedit`.".to_owned()
        }
        SystemFault::NoClock => "Without --offload full, the kernel opens the gates.".to_owned(),
        SystemFault::NoOffload { .. } => "With --offload none, the kernel does the work.".to_owned(),
        SystemFault::NotPermitted { .. } => "Run the command as root (`sudo`).".to_owned(),
        SystemFault::Command { .. } => {
            "`takt tsn plan` prints the commands; docs/tsn.md lists known faults of kernels.".to_owned()
        }
    }
}

fn saved_state(error: &SavedStateError) -> Report {
    let help = match error {
        SavedStateError::Io { .. } => {
            "Run the command as root, or name a directory that survives this process with --state-dir."
        }
        SavedStateError::Damaged { .. } => {
            "Remove the file; then `tc qdisc del dev INTERFACE root` restores the default of the kernel."
        }
        SavedStateError::NotRestorable { .. } => {
            "Nothing was changed. Remove it first (`tc qdisc del dev INTERFACE root`), and make it anew afterwards."
        }
    };
    explain::with_help(error, help)
}

pub(super) fn apply(error: &ApplyError) -> Report {
    match error {
        ApplyError::Restored(fault) => explain::with_help(
            format!("{fault} (the earlier state is restored)"),
            system_help(fault),
        ),
        ApplyError::System(fault) => system(fault),
        ApplyError::SavedState(error) => saved_state(error),
        ApplyError::Differs(_) => explain::with_help(
            error,
            "The earlier state is restored. The kernel does not keep a parameter: please report it with `uname -r`.",
        ),
        ApplyError::NotRestored { .. } | ApplyError::NotAsBefore(_) => explain::with_help(
            error,
            "`takt tsn clear` tries again; `tc qdisc del dev INTERFACE root` restores the default of the kernel.",
        ),
    }
}
