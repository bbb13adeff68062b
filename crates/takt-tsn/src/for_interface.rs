//! Plans for an interface that exists: with its speed, its queues and the kernel.

use crate::executor::Executor;
use crate::fault::SystemFault;
use crate::plan::{PlanError, PlanOptions, PlanWarning, PortInput, PortPlan, plan_port};
use crate::qdisc::QdiscKind;
use crate::system::{interface_facts, kernel_version};

/// Reason why there is no plan for an interface.
#[derive(Debug, thiserror::Error)]
pub enum InterfacePlanError {
    /// No plan is possible.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The system cannot be asked.
    #[error(transparent)]
    System(#[from] SystemFault),
}

/// Returns the plan of a port for its interface on this system. What the options leave open is asked from the system:
/// the speed, by which `cbs` in software computes, and the version of the kernel.
///
/// # Errors
/// There is no such interface, it has too few transmit queues, or no plan is possible.
pub fn plan_for_interface(
    input: &PortInput,
    options: &PlanOptions,
    executor: &mut impl Executor,
) -> Result<PortPlan, InterfacePlanError> {
    let mut options = options.clone();
    // The name is checked before it becomes part of a command.
    let mut plan = plan_port(input, &options)?;
    let facts = interface_facts(executor, &input.interface)?;
    // A discipline without classes works with any number of queues.
    if plan.tree.len() > 1 && usize::from(facts.transmit_queues) < plan.classes.len() {
        let queues = facts.transmit_queues;
        let classes = plan.classes.len();
        return Err(PlanError::Queues { classes, queues }.into());
    }
    let is_unknown = options.speed.is_none() && facts.speed.is_none();
    options.speed = options.speed.or(facts.speed);
    options.kernel = match options.kernel {
        Some(kernel) => Some(kernel),
        None => kernel_version(executor)?,
    };
    plan = plan_port(input, &options)?;
    let in_software =
        |kind: &QdiscKind| matches!(kind, QdiscKind::Cbs(numbers) if !numbers.offload);
    if is_unknown && plan.tree.iter().any(|qdisc| in_software(&qdisc.kind)) {
        plan.warnings.push(PlanWarning::UnknownSpeed);
    }
    let has_gates = plan.root().is_some_and(|root| root.kind.gates().is_some());
    if has_gates && !facts.is_up {
        plan.warnings.push(PlanWarning::LinkDown);
    }
    Ok(plan)
}
