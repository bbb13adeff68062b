//! Verification: what the kernel holds against the plan, and gates for the traffic that the network itself needs.

use takt_scenario::{Duration, GateEntry, Rate, Taprio};

use crate::compare::{PlanDifference, differences};
use crate::executor::Executor;
use crate::fault::SystemFault;
use crate::gate_motion::{GateMotion, gate_motion};
use crate::plan::{PlanWarning, PortPlan, vital_traffic};
use crate::qdisc::{GateMode, GateSchedule, QdiscKind};
use crate::system::{interface_facts, kernel_state};

/// Result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Differences from the plan. Gates that do not move are one of them.
    pub differences: Vec<PlanDifference>,
    /// Warnings about what the kernel holds.
    pub warnings: Vec<PlanWarning>,
    /// True if the interface can send.
    pub is_up: bool,
    /// Motion of the gates.
    pub gates: GateMotion,
    /// Speed of the interface, if it is known and not that of the plan.
    pub other_speed: Option<Rate>,
}

/// Compares an interface with its plan.
///
/// # Errors
/// There is no such interface, or the system cannot be asked.
pub fn verify(plan: &PortPlan, executor: &mut impl Executor) -> Result<Verification, SystemFault> {
    let facts = interface_facts(executor, &plan.interface)?;
    let (state, _) = kernel_state(executor, &plan.interface)?;
    let root = state.root().and_then(|root| root.kind.as_ref());
    let schedule = root.and_then(QdiscKind::gates);
    let speed = facts.speed.unwrap_or(plan.speed);
    let gates = match schedule {
        Some(_) => gate_motion(executor, &plan.interface)?,
        None => GateMotion::NotInKernel,
    };
    let mut differences = differences(plan, &state);
    differences.extend(stopped(&gates));
    Ok(Verification {
        differences,
        gates,
        warnings: schedule.map_or_else(Vec::new, |schedule| gate_warnings(schedule, plan, speed)),
        is_up: facts.is_up,
        other_speed: facts.speed.filter(|speed| *speed != plan.speed),
    })
}

/// Returns the difference of gates that do not move.
fn stopped(gates: &GateMotion) -> Option<PlanDifference> {
    let found = match gates {
        GateMotion::Frozen => "frozen".to_owned(),
        GateMotion::SomeFrozen(interfaces) => {
            format!("frozen at some of {}", interfaces.join(", "))
        }
        GateMotion::NotInKernel | GateMotion::Moving | GateMotion::Unknown(_) => return None,
    };
    Some(PlanDifference {
        place: "taprio:".to_owned(),
        parameter: "state of the gates".to_owned(),
        planned: "moving".to_owned(),
        found,
    })
}

/// Returns the warnings about the gates of a schedule.
fn gate_warnings(schedule: &GateSchedule, plan: &PortPlan, speed: Rate) -> Vec<PlanWarning> {
    // With txtime-assist, no gate is ever closed.
    if matches!(schedule.mode, GateMode::TxtimeAssist(_)) {
        return Vec::new();
    }
    let class = usize::from(schedule.map.classes.first().copied().unwrap_or(0));
    let entries = schedule.entries.iter().map(|(gates, interval)| GateEntry {
        gates: *gates,
        interval: Duration(interval.saturating_mul(1000)),
    });
    let taprio = Taprio {
        base_time: Duration::ZERO,
        cycle_time: Duration::ZERO,
        entries: entries.collect(),
        txtime_assist: None,
        offload: false,
        // The kernel's schedule has entries of its own for the guard band, so its windows are without it.
        guard_band: Duration::ZERO,
    };
    let name = plan
        .classes
        .get(class)
        .map_or_else(|| class.to_string(), |class| class.name.clone());
    vital_traffic(&taprio, class, &name, speed)
}
