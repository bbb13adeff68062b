//! A plan: what a port's interface shall have.

use takt_scenario::{NodeKind, Rate};

use super::input::ForwardedGroup;
use super::warning::PlanWarning;
use crate::derivation::Derivation;
use crate::qdisc::Qdisc;

/// Configuration of the interface of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortPlan {
    /// Name of the port: `node → node`.
    pub port: String,
    /// Name of the node.
    pub node: String,
    /// Kind of the node.
    pub kind: NodeKind,
    /// Name of the interface.
    pub interface: String,
    /// Speed of the interface by which numbers are computed.
    pub speed: Rate,
    /// Name of the discipline in the scenario.
    pub discipline: String,
    /// Classes, highest first.
    pub classes: Vec<PlannedClass>,
    /// Disciplines, parents first. The first one is the root.
    pub tree: Vec<Qdisc>,
    /// PCPs for which a filter sets the priority of received frames, which the kernel sets to 0: bridges only.
    pub marked: Vec<u8>,
    /// VLANs of the flows.
    pub vlans: Vec<u16>,
    /// Groups of receivers that the bridge forwards to the port.
    pub groups: Vec<ForwardedGroup>,
    /// Name of the bridge that has the interface as a port.
    pub bridge: String,
    /// True if VLAN interfaces shall be made.
    pub vlan_interfaces: bool,
    /// Origins of the numbers.
    pub derivations: Vec<Derivation>,
    /// Things that the plan cannot do, or that prevent what was probably meant.
    pub warnings: Vec<PlanWarning>,
}

/// Class of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedClass {
    /// Name in the scenario.
    pub name: String,
    /// PCPs of its frames, which are also the priorities of sockets.
    pub priorities: Vec<u8>,
    /// Numbers of its first transmit queue and of the queue behind its last one.
    pub queues: std::ops::Range<u16>,
    /// Name of its queueing discipline.
    pub queue: &'static str,
}

impl PortPlan {
    /// Returns the discipline at the root.
    pub fn root(&self) -> Option<&Qdisc> {
        self.tree.first()
    }
}
