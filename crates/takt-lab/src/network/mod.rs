//! Network of a scenario as namespaces, devices and bridges: a pure function of the scenario.
//!
//! * A node is a network namespace. Its devices are `eth0`, `eth1` and so on, in the order of its links, as `takt tsn` names them.
//! * A link is a pair of devices. A bridge node also has the device `bridge0`.
//! * Each flow has a destination address of its own ([`flow_address`]). Bridges learn nothing and flood nothing: they forward each flow
//!   to the ports on its route in the scenario. So frames cannot loop in a ring, and routes are those of the simulator.

mod addresses;
mod bridge;
mod plan;
#[cfg(test)]
mod tests;

pub use addresses::{device_address, flow_address, publisher_ids};
pub(crate) use bridge::with_colons;
pub use bridge::{BRIDGE_DEVICE, bridge_commands, forwarding_commands};
pub(crate) use plan::file_name;
pub use plan::{
    DevicePlan, FlowPlan, ForwardingEntry, LinkPair, NetworkPlan, NetworkPlanError, NodePlan,
};
