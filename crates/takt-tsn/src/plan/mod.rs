//! Plans: from a port of a scenario to the disciplines of its interface. Pure: nothing here asks the system.

mod build;
mod checks;
mod error;
mod gates;
mod input;
mod limits;
mod options;
mod port_plan;
mod priorities;
mod shaper;
mod standalone;
mod warning;

pub use build::{plan_port, plan_scenario};
pub use checks::vital_traffic;
pub use error::{KernelLimit, LimitedPart, PlanError};
pub use input::{ForwardedGroup, PortFlow, PortInput};
pub use options::{KernelVersion, PlanOptions};
pub use port_plan::{PlannedClass, PortPlan};
pub use priorities::PriorityPreset;
pub use standalone::{StandaloneDiscipline, StandalonePort};
pub use warning::PlanWarning;
