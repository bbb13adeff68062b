//! Input of a plan: a port with its discipline and its flows, from a scenario or from options.

use takt_scenario::{
    Application, Discipline, Duration, FlowSource, Frame, GroupAddress, NodeIndex, NodeKind,
    PortIndex, Rate, Scenario,
};

/// A port to be planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortInput {
    /// Name of the node.
    pub node: String,
    /// Name of the node at the other end of the link.
    pub to: String,
    /// Kind of the node.
    pub kind: NodeKind,
    /// Name of the network interface.
    pub interface: String,
    /// Rate of the link.
    pub rate: Rate,
    /// Discipline of the port.
    pub discipline: Discipline,
    /// Flows that leave by the port.
    pub flows: Vec<PortFlow>,
    /// PCPs of frames that the node forwards and that some port of it treats differently from frames without a
    /// priority. Empty for hosts.
    pub marked: Vec<u8>,
    /// VLANs of the flows that leave or enter by the port, ascending.
    pub vlans: Vec<u16>,
    /// Groups of receivers that a bridge forwards to the port. Empty for hosts.
    pub groups: Vec<ForwardedGroup>,
}

/// Group of receivers whose messages a bridge forwards to some ports only: those on the way to its subscribers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardedGroup {
    /// Names of the applications that send to it, in the order of the scenario.
    pub applications: Vec<String>,
    /// Address.
    pub address: GroupAddress,
    /// VLAN of the messages.
    pub vlan: u16,
    /// Other VLANs with this address, ascending, whose messages the node forwards, but not to this port. A bridge without VLANs tells
    /// them apart by nothing.
    pub elsewhere: Vec<u16>,
}

/// A flow at a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortFlow {
    /// Name.
    pub name: String,
    /// Frame.
    pub frame: Frame,
    /// Mean time between two frames.
    pub interval: Duration,
    /// Priority Code Point.
    pub pcp: u8,
}

impl PortInput {
    /// Returns a port of a scenario. The interface is `eth` with the number of the port at its node, in the order of
    /// the links. `None` if there is no such port.
    pub fn of_scenario(scenario: &Scenario, port: PortIndex) -> Option<Self> {
        let this = scenario.ports.get(port.0)?;
        let node = scenario.nodes.get(this.node.0)?;
        let link = scenario.links.get(this.link.0)?;
        let flows = scenario
            .flows()
            .iter()
            .filter(|flow| flow.own_ports().contains(&port));
        let flows = flows.map(|flow| PortFlow {
            name: name_at_port(scenario, flow.source),
            frame: flow.frame,
            interval: flow.interval,
            pcp: flow.pcp,
        });
        Some(Self {
            node: node.name.clone(),
            to: name_of(scenario, this.to),
            kind: node.kind,
            interface: interface_name(scenario, port),
            rate: link.rate,
            discipline: this.discipline.clone(),
            flows: flows.collect(),
            marked: marked(scenario, this.node, node.kind),
            vlans: vlans(scenario, this.link.0),
            groups: groups(scenario, port, node.kind),
        })
    }

    /// Returns a port without a scenario.
    pub fn of_options(interface: &str, rate: Rate, discipline: Discipline) -> Self {
        Self {
            node: "this host".to_owned(),
            to: "network".to_owned(),
            kind: NodeKind::Host,
            interface: interface.to_owned(),
            rate,
            discipline,
            flows: Vec::new(),
            marked: Vec::new(),
            vlans: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Returns the name of the port.
    pub fn name(&self) -> String {
        format!("{} \u{2192} {}", self.node, self.to)
    }
}

/// Returns the name of a flow at one of its ports. Messages to several subscribers have the name of the application, since a frame there
/// can be that of several branches.
fn name_at_port(scenario: &Scenario, source: FlowSource) -> String {
    let application = match source {
        FlowSource::Publish(id) | FlowSource::Branch(id, _) => scenario.applications.get(id.0),
        FlowSource::Return(_) | FlowSource::Cross(_) => None,
    };
    application.map_or_else(|| scenario.flow_name(source), |it| it.name.clone())
}

fn name_of(scenario: &Scenario, node: NodeIndex) -> String {
    scenario
        .nodes
        .get(node.0)
        .map_or_else(String::new, |node| node.name.clone())
}

/// Returns the default name of a port's interface: `eth0` for the node's first link, `eth1` for its second.
fn interface_name(scenario: &Scenario, port: PortIndex) -> String {
    let node = scenario.ports.get(port.0).map(|port| port.node);
    let earlier = scenario.ports.iter().take(port.0);
    format!(
        "eth{}",
        earlier.filter(|other| Some(other.node) == node).count()
    )
}

fn marked(scenario: &Scenario, node: NodeIndex, kind: NodeKind) -> Vec<u8> {
    if kind == NodeKind::Host {
        return Vec::new();
    }
    let ports = scenario.ports.iter().filter(|port| port.node == node);
    let disciplines: Vec<&Discipline> = ports.map(|port| &port.discipline).collect();
    let differs = |pcp: &u8| {
        let mut disciplines = disciplines.iter();
        disciplines.any(|discipline| discipline.class_of(*pcp) != discipline.class_of(0))
    };
    (1..8).filter(differs).collect()
}

/// Returns the groups that a bridge forwards to a port: those that the file names, and those of messages to several subscribers.
fn groups(scenario: &Scenario, port: PortIndex, kind: NodeKind) -> Vec<ForwardedGroup> {
    let mut groups: Vec<ForwardedGroup> = Vec::new();
    let flows = scenario.flows().iter().filter(|_| kind == NodeKind::Bridge);
    for flow in flows.filter(|flow| flow.own_ports().contains(&port)) {
        let (FlowSource::Publish(id) | FlowSource::Branch(id, _)) = flow.source else {
            continue;
        };
        let Some(application) = scenario.applications.get(id.0) else {
            continue;
        };
        let Some(address) = group_of(application) else {
            continue;
        };
        let name = application.name.clone();
        let mut known = groups.iter_mut();
        match known.find(|it| it.address == address && it.vlan == application.vlan) {
            Some(known) => known.applications.push(name),
            None => groups.push(ForwardedGroup {
                applications: vec![name],
                address,
                vlan: application.vlan,
                elsewhere: Vec::new(),
            }),
        }
    }
    for group in &mut groups {
        group.elsewhere = elsewhere(scenario, port, group.address);
    }
    groups
}

/// Returns the group of an application; `None` if the scenario chose it and has one subscriber, so that no entry is needed.
fn group_of(application: &Application) -> Option<GroupAddress> {
    let is_multicast = application.receiver.nodes().len() > 1;
    let default = is_multicast.then_some(GroupAddress::Ethernet(application.group));
    application.written_group.or(default)
}

/// Returns the VLANs of messages to a group that the node of a port forwards, but not to this port.
fn elsewhere(scenario: &Scenario, port: PortIndex, address: GroupAddress) -> Vec<u16> {
    let node_of = |port: &PortIndex| scenario.ports.get(port.0).map(|it| it.node);
    let node = scenario.ports.get(port.0).map(|it| it.node);
    // A link has the ports 2 n and 2 n + 1. Nothing is sent back.
    let back = PortIndex(port.0 ^ 1);
    let applications = scenario.applications.iter().enumerate();
    let of_group = applications.filter(|(_, it)| group_of(it) == Some(address));
    let vlans = of_group.filter_map(|(index, application)| {
        let flows = scenario.flows().iter().filter(|flow| match flow.source {
            FlowSource::Publish(id) | FlowSource::Branch(id, _) => id.0 == index,
            _ => false,
        });
        let ports: Vec<&PortIndex> = flows.flat_map(|flow| &flow.ports).collect();
        let is_here = ports.iter().any(|it| node_of(it) == node);
        let is_counted = ports.iter().any(|it| **it == port || **it == back);
        (is_here && !is_counted).then_some(application.vlan)
    });
    let mut vlans: Vec<u16> = vlans.collect();
    vlans.sort_unstable();
    vlans.dedup();
    vlans
}

fn vlans(scenario: &Scenario, link: usize) -> Vec<u16> {
    let ports = [PortIndex(2 * link), PortIndex(2 * link + 1)];
    let flows = scenario.flows().iter();
    let here = flows.filter(|flow| flow.ports.iter().any(|port| ports.contains(port)));
    let vlans = here.filter_map(|flow| scenario.vlan(flow.source));
    let mut vlans: Vec<u16> = vlans.collect();
    vlans.sort_unstable();
    vlans.dedup();
    vlans
}
