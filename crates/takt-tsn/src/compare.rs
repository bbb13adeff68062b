//! Comparison of a plan with the state of the kernel.

use std::fmt;

use crate::kernel_state::KernelState;
use crate::plan::PortPlan;
use crate::qdisc::Qdisc;
use crate::read_back::KernelQdisc;

/// A difference between a plan and the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDifference {
    /// Place: a discipline, or the filters.
    pub place: String,
    /// Parameter; empty if the whole discipline differs.
    pub parameter: String,
    /// Value in the plan.
    pub planned: String,
    /// Value in the kernel.
    pub found: String,
}

impl fmt::Display for PlanDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.parameter.is_empty() { "" } else { " " };
        write!(
            f,
            "{}{space}{} is {}, planned is {}",
            self.place, self.parameter, self.found, self.planned
        )
    }
}

const NOTHING: &str = "nothing";

/// Returns the differences, in the order of the plan. Disciplines that the kernel attaches by default do not count.
pub fn differences(plan: &PortPlan, state: &KernelState) -> Vec<PlanDifference> {
    let mut differences = tree_differences(&plan.tree, &state.qdiscs);
    let list = |pcps: &[u8]| match pcps {
        [] => NOTHING.to_owned(),
        pcps => pcps
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    };
    if plan.marked != state.marked {
        differences.push(PlanDifference {
            place: "filters for received frames:".to_owned(),
            parameter: "vlan_prio".to_owned(),
            planned: list(&plan.marked),
            found: list(&state.marked),
        });
    }
    differences
}

/// Returns the differences between disciplines.
pub(crate) fn tree_differences(planned: &[Qdisc], found: &[KernelQdisc]) -> Vec<PlanDifference> {
    let mut differences = Vec::new();
    for qdisc in planned {
        let here = found
            .iter()
            .find(|found| found.parent == qdisc.parent && !found.is_ingress());
        differences.extend(qdisc_differences(qdisc, here));
    }
    let added = found.iter().filter(|found| {
        let is_planned = planned.iter().any(|qdisc| qdisc.parent == found.parent);
        !found.is_default() && !found.is_ingress() && !is_planned
    });
    differences.extend(added.map(|qdisc| PlanDifference {
        place: qdisc.parent.to_string(),
        parameter: String::new(),
        planned: NOTHING.to_owned(),
        found: qdisc.name.clone(),
    }));
    differences
}

fn qdisc_differences(planned: &Qdisc, found: Option<&KernelQdisc>) -> Vec<PlanDifference> {
    let name = planned.kind.name();
    let place = planned.parent.to_string();
    let other = |found: String| {
        vec![PlanDifference {
            place: place.clone(),
            parameter: String::new(),
            planned: format!("{name} {}", planned.handle),
            found,
        }]
    };
    let Some(found) = found else {
        return other(NOTHING.to_owned());
    };
    if found.name != name || found.handle != planned.handle {
        return other(format!("{} {}", found.name, found.handle));
    }
    let Some(kind) = &found.kind else {
        return other(format!("{name} with unknown parameters"));
    };
    let (expected, actual) = (planned.kind.parameters(), kind.parameters());
    let value = |of: &[(String, String)], name: &str| {
        let found = of.iter().find(|(other, _)| other == name);
        found.map_or_else(|| NOTHING.to_owned(), |(_, value)| value.clone())
    };
    let mut names: Vec<&String> = expected.iter().map(|(name, _)| name).collect();
    // What only the kernel has, such as one more entry of a schedule, is a difference as well.
    let more = actual
        .iter()
        .map(|(name, _)| name)
        .filter(|name| !names.contains(name));
    let more: Vec<&String> = more.collect();
    names.extend(more);
    let compared = names.into_iter().map(|parameter| PlanDifference {
        place: format!("{name} {}", planned.handle),
        parameter: parameter.clone(),
        planned: value(&expected, parameter),
        found: value(&actual, parameter),
    });
    compared
        .filter(|difference| difference.planned != difference.found)
        .collect()
}
