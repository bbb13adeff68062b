//! Bounds of a scenario: translates nodes, ports and flows of `takt-scenario` to ports and streams, and the results back to
//! names.

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

/// Reasons why a scenario has no bounds. Overload is no such reason: bounds are infinite then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioBoundsError {
    /// A port without known curves.
    #[error("{port}: {what}")]
    Port {
        /// Name of the port, by [`Scenario::port_name`].
        port: String,
        /// The reason, with the names of classes.
        what: String,
        /// The reason.
        #[source]
        reason: Box<PortError>,
    },
    /// A part without known curves, or one that the chosen model leaves out.
    #[error("{place}: {what}")]
    NotModelled {
        /// The port, class or flow.
        place: String,
        /// Description of the part.
        what: String,
    },
    /// An invalid shaper.
    #[error(transparent)]
    Shaper(Box<ShaperError>),
    /// An invalid network.
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
    /// Bounds of each application, then of each flow of cross traffic.
    pub flows: Vec<FlowBound>,
    /// Bounds of each class with a flow, at each port.
    pub queues: Vec<QueueBound>,
    /// Assumptions that are not checked, in words.
    pub assumptions: Vec<&'static str>,
}

impl ScenarioBounds {
    /// Returns the longest delay of a flow, from its first port's queue to the end of its last link, in seconds: the sum of the
    /// bounds of its queues and of the delays between them. For a message that a loopback sends back it bounds each way, where
    /// [`FlowBound`] bounds both together. `None` if the flow is not part of this scenario.
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
    /// Delay from a frame's arrival to its last bit on the link, in seconds.
    pub delay: Extended,
    /// Greatest number of bits that wait or are being sent.
    pub backlog: Extended,
    /// Long-term rate of the arrivals divided by that of the service.
    pub utilisation: Extended,
    /// Reason why the delay is infinite.
    pub infinite: Option<Infinite>,
}

/// Returns the bounds of a scenario under a model, by these analyses.
///
/// # Errors
/// A part of the scenario without known curves.
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

/// Converts a time to seconds.
fn seconds(time: Duration) -> Rational {
    Rational::from_parts(time.picos().into(), 1_000_000_000_000u64.into())
}

/// Converts a time by a node's clock to seconds.
fn seconds_by(time: Duration, clock: Clock) -> Rational {
    seconds(time) / speed(clock)
}

/// Returns the seconds that a clock advances in a second. A clock that stands still or runs backwards counts as one of the lowest
/// speed, as in a simulation.
fn speed(clock: Clock) -> Rational {
    let billionths = 1_000_000_000i64.saturating_add(clock.drift.billionths());
    Rational::from_parts(billionths.max(1).into(), 1_000_000_000u32.into())
}

/// Converts a rate to bits per second.
fn bits_per_second(rate: Rate) -> Rational {
    rate.bits_per_second().into()
}

/// Returns the way back of a flow, if there is one.
fn way_back(scenario: &Scenario, source: FlowSource) -> Option<&Flow> {
    let FlowSource::Publish(id) = source else {
        return None;
    };
    let back = FlowSource::Return(id);
    scenario.flows().iter().find(|flow| flow.source == back)
}

/// Returns the class of a flow at a port.
fn class_at(scenario: &Scenario, flow: &Flow, port: PortId) -> usize {
    scenario.ports[port.0].discipline.class_of(flow.pcp)
}

fn class_name(scenario: &Scenario, port: PortId, class: usize) -> String {
    let class = scenario.ports[port.0].discipline.classes.get(class);
    class.map_or_else(String::new, |class| class.name.clone())
}
