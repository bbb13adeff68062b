//! A scenario.

use crate::Frame;
use crate::model::*;
use crate::quantity::Duration;
use crate::sweep::Sweep;

/// A scenario: checked, with all references resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// Name of the scenario.
    pub name: String,
    /// Description of the scenario.
    pub description: String,
    /// Hosts and bridges.
    pub nodes: Vec<Node>,
    /// Links between the nodes.
    pub links: Vec<Link>,
    /// Two ports for each link, in the order of the links: from its first end to its second, and back.
    pub ports: Vec<Port>,
    /// PubSub applications.
    pub applications: Vec<Application>,
    /// Other traffic.
    pub cross_traffic: Vec<CrossTraffic>,
    /// Options of `takt bounds`.
    pub bounds: BoundsOptions,
    /// Options of `takt simulate`.
    pub simulation: SimulationOptions,
    /// Measured quantities.
    pub measure: Vec<Measure>,
    /// Sweeps of the scenario's file; [`ScenarioFile::variants`](crate::ScenarioFile::variants) carries them out.
    pub sweeps: Vec<Sweep>,
    pub(crate) flows: Vec<Flow>,
}

/// Frames of one size on one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Source of the frames.
    pub source: FlowSource,
    /// Ports that the frames leave by, in order. At least one.
    pub ports: Vec<PortIndex>,
    /// Place at which a bridge makes its frames of those of another flow. `None` if they begin at a host.
    pub fork: Option<Fork>,
    /// Size of each frame.
    pub frame: Frame,
    /// Priority Code Point.
    pub pcp: u8,
    /// Mean time between two frames: the cycle of an application.
    pub interval: Duration,
}

/// Place at which a flow begins as a copy of another one: messages of an application with several subscribers are one frame until a
/// bridge replicates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fork {
    /// The flow whose frames are replicated: an earlier one of the same application.
    pub of: FlowSource,
    /// Number of ports at the beginning of the path, at least one, at which both flows are the same frame. The last of them is the
    /// other flow's own; those before may belong to earlier flows again.
    pub shared: usize,
}

impl Flow {
    /// Returns the ports at which its frames are no frames of another flow. Each port of an application's paths is the own port of one
    /// flow, so that sums over these ports count each frame once.
    pub fn own_ports(&self) -> &[PortIndex] {
        let shared = self.fork.map_or(0, |fork| fork.shared);
        self.ports.get(shared..).unwrap_or_default()
    }
}

/// Source of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowSource {
    /// Messages that an application publishes, on their way to the loopback or to the first subscriber.
    Publish(ApplicationIndex),
    /// Messages that the loopback of an application sends back.
    Return(ApplicationIndex),
    /// Cross traffic.
    Cross(CrossTrafficIndex),
    /// Messages that an application publishes, on their way to a further subscriber: the index in
    /// [`ApplicationReceiver::nodes`], from 1 on.
    Branch(ApplicationIndex, usize),
}

impl FlowSource {
    /// Returns the application of messages; `None` for cross traffic.
    pub const fn application(self) -> Option<ApplicationIndex> {
        match self {
            Self::Publish(id) | Self::Return(id) | Self::Branch(id, _) => Some(id),
            Self::Cross(_) => None,
        }
    }
}

impl Scenario {
    /// Returns all flows: those of applications, each followed by its way back or by those to further subscribers, then cross
    /// traffic, in the order of the file.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Returns the VLAN of a flow.
    pub fn vlan(&self, source: FlowSource) -> Option<u16> {
        match source {
            FlowSource::Publish(id) | FlowSource::Return(id) | FlowSource::Branch(id, _) => {
                self.applications.get(id.0).map(|it| it.vlan)
            }
            FlowSource::Cross(id) => self.cross_traffic.get(id.0).map(|it| it.vlan),
        }
    }

    /// Returns the flow of a source.
    pub fn flow(&self, source: FlowSource) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.source == source)
    }

    /// Returns the name of a flow: that of the application, with `(return)` behind it on the way back, or with the subscriber behind it
    /// (`application → node`) if there are several; or that of the cross traffic.
    pub fn flow_name(&self, source: FlowSource) -> String {
        let application =
            |id: ApplicationIndex| self.applications.get(id.0).map_or("", |it| &it.name);
        let to = |id: ApplicationIndex, index: usize| {
            let nodes = self.applications.get(id.0).map(|it| it.receiver.nodes());
            let node = nodes.filter(|nodes| nodes.len() > 1)?.get(index)?;
            let node = self.nodes.get(node.0)?;
            Some(format!("{} \u{2192} {}", application(id), node.name))
        };
        match source {
            FlowSource::Publish(id) => to(id, 0).unwrap_or_else(|| application(id).to_owned()),
            FlowSource::Branch(id, index) => to(id, index).unwrap_or_default(),
            FlowSource::Return(id) => format!("{} (return)", application(id)),
            FlowSource::Cross(id) => self
                .cross_traffic
                .get(id.0)
                .map_or_else(String::new, |it| it.name.clone()),
        }
    }

    /// Returns the name of a port: `node → node`.
    pub fn port_name(&self, port: PortIndex) -> String {
        let name = |id: NodeIndex| self.nodes.get(id.0).map_or("", |node| &node.name);
        let port = self.ports.get(port.0);
        port.map_or_else(String::new, |port| {
            format!("{} \u{2192} {}", name(port.node), name(port.to))
        })
    }
}
