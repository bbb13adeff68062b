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
    /// Size of each frame.
    pub frame: Frame,
    /// Priority Code Point.
    pub pcp: u8,
    /// Mean time between two frames: the cycle of an application.
    pub interval: Duration,
}

/// Source of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowSource {
    /// Messages that an application publishes.
    Publish(ApplicationIndex),
    /// Messages that the loopback of an application sends back.
    Return(ApplicationIndex),
    /// Cross traffic.
    Cross(CrossTrafficIndex),
}

impl Scenario {
    /// Returns all flows: those of applications, each followed by its way back, then cross traffic, in the order of the file.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Returns the name of a flow: that of the application, with `(return)` behind it on the way back, or of the cross traffic.
    pub fn flow_name(&self, source: FlowSource) -> String {
        let application =
            |id: ApplicationIndex| self.applications.get(id.0).map_or("", |it| &it.name);
        match source {
            FlowSource::Publish(id) => application(id).to_owned(),
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
