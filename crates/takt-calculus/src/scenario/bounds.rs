//! The bounds of a scenario, with its names.

use takt_scenario::{Analysis, Flow, FlowSource, PortId, Scenario};

use super::quantities::seconds;
use super::reason::Infinite;
use crate::curve::{Curve, Extended};
use crate::{FrameDelay, Rational};

/// The bounds of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioBounds {
    /// Bounds of each application, then of each flow of cross traffic.
    pub flows: Vec<FlowBound>,
    /// Bounds of each class with a flow, at each port.
    pub queues: Vec<QueueBound>,
    /// Longest delay of each way, from its first port's queue to the end of its last link, by [`Analysis::Schedule`]. Ways
    /// whose times are not known are left out.
    pub scheduled: Vec<(FlowSource, Extended)>,
    /// Assumptions that are not checked, in words.
    pub assumptions: Vec<&'static str>,
}

impl ScenarioBounds {
    /// Returns the longest delay of a flow, from its first port's queue to the end of its last link, in seconds: the sum of the
    /// bounds of its queues and of the delays between them, or the delay by its schedule if that is shorter. For a message that a
    /// loopback sends back it bounds each way, where [`FlowBound`] bounds both together. `None` if the flow is not part of this
    /// scenario.
    pub fn of_way(&self, scenario: &Scenario, flow: &Flow) -> Option<Extended> {
        let mut delay = Extended::ZERO;
        for (position, id) in flow.ports.iter().enumerate() {
            let port = scenario.ports.get(id.0)?;
            let class = port.discipline.class_of(flow.pcp);
            let mut queues = self.queues.iter();
            let queue = queues.find(|queue| queue.port == *id && queue.class == class)?;
            let mut between = scenario.links.get(port.link.0)?.length.propagation();
            if position + 1 < flow.ports.len() {
                between = between.plus(scenario.nodes.get(port.to.0)?.forwarding_delay);
            }
            delay = delay.sum(&queue.delay).plus(&seconds(between));
        }
        let scheduled = self
            .scheduled
            .iter()
            .find(|(source, _)| *source == flow.source);
        Some(match scheduled {
            Some((_, scheduled)) => delay.min(scheduled.clone()),
            None => delay,
        })
    }
}

/// The bounds of an application, there and back if there is a loopback, or of cross traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowBound {
    /// Name of the application or cross traffic.
    pub name: String,
    /// Source of its first flow.
    pub source: FlowSource,
    /// True for a round trip.
    pub round_trip: bool,
    /// Longest delay by each analysis, in seconds, or the reason why it has none.
    pub answers: Vec<(Analysis, Result<Extended, String>)>,
    /// The least of the delays, since each holds.
    pub delay: Extended,
    /// Shortest time, in seconds.
    pub best_case: Rational,
    /// Greatest difference between delays: the delay less the shortest time.
    pub jitter: Extended,
    /// Reason why the delay is infinite.
    pub infinite: Option<Infinite>,
    /// Indices into [`ScenarioBounds::queues`] of the queues on its way, in order.
    pub queues: Vec<usize>,
}

impl FlowBound {
    /// Returns true if none of the analyses applies. The delay is then unknown, and given as infinite without a reason.
    pub fn is_unknown(&self) -> bool {
        self.infinite.is_none() && self.answers.iter().all(|(_, answer)| answer.is_err())
    }
}

/// The bounds of a class at a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueBound {
    /// The port.
    pub port: PortId,
    /// The class in the port's discipline.
    pub class: usize,
    /// Port in words.
    pub port_name: String,
    /// Name of the class.
    pub class_name: String,
    /// Arrival curve, in bits over seconds.
    pub arrival: Curve,
    /// Minimum service.
    pub service: Curve,
    /// Shortest frame, in bits, which the service does not interrupt; 0 if the model has no whole frames.
    pub shortest: Rational,
    /// Rate of the link, in bit/s.
    pub link_rate: Rational,
    /// True if frames leave in the order of their arrival.
    pub keeps_order: bool,
    /// Delay from a frame's arrival to its last bit on the link, in seconds.
    pub delay: Extended,
    /// Greatest number of bits that wait or are being sent.
    pub backlog: Extended,
    /// Long-term rate of the arrivals divided by that of the service.
    pub utilisation: Extended,
    /// Reason why the delay is infinite.
    pub infinite: Option<Infinite>,
}

impl QueueBound {
    /// Returns the place of the delay between arrivals and service. Without an order, a frame waits until no other one waits.
    /// `None` if the delay is infinite.
    pub fn longest_delay(&self) -> Option<FrameDelay> {
        if self.keeps_order {
            let (shortest, link_rate) = (&self.shortest, &self.link_rate);
            return self
                .arrival
                .longest_frame_delay(shortest, &self.service, link_rate);
        }
        let empty = self.arrival.first_not_above(&self.service)?;
        Some(FrameDelay {
            arrives: Rational::ZERO,
            begins: empty.clone(),
            bits: self.arrival.value(&empty).finite()?.clone(),
            ends: empty,
        })
    }
}
