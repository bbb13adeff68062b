//! Total Flow Analysis of ports with classes, on cyclic dependencies by fixed point (Thomas, Le Boudec and Mifdaoui, On Cyclic Dependencies and
//! Regulators in Time-Sensitive Networks, RTSS 2019; Mifdaoui and Leydier, Beyond the Accuracy-Complexity Tradeoffs of Compositional Analyses using
//! Network Calculus for Complex Networks, CRTS 2017).

use std::collections::BTreeMap;

use super::network::{PortNetwork, PortNetworkError, QueueId, Visit};
use super::{ClassService, ClassTraffic, TransmissionSelection};
use crate::Rational;
use crate::curve::{Curve, Extended};

/// How a fixed point is looked for, if there are cyclic dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedPoint {
    /// Delays are rounded up to a multiple of this, in seconds; it doubles after every eight rounds.
    pub grid: Rational,
    /// After so many rounds what still grows counts as infinite.
    pub rounds: u32,
}

impl Default for FixedPoint {
    /// 1 ns, 256 rounds.
    fn default() -> Self {
        Self {
            grid: Rational::from_parts(1.into(), 1_000_000_000u32.into()),
            rounds: 256,
        }
    }
}

/// Why a bound is infinite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unbounded {
    /// More arrives in the long run than is served.
    #[error(
        "{queue}: {arrival_rate:?} bit/s arrive in the long run, {service_rate:?} bit/s are served"
    )]
    Overload {
        /// The queue.
        queue: QueueId,
        /// What arrives.
        arrival_rate: Extended,
        /// What is served at least.
        service_rate: Extended,
    },
    /// Delays that depend on each other in a circle have no common bound that could be found.
    #[error(
        "{queue}: delays depend on each other in a circle, and after {rounds} rounds still grow"
    )]
    NoFixedPoint {
        /// The queue.
        queue: QueueId,
        /// How often the circle was passed.
        rounds: u32,
    },
}

/// The bounds of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueBounds {
    /// What arrives there, all streams together.
    pub arrival: Curve,
    /// What it is served.
    pub service: ClassService,
    /// The longest time from a frame's arrival to its last bit on the link, in seconds.
    pub delay: Extended,
    /// What waits or is being sent at most, in bits.
    pub backlog: Extended,
    /// What arrives in the long run divided by what is served; 0 if nothing arrives.
    pub utilisation: Extended,
    /// Why the delay is infinite.
    pub unbounded: Option<Unbounded>,
}

/// The bounds of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamBounds {
    /// The longest time from the arrival at its first step to the end of its last, in seconds.
    pub delay: Extended,
    /// The longest time less the least: by how much two frames' delays can differ, in seconds.
    pub jitter: Extended,
    /// The least time, in seconds.
    pub best_case: Rational,
    /// Why the delay is infinite.
    pub unbounded: Option<Unbounded>,
}

/// The bounds of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortBounds {
    /// Of each port and class.
    pub queues: Vec<Vec<QueueBounds>>,
    /// Of each stream.
    pub streams: Vec<StreamBounds>,
    /// How often cyclic dependencies were passed until nothing grew; 0 if there are none.
    pub rounds: u32,
}

impl PortBounds {
    /// The bounds of a queue.
    pub fn queue(&self, queue: QueueId) -> Option<&QueueBounds> {
        self.queues.get(queue.port)?.get(queue.class)
    }

    pub(crate) fn delays(&self) -> Vec<Vec<Extended>> {
        let of_port =
            |queues: &Vec<QueueBounds>| queues.iter().map(|queue| queue.delay.clone()).collect();
        self.queues.iter().map(of_port).collect()
    }
}

/// What is known of a queue during the analysis.
struct State {
    arrival: Curve,
    service: ClassService,
    delay: Extended,
}

impl PortNetwork {
    /// Total Flow Analysis: at each queue a delay for all streams of the class, and a stream's bound is the sum over its path. With `shaped`,
    /// frames that come over a link in one class are no more than its shaper and the link let through (TFA++).
    ///
    /// A stream's frames arrive at a queue as at its first, but for the jitter of its way to there. Where delays depend on each other in
    /// a circle, they are raised until each is at least what the others make of it: then they hold.
    ///
    /// # Errors
    /// None of which a network that could be made is the cause.
    pub fn total_flow(
        &self,
        shaped: bool,
        fixed_point: &FixedPoint,
    ) -> Result<PortBounds, PortNetworkError> {
        let mut delays: Vec<Vec<Extended>> = self
            .visits
            .iter()
            .map(|classes| vec![Extended::ZERO; classes.len()])
            .collect();
        let (first, circle) = self.order.split_at(self.cyclic_from);
        for queue in first {
            delays[queue.port][queue.class] = self.state(*queue, &delays, shaped)?.delay;
        }
        let mut endless = Vec::new();
        let mut rounds = 0;
        let mut grid = fixed_point.grid.clone();
        loop {
            let mut grown = Vec::new();
            for queue in circle {
                let delay = self.state(*queue, &delays, shaped)?.delay;
                let known = &mut delays[queue.port][queue.class];
                if delay > *known {
                    *known = match delay {
                        Extended::Finite(delay) => Extended::Finite(rounded_up(&delay, &grid)),
                        infinite => infinite,
                    };
                    grown.push(*queue);
                }
            }
            if circle.is_empty() || grown.is_empty() {
                break;
            }
            rounds += 1;
            if rounds % 8 == 0 {
                grid = &grid + &grid;
            }
            if rounds >= fixed_point.rounds {
                for queue in grown {
                    delays[queue.port][queue.class] = Extended::Infinity;
                    endless.push(queue);
                }
            }
        }
        self.bounds(&delays, shaped, &endless, rounds)
    }

    fn bounds(
        &self,
        delays: &[Vec<Extended>],
        shaped: bool,
        endless: &[QueueId],
        rounds: u32,
    ) -> Result<PortBounds, PortNetworkError> {
        let mut queues = Vec::with_capacity(self.ports.len());
        for (port, classes) in self.visits.iter().enumerate() {
            let mut of_port = Vec::with_capacity(classes.len());
            for class in 0..classes.len() {
                let queue = QueueId { port, class };
                let State {
                    arrival, service, ..
                } = self.state(queue, delays, shaped)?;
                let backlog = arrival.vertical_deviation(&service.minimum);
                let arrival_rate = self.arrival_rate(queue);
                let service_rate = service
                    .minimum
                    .long_term_rate()
                    .map_or(Extended::Infinity, |rate| Extended::Finite(rate.clone()));
                let utilisation = utilisation(&arrival_rate, &service_rate);
                let unbounded = if arrival_rate > service_rate {
                    Some(Unbounded::Overload {
                        queue,
                        arrival_rate,
                        service_rate,
                    })
                } else if endless.contains(&queue) {
                    Some(Unbounded::NoFixedPoint { queue, rounds })
                } else {
                    None
                };
                of_port.push(QueueBounds {
                    arrival,
                    service,
                    delay: delays[port][class].clone(),
                    backlog,
                    utilisation,
                    unbounded,
                });
            }
            queues.push(of_port);
        }
        // An infinite delay that is not a queue's own fault comes from one before it.
        let mut cause: Option<Unbounded> = None;
        for queue in &self.order {
            let bounds = &mut queues[queue.port][queue.class];
            cause = bounds.unbounded.clone().or(cause);
            if bounds.delay == Extended::Infinity && bounds.unbounded.is_none() {
                bounds.unbounded.clone_from(&cause);
            }
        }
        let mut bounds = PortBounds {
            queues,
            streams: Vec::new(),
            rounds,
        };
        bounds.streams = (0..self.streams.len())
            .map(|stream| self.stream_bounds(stream, &bounds))
            .collect();
        Ok(bounds)
    }

    fn stream_bounds(&self, stream: usize, bounds: &PortBounds) -> StreamBounds {
        let mut delay = Extended::ZERO;
        let mut unbounded = None;
        for step in &self.streams[stream].path {
            match step {
                super::Step::Delay { most, .. } => delay = delay.plus(most),
                super::Step::Queue(queue) => {
                    if let Some(queue) = bounds.queue(*queue) {
                        delay = delay.sum(&queue.delay);
                        if queue.delay == Extended::Infinity && unbounded.is_none() {
                            unbounded.clone_from(&queue.unbounded);
                        }
                    }
                }
            }
        }
        let best_case = self.best_case(stream);
        StreamBounds {
            jitter: delay.plus(&-&best_case),
            delay,
            best_case,
            unbounded,
        }
    }

    /// What arrives in the long run.
    fn arrival_rate(&self, queue: QueueId) -> Extended {
        self.visits(queue)
            .iter()
            .fold(Extended::ZERO, |sum, visit| {
                match self.streams[visit.stream].arrival.long_term_rate() {
                    Some(rate) => sum.plus(rate),
                    None => Extended::Infinity,
                }
            })
    }

    /// A queue as it is if the delays before it are these.
    fn state(
        &self,
        queue: QueueId,
        delays: &[Vec<Extended>],
        shaped: bool,
    ) -> Result<State, PortNetworkError> {
        let port = &self.ports[queue.port];
        let mut higher = Vec::with_capacity(queue.class);
        for class in 0..queue.class {
            let above = QueueId {
                port: queue.port,
                class,
            };
            let arrival = self.arrival(above, delays, shaped, None)?;
            let late = delayed(&arrival, &delays[above.port][above.class]);
            let departure = late.minimum(&port.shaping(class)?);
            higher.push(ClassTraffic { arrival, departure });
        }
        let arrival = self.arrival(queue, delays, shaped, None)?;
        let service = port.service(queue.class, &higher)?;
        let delay = if self.visits(queue).is_empty() {
            Extended::ZERO
        } else if port.classes()[queue.class].selection == TransmissionSelection::FlowQueueing {
            // Nothing is known of the order: what came first can be last in the time until nothing waits.
            let left = service.strict.residual(&arrival, &Rational::ZERO);
            left.first_above(&Extended::ZERO)
                .map_or(Extended::Infinity, Extended::Finite)
        } else {
            let shortest = &port.classes()[queue.class].shortest;
            arrival.frame_delay(shortest, &service.minimum, port.link_rate())
        };
        Ok(State {
            arrival,
            service,
            delay,
        })
    }

    /// What arrives at a queue, without one stream's visit, as `(stream, position)`.
    pub(crate) fn arrival(
        &self,
        queue: QueueId,
        delays: &[Vec<Extended>],
        shaped: bool,
        but: Option<(usize, usize)>,
    ) -> Result<Curve, PortNetworkError> {
        // What came the same way in one class was limited there.
        let mut ways: BTreeMap<(Option<QueueId>, Rational), Curve> = BTreeMap::new();
        let counts = |visit: &&Visit| Some((visit.stream, visit.position)) != but;
        for visit in self.visits(queue).iter().filter(counts) {
            let spread = &visit.most - &visit.least;
            let sum = ways.entry((visit.from, spread)).or_insert_with(Curve::zero);
            *sum = sum.sum(&self.arrival_of(visit, delays));
        }
        let mut all = Curve::zero();
        for ((from, spread), sum) in ways {
            let Some(from) = from.filter(|_| shaped) else {
                all = all.sum(&sum);
                continue;
            };
            // A frame that is complete within an interval was on the link, without a pause, at most its own length before.
            let port = &self.ports[from.port];
            let length = &port.classes()[from.class].longest / port.link_rate();
            let shaping = port.shaping(from.class)?.advanced(&(length + spread));
            all = all.sum(&sum.minimum(&from_zero(shaping)));
        }
        Ok(all)
    }

    /// A stream's frames at a queue of its path: as at its first step, but for what its delay to here varies.
    pub(crate) fn arrival_of(&self, visit: &Visit, delays: &[Vec<Extended>]) -> Curve {
        let stream = &self.streams[visit.stream];
        let mut jitter = Extended::ZERO;
        let mut position = 0;
        for step in &stream.path {
            match step {
                super::Step::Delay { least, most } => jitter = jitter.plus(&(most - least)),
                super::Step::Queue(_) if position == visit.position => break,
                super::Step::Queue(queue) => {
                    position += 1;
                    let least = self.least_delay(visit.stream, *queue);
                    let varies = delays[queue.port][queue.class].plus(&-least);
                    jitter = jitter.sum(&varies.max(Extended::ZERO));
                }
            }
        }
        delayed(&stream.arrival, &jitter)
    }
}

/// What arrives by a curve, each frame or bit late by up to a delay.
fn delayed(arrival: &Curve, delay: &Extended) -> Curve {
    match delay {
        Extended::Finite(delay) => from_zero(arrival.advanced(delay)),
        _ => Curve::constant(Extended::Infinity),
    }
}

/// An arrival curve is 0 at 0: nothing arrives in an interval without a length.
fn from_zero(mut curve: Curve) -> Curve {
    if let Some(first) = curve.pieces.first_mut() {
        first.at = Extended::ZERO;
    }
    curve
}

fn utilisation(arrival: &Extended, service: &Extended) -> Extended {
    match (arrival, service) {
        (Extended::Finite(arrival), _) if arrival.is_zero() => Extended::ZERO,
        (Extended::Finite(arrival), Extended::Finite(service)) if !service.is_zero() => {
            Extended::Finite(arrival / service)
        }
        (Extended::Finite(_), Extended::Infinity) => Extended::ZERO,
        _ => Extended::Infinity,
    }
}

/// The least multiple of `grid` that is not below.
fn rounded_up(value: &Rational, grid: &Rational) -> Rational {
    if *grid <= Rational::ZERO {
        return value.clone();
    }
    grid * Rational::from((value / grid).ceil())
}
