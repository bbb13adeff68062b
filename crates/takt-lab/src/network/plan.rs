//! Plan of a network: nodes, devices, links, flows.

use takt_link::MacAddress;
use takt_scenario::{Flow, FlowSource, LinkIndex, NodeIndex, NodeKind, PortIndex, Rate, Scenario};

use super::addresses::{device_address, flow_address};

/// Most nodes of a network. Each node and each of its ports is a thread, and each port has a buffer for its capture.
const MOST_NODES: usize = 64;

/// Network of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkPlan {
    /// Nodes, in the order of the scenario.
    pub nodes: Vec<NodePlan>,
    /// Links, in the order of the scenario.
    pub links: Vec<LinkPair>,
    /// Flows, in the order of [`Scenario::flows`].
    pub flows: Vec<FlowPlan>,
}

/// Node: a network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePlan {
    /// Name in the scenario.
    pub name: String,
    /// Kind of the node.
    pub kind: NodeKind,
    /// Devices, in the order of the node's links.
    pub devices: Vec<DevicePlan>,
    /// Flows that a bridge forwards. Empty for hosts.
    pub forwarding: Vec<ForwardingEntry>,
}

/// Device of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevicePlan {
    /// Port in the scenario.
    pub port: PortIndex,
    /// Name in the namespace of the node: `eth0`.
    pub name: String,
    /// Address.
    pub address: MacAddress,
    /// Number of transmit queues: one for each class of the port's discipline.
    pub queues: u16,
    /// VLANs of the flows that leave or enter by the port, ascending.
    pub vlans: Vec<u16>,
    /// Name of the capture at this port, without directory: `host1-to-bridge1.pcapng`. It is unique in the network.
    pub capture: String,
}

/// Link: a pair of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkPair {
    /// Link in the scenario.
    pub link: LinkIndex,
    /// Node, and index of the device in [`NodePlan::devices`], of both ends.
    pub ends: [(NodeIndex, usize); 2],
    /// Rate of each direction.
    pub rate: Rate,
    /// Time of a signal from one end to the other, in picoseconds.
    pub propagation_picos: u64,
}

/// Static entry of a bridge: frames of a flow leave by a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardingEntry {
    /// Destination address of the flow.
    pub address: MacAddress,
    /// VLAN of the flow.
    pub vlan: u16,
    /// Name of the device.
    pub device: String,
}

/// Flow with its devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowPlan {
    /// Source in the scenario.
    pub source: FlowSource,
    /// Destination address of its frames.
    pub address: MacAddress,
    /// Node and device that send.
    pub from: (NodeIndex, usize),
    /// Node and device that receive.
    pub to: (NodeIndex, usize),
}

/// Reason why the lab cannot build a scenario's network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkPlanError {
    /// An end of an application is a bridge, whose devices forward frames and have no sockets.
    #[error(
        "application {application} has an end at the bridge {node}; in the lab, only hosts have applications"
    )]
    AtBridge {
        /// Name of the application.
        application: String,
        /// Name of the bridge.
        node: String,
    },
    /// The scenario has no application.
    #[error("the scenario has no application")]
    NoApplication,
    /// The network has too many nodes.
    #[error("the network has {0} nodes; the lab builds at most {MOST_NODES}")]
    TooLarge(usize),
    /// Messages of an application leave a node by one port, and answers reach it by another one.
    #[error("application {application} sends and receives at different ports of node {node}")]
    DifferentPorts {
        /// Name of the application.
        application: String,
        /// Name of the node.
        node: String,
    },
}

impl NetworkPlan {
    /// Plans the network of a scenario.
    ///
    /// # Errors
    /// [`NetworkPlanError`].
    pub fn of(scenario: &Scenario) -> Result<Self, NetworkPlanError> {
        if scenario.applications.is_empty() {
            return Err(NetworkPlanError::NoApplication);
        }
        if scenario.nodes.len() > MOST_NODES {
            return Err(NetworkPlanError::TooLarge(scenario.nodes.len()));
        }
        let mut plan = Self {
            nodes: nodes(scenario),
            links: Vec::new(),
            flows: Vec::new(),
        };
        for (index, link) in scenario.links.iter().enumerate() {
            let ports = [PortIndex(2 * index), PortIndex(2 * index + 1)];
            let [Some(first), Some(second)] = ports.map(|port| plan.device_of(port)) else {
                continue;
            };
            plan.links.push(LinkPair {
                link: LinkIndex(index),
                ends: [first, second],
                rate: link.rate,
                // 5 ns per metre: 5 ps per millimetre.
                propagation_picos: link.length.0.saturating_mul(5),
            });
        }
        for flow in scenario.flows() {
            plan.add_flow(scenario, flow);
        }
        plan.check(scenario)?;
        Ok(plan)
    }

    /// Returns the node and the index of the device of a port.
    #[must_use]
    pub fn device_of(&self, port: PortIndex) -> Option<(NodeIndex, usize)> {
        let nodes = self.nodes.iter().enumerate();
        let mut devices = nodes.flat_map(|(node, plan)| {
            let devices = plan.devices.iter().enumerate();
            devices.map(move |(index, device)| (device.port, (NodeIndex(node), index)))
        });
        devices
            .find(|(own, _)| *own == port)
            .map(|(_, place)| place)
    }

    /// Returns the device at a place.
    #[must_use]
    pub fn device(&self, (node, index): (NodeIndex, usize)) -> Option<&DevicePlan> {
        self.nodes.get(node.0)?.devices.get(index)
    }

    /// Returns the plan of a flow.
    #[must_use]
    pub fn flow(&self, source: FlowSource) -> Option<&FlowPlan> {
        self.flows.iter().find(|flow| flow.source == source)
    }

    /// Returns the capture at the port by which a flow leaves its first node.
    #[must_use]
    pub fn capture_of(&self, source: FlowSource) -> Option<&str> {
        let device = self.device(self.flow(source)?.from)?;
        Some(&device.capture)
    }

    fn add_flow(&mut self, scenario: &Scenario, flow: &Flow) {
        let address = flow_address(scenario, flow.source);
        let vlan = scenario.vlan(flow.source).unwrap_or(1);
        let (Some(first), Some(last)) = (flow.ports.first(), flow.ports.last()) else {
            return;
        };
        let (from, to) = (self.device_of(*first), self.device_of(opposite(*last)));
        for port in &flow.ports {
            for port in [*port, opposite(*port)] {
                let place = self.device_of(port);
                let device = place
                    .and_then(|(node, index)| self.nodes.get_mut(node.0)?.devices.get_mut(index));
                if let Some(device) = device
                    && let Err(place) = device.vlans.binary_search(&vlan)
                {
                    device.vlans.insert(place, vlan);
                }
            }
        }
        // The first port is that of the sender, which does not forward. A shared port has the entry of an earlier flow.
        let shared = flow.fork.map_or(1, |fork| fork.shared.max(1));
        for port in flow.ports.iter().skip(shared) {
            let Some((node, index)) = self.device_of(*port) else {
                continue;
            };
            if let Some(node) = self.nodes.get_mut(node.0)
                && let Some(device) = node.devices.get(index)
            {
                let device = device.name.clone();
                let entry = ForwardingEntry {
                    address,
                    vlan,
                    device,
                };
                // Applications may share a group.
                if !address.is_group() || !node.forwarding.contains(&entry) {
                    node.forwarding.push(entry);
                }
            }
        }
        if let (Some(from), Some(to)) = (from, to) {
            self.flows.push(FlowPlan {
                source: flow.source,
                address,
                from,
                to,
            });
        }
    }

    /// Checks that an end of an application has one device.
    fn check(&self, scenario: &Scenario) -> Result<(), NetworkPlanError> {
        for (index, application) in scenario.applications.iter().enumerate() {
            let index = takt_scenario::ApplicationIndex(index);
            let there = self.flow(FlowSource::Publish(index));
            let back = self.flow(FlowSource::Return(index));
            let receivers = application.receiver.nodes().iter();
            let nodes = std::iter::once(&application.publisher).chain(receivers);
            let of = nodes.filter_map(|node| self.nodes.get(node.0));
            if let Some(bridge) = of.into_iter().find(|node| node.kind == NodeKind::Bridge) {
                return Err(NetworkPlanError::AtBridge {
                    application: application.name.clone(),
                    node: bridge.name.clone(),
                });
            }
            let (Some(there), Some(back)) = (there, back) else {
                continue;
            };
            for (out, into) in [(there.from, back.to), (back.from, there.to)] {
                // An end of an application has one device for both directions.
                if out != into {
                    let node = self.nodes.get(out.0.0);
                    return Err(NetworkPlanError::DifferentPorts {
                        application: application.name.clone(),
                        node: node.map_or_else(String::new, |node| node.name.clone()),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Returns the port at the other end of the link.
pub(super) const fn opposite(port: PortIndex) -> PortIndex {
    // Ports 2n and 2n + 1 are the ends of link n.
    PortIndex(port.0 ^ 1)
}

fn nodes(scenario: &Scenario) -> Vec<NodePlan> {
    let mut captures: Vec<String> = Vec::new();
    let mut nodes: Vec<NodePlan> = scenario
        .nodes
        .iter()
        .map(|node| NodePlan {
            name: node.name.clone(),
            kind: node.kind,
            devices: Vec::new(),
            forwarding: Vec::new(),
        })
        .collect();
    for (index, port) in scenario.ports.iter().enumerate() {
        let name_of = |node: NodeIndex| {
            let node = scenario.nodes.get(node.0);
            file_name(node.map_or("", |node| &node.name))
        };
        let mut capture = format!("{}-to-{}.pcapng", name_of(port.node), name_of(port.to));
        // Different names of nodes may become the same name of a file.
        while captures.contains(&capture) {
            capture = format!("{}-{index}.pcapng", capture.trim_end_matches(".pcapng"));
        }
        captures.push(capture.clone());
        let queues = u16::try_from(port.discipline.classes.len()).unwrap_or(u16::MAX);
        if let Some(node) = nodes.get_mut(port.node.0) {
            node.devices.push(DevicePlan {
                port: PortIndex(index),
                name: format!("eth{}", node.devices.len()),
                address: device_address(PortIndex(index)),
                queues: queues.max(1),
                vlans: Vec::new(),
                capture,
            });
        }
    }
    nodes
}

/// Returns a name as a part of a file name: other characters than letters, digits, `-`, `_` and inner points become `_`.
pub(crate) fn file_name(name: &str) -> String {
    let letter = |(place, c): (usize, char)| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c,
        '.' if place > 0 => c,
        _ => '_',
    };
    name.chars().enumerate().map(letter).collect()
}
