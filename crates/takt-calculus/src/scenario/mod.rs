//! Bounds of a scenario: from `takt-scenario`'s nodes, ports and flows to ports and streams, and back to names.

mod loopback;
mod named;
mod paper;
mod ports;
mod reason;
mod schedule;
mod sound;
mod txtime;

pub use reason::Infinite;

use takt_scenario::{
    Analysis, BoundsModel, Clock, Duration, Flow, FlowSource, PortId, Rate, Scenario,
};

use crate::curve::{Curve, CurveError, Extended};
use crate::port::{PortError, PortNetworkError};
use crate::{Rational, ShaperError};

/// Why there are no bounds of a scenario. That something is overloaded is no reason: bounds are infinite then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioBoundsError {
    /// A port that no curve is known for.
    #[error("{port}: {what}")]
    Port {
        /// The port, as [`Scenario::port_name`] calls it.
        port: String,
        /// The reason, with the names of classes.
        what: String,
        /// The reason.
        #[source]
        reason: Box<PortError>,
    },
    /// Something that curves are not known for, or that the chosen model leaves out.
    #[error("{place}: {what}")]
    NotModelled {
        /// The port, class or flow.
        place: String,
        /// What it is.
        what: String,
    },
    /// A shaper that cannot be.
    #[error(transparent)]
    Shaper(Box<ShaperError>),
    /// A network that cannot be.
    #[error(transparent)]
    Network(Box<PortNetworkError>),
    /// A negative size or rate.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

impl From<PortNetworkError> for ScenarioBoundsError {
    fn from(error: PortNetworkError) -> Self {
        Self::Network(Box::new(error))
    }
}

impl From<ShaperError> for ScenarioBoundsError {
    fn from(error: ShaperError) -> Self {
        Self::Shaper(Box::new(error))
    }
}

/// The bounds of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioBounds {
    /// Of each application, then of each flow of cross traffic.
    pub flows: Vec<FlowBound>,
    /// Of each class that a flow is in, at each port.
    pub queues: Vec<QueueBound>,
    /// What is assumed and not checked, in words.
    pub assumptions: Vec<&'static str>,
}

impl ScenarioBounds {
    /// The longest delay of a flow, from its first port's queue to the end of its last link, in seconds: the sum of its queues' bounds and of what is between
    /// these. Of a message that a loopback sends back it bounds each way, where [`FlowBound`] bounds both together. `None` if the flow is not of this
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
        Some(delay)
    }
}

/// The bounds of an application, there and back if there is a loopback, or of cross traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowBound {
    /// What it is called.
    pub name: String,
    /// Its first flow.
    pub source: FlowSource,
    /// Whether it is a round trip.
    pub round_trip: bool,
    /// The longest delay that each analysis finds, in seconds, or why it finds none.
    pub answers: Vec<(Analysis, Result<Extended, String>)>,
    /// The least of them, since each holds.
    pub delay: Extended,
    /// The shortest time that it takes, in seconds.
    pub best_case: Rational,
    /// By how much delays can differ: the delay less the shortest time.
    pub jitter: Extended,
    /// Why the delay is infinite.
    pub infinite: Option<Infinite>,
    /// Indices into [`ScenarioBounds::queues`] of what it passes, in order.
    pub queues: Vec<usize>,
}

impl FlowBound {
    /// Whether none of the analyses applies: then nothing is known of the delay, and it stands there as infinite without a reason.
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
    /// The port in words.
    pub port_name: String,
    /// The class's name.
    pub class_name: String,
    /// What arrives, in bits over seconds.
    pub arrival: Curve,
    /// What it is served at least.
    pub service: Curve,
    /// From a frame's arrival to its last bit on the link, in seconds.
    pub delay: Extended,
    /// What waits or is being sent at most, in bits.
    pub backlog: Extended,
    /// What arrives in the long run divided by what is served.
    pub utilisation: Extended,
    /// Why the delay is infinite.
    pub infinite: Option<Infinite>,
}

/// The bounds of a scenario under a model, by these analyses.
///
/// # Errors
/// Something in it that no curve is known for.
pub fn scenario_bounds(
    scenario: &Scenario,
    model: BoundsModel,
    analyses: &[Analysis],
) -> Result<ScenarioBounds, ScenarioBoundsError> {
    match model {
        BoundsModel::Sound => sound::bounds(scenario, analyses),
        BoundsModel::Paper => paper::bounds(scenario),
    }
}

/// Seconds.
fn seconds(time: Duration) -> Rational {
    Rational::from_parts(time.picos().into(), 1_000_000_000_000u64.into())
}

/// Time by a node's clock, in seconds.
fn seconds_by(time: Duration, clock: Clock) -> Rational {
    seconds(time) / speed(clock)
}

/// Seconds that a clock gains in a second. One that stands still or runs backwards is taken for one that is as slow as can be, as in a simulation.
fn speed(clock: Clock) -> Rational {
    let billionths = 1_000_000_000i64.saturating_add(clock.drift.billionths());
    Rational::from_parts(billionths.max(1).into(), 1_000_000_000u32.into())
}

/// Bits per second.
fn bits_per_second(rate: Rate) -> Rational {
    rate.bits_per_second().into()
}

/// The way back that belongs to a flow, if there is one.
fn way_back(scenario: &Scenario, source: FlowSource) -> Option<&Flow> {
    let FlowSource::Publish(id) = source else {
        return None;
    };
    let back = FlowSource::Return(id);
    scenario.flows().iter().find(|flow| flow.source == back)
}

/// The class that a flow is in at a port.
fn class_at(scenario: &Scenario, flow: &Flow, port: PortId) -> usize {
    scenario.ports[port.0].discipline.class_of(flow.pcp)
}

fn class_name(scenario: &Scenario, port: PortId, class: usize) -> String {
    let class = scenario.ports[port.0].discipline.classes.get(class);
    class.map_or_else(String::new, |class| class.name.clone())
}
