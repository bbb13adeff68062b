//! Kind of device that joins two nodes. Backends differ in it.

use std::path::Path;

use takt_tsn::ShellCommand;

use super::node::LabNode;
use crate::error::LabError;
use crate::network::{DevicePlan, LinkPair};

/// Link to be made: its plan, the nodes and devices at both ends, and the time that the node of each end needs to forward a frame.
#[derive(Debug, Clone, Copy)]
pub struct LinkSite<'a> {
    /// Plan of the link: rate and propagation.
    pub link: &'a LinkPair,
    /// Node and device of the first end.
    pub first: (&'a LabNode, &'a DevicePlan),
    /// Node and device of the second end.
    pub second: (&'a LabNode, &'a DevicePlan),
    /// Least and greatest forwarding delay of the nodes at both ends, in picoseconds: 0 for hosts.
    pub forwarding_delays: [(u64, u64); 2],
    /// Seed of these delays at both ends, as the simulator draws them ([`takt_sim::forwarding_seed`]).
    pub forwarding_seeds: [u64; 2],
}

/// Kind of device that joins two nodes.
pub trait LinkDevice: std::fmt::Debug + Send + Sync {
    /// Returns the name for people and for `run.json`: `veth`.
    fn name(&self) -> &'static str;

    /// Returns true if the devices send at the rate of the link.
    fn has_rate(&self) -> bool;

    /// Returns true if the devices do what a network card for TSN does: they keep launch times and gates (offload of ETF and TAPRIO), and
    /// tell captures when the first bit of a frame is sent.
    fn has_offloads(&self) -> bool;

    /// Makes both devices with their names, numbers of queues and addresses, each in the namespace of its node. They are switched on
    /// later.
    ///
    /// # Errors
    /// [`LabError`].
    fn create(&self, site: &LinkSite<'_>) -> Result<(), LabError>;
}

/// Returns true if the device does what the scenario offloads in a run. `configures`: the run has the scenario's disciplines. Without them,
/// no discipline asks the device.
pub(crate) fn offloads(device: &dyn LinkDevice, configures: bool) -> bool {
    device.has_offloads() && configures
}

/// Pair of virtual Ethernet devices. It has no rate: a frame is at the other end at once, so queues stay empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Veth;

impl LinkDevice for Veth {
    fn name(&self) -> &'static str {
        "veth"
    }

    fn has_rate(&self) -> bool {
        false
    }

    fn has_offloads(&self) -> bool {
        false
    }

    fn create(&self, site: &LinkSite<'_>) -> Result<(), LabError> {
        let [(first, one), (second, other)] = [site.first, site.second];
        first.commands(vec![veth_command(one, other, second.namespace())])
    }
}

/// Returns the command that makes a pair of devices, the second one in another namespace.
fn veth_command(one: &DevicePlan, other: &DevicePlan, namespace: &Path) -> ShellCommand {
    let device = |plan: &DevicePlan| {
        let address = crate::network::with_colons(plan.address);
        let (name, queues) = (&plan.name, plan.queues);
        format!("name {name} address {address} numtxqueues {queues} numrxqueues {queues}")
    };
    ShellCommand::new(
        "ip",
        [
            format!("link add {}", device(one)),
            format!("type veth peer {}", device(other)),
            format!("netns {}", namespace.display()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::super::RatedLink;
    use super::*;

    #[test]
    fn nothing_is_offloaded_without_the_disciplines_of_the_scenario() {
        assert!(offloads(&RatedLink, true));
        assert!(!offloads(&RatedLink, false));
        assert!(!offloads(&Veth, true));
    }
}
