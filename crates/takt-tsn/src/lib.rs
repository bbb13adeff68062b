//! Queueing disciplines of Linux for the ports of a scenario: plans, the commands of `tc` and `ip` that carry them out,
//! and the comparison with what the kernel holds.
//!
//! * [`plan_port`] and [`plan_scenario`] are pure: from a port of a scenario ([`PortInput`]) to the disciplines of its
//!   interface, each number with its derivation. [`script`] prints them as `tc` and `ip` commands.
//! * [`apply`] saves the earlier state, changes an interface, reads back what the kernel holds and compares. [`clear`]
//!   restores the earlier state, also after a crash. [`verify`] compares without a change. All of them run commands by
//!   an [`Executor`].
//! * [`SchedulePicture`] shows the gates of the ports on a path as text and as SVG.
//!
//! This crate opens no sockets and knows no OPC UA. Standards: IEEE 802.1Q-2022 (8.6.8 transmission selection, Table
//! 8-5, Annex L), `tc-mqprio(8)`, `tc-taprio(8)`, `tc-cbs(8)`, `tc-etf(8)`.
//!
//! ```
//! use takt_scenario::{PortIndex, Scenario};
//! use takt_tsn::{PlanOptions, PortInput, plan_port, script};
//!
//! const TEXT: &str = r#"
//! version = 1
//! discipline = "priority"
//! topology = { kind = "p2p", rate = "1 Gbit/s" }
//!
//! [disciplines.priority]
//! scheduler = "mqprio"
//! classes = [{ name = "OPC UA", priorities = [3] }, { name = "best effort" }]
//! "#;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scenario = Scenario::parse(TEXT, "two.toml")?;
//! let input = PortInput::of_scenario(&scenario, PortIndex(0)).ok_or("no port")?;
//! let plan = plan_port(&input, &PlanOptions::default())?;
//! assert_eq!(plan.classes[0].queues, 0..1);
//! let lines = script(&plan);
//! assert_eq!(lines[2], "tc qdisc replace dev eth0 root handle 100: mqprio num_tc 2 \\");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod apply;
mod class_counters;
mod commands;
mod compare;
mod derivation;
mod executor;
mod fault;
mod for_interface;
mod gate_motion;
mod interface_name;
mod kernel_state;
mod launch_fault;
mod launch_port;
mod plan;
mod qdisc;
mod read_back;
mod saved_state;
mod schedule_picture;
mod shell_command;
mod system;
mod verify;

pub use apply::{ApplyError, ApplyOutcome, ClearOutcome, apply, changes, clear};
pub use class_counters::{ClassCounters, class_counters};
pub use commands::{
    FILTER_PREFERENCE, filter_commands, gates_again, group_commands, qdisc_commands, script,
    vlan_commands, vlan_interface,
};
pub use compare::{PlanDifference, differences};
pub use derivation::Derivation;
pub use executor::{CommandResult, Executor, ExecutorError, SystemExecutor, search_path};
pub use fault::SystemFault;
pub use for_interface::{InterfacePlanError, plan_for_interface};
pub use gate_motion::GateMotion;
pub use interface_name::{LONGEST_INTERFACE_NAME, is_interface_name};
pub use kernel_state::KernelState;
pub use launch_fault::LaunchFault;
pub use launch_port::{LaunchPort, LaunchRequest, launch_port};
pub use plan::*;
pub use qdisc::*;
pub use read_back::{KernelQdisc, QdiscCounters, ReadBackError, read_marked, read_qdiscs};
pub use saved_state::{SavedState, SavedStateError, SavedStates};
pub use schedule_picture::{ScheduleGates, SchedulePicture};
pub use shell_command::{ShellCommand, shell_word};
pub use system::{
    InterfaceFacts, InterfacePlace, interface_facts, interface_place, kernel_state, kernel_version,
    network_namespace, route_interface,
};
pub use verify::{Verification, verify};
