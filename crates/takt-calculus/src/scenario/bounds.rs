//! The bounds of a scenario, with its names.

use takt_scenario::{Analysis, FlowSource, PortIndex};

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
    /// Longest delay of each way, from its first port's queue to the end of its last link, for any phases of applications and
    /// gates.
    pub ways: Vec<(FlowSource, Extended)>,
    /// The same from the first bit that leaves the first port, for any phases.
    pub ways_from_first_bit: Vec<(FlowSource, Extended)>,
    /// The same by the analysis `schedule`, of the ways that it knows, from the queue: for the phases of the scenario.
    pub scheduled_ways: Vec<(FlowSource, Extended)>,
    /// Assumptions that are not checked, in words.
    pub assumptions: Vec<&'static str>,
    /// Assumptions that the realisation of the disciplines breaks, in words: a frame can be later than a bound there.
    pub broken: Vec<&'static str>,
}

impl ScenarioBounds {
    /// Returns the longest delay of a way, from its first port's queue to the end of its last link, in seconds. For a message that
    /// a loopback sends back it bounds each way, where [`FlowBound`] bounds both together. `None` if it is not known.
    pub fn of_way(&self, source: FlowSource) -> Option<&Extended> {
        let ways = [
            least(&self.ways, source),
            least(&self.scheduled_ways, source),
        ];
        ways.into_iter().flatten().min()
    }

    /// Returns the longest delay of a way from the first bit that leaves its first port to the end of its last link, in seconds.
    pub fn of_way_from_first_bit(&self, source: FlowSource) -> Option<&Extended> {
        let ways = [
            least(&self.ways_from_first_bit, source),
            self.of_way(source),
        ];
        ways.into_iter().flatten().min()
    }

    /// Returns the reasons of infinite delays at ports, in words with port and class.
    pub fn reasons(&self) -> Vec<String> {
        let reasons = self.queues.iter().filter_map(|it| it.infinite.as_ref());
        reasons.map(ToString::to_string).collect()
    }

    /// States that the analysis `schedule` does not apply to gates in software: frames in the driver are not gated.
    pub(super) fn refuse_schedule(&mut self) {
        for flow in &mut self.flows {
            let reason = "sch_taprio in software: frames in the driver pass closed gates";
            flow.answers
                .push((Analysis::Schedule, Err(reason.to_owned())));
        }
    }

    /// Returns true if [`Self::of_way`] holds only for the phases of the scenario between applications and gates.
    pub fn way_needs_phases(&self, source: FlowSource) -> bool {
        let any = least(&self.ways, source);
        let scheduled = least(&self.scheduled_ways, source);
        scheduled.is_some_and(|scheduled| any.is_none_or(|any| scheduled < any))
    }
}

fn least(ways: &[(FlowSource, Extended)], source: FlowSource) -> Option<&Extended> {
    let ways = ways.iter().filter(|(way, _)| *way == source);
    ways.map(|(_, delay)| delay).min()
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
    /// Longest delay from its first port's queue, without the lateness of the Publisher's thread before it.
    pub from_queue: Extended,
    /// Longest delay from the first bit that leaves its first port (T2). `None` in the paper's model, which has no bound for it.
    pub from_first_bit: Option<Extended>,
    /// Longest round trip of the application, in seconds: from the Publisher's thread that hands the message over (T1) to the one
    /// that takes it when it is back (T8). `None` without a loopback.
    pub application_round_trip: Option<Extended>,
    /// True if `from_queue` holds only for the phases of the scenario between applications and gates: it is that of the analysis
    /// `schedule`.
    pub needs_phases: bool,
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
    pub port: PortIndex,
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
    /// Returns where the delay is longest, between arrivals and service. If the queue is not FIFO, a frame may wait until the queue is
    /// empty.
    /// `None` if the delay is infinite, and if flows take turns so that the delay is below that.
    pub fn longest_delay(&self) -> Option<FrameDelay> {
        if self.keeps_order {
            let (shortest, link_rate) = (&self.shortest, &self.link_rate);
            return self
                .arrival
                .longest_frame_delay(shortest, &self.service, link_rate);
        }
        let empty = self.arrival.first_not_above(&self.service)?;
        if self.delay < Extended::Finite(empty.clone()) {
            return None;
        }
        Some(FrameDelay {
            arrives: Rational::ZERO,
            begins: empty.clone(),
            bits: self.arrival.value(&empty).finite()?.clone(),
            ends: empty,
        })
    }
}
