//! Total Flow Analysis of ports with classes, on cyclic dependencies by fixed point (Thomas, Le Boudec and Mifdaoui, On Cyclic
//! Dependencies and Regulators in Time-Sensitive Networks, RTSS 2019; Mifdaoui and Leydier, Beyond the Accuracy-Complexity
//! Tradeoffs of Compositional Analyses using Network Calculus for Complex Networks, CRTS 2017).
//!
//! It is here, beside that of networks, because the service of a class depends on the traffic of the higher classes of its port,
//! because the queues of scenarios can depend on each other in a circle, and because the other analyses of ports use its delays.

use std::collections::{BTreeMap, BTreeSet};

use super::arrivals::delayed;
use super::bounds::{FixedPoint, PortBounds, QueueBounds, StreamBounds, Unbounded};
use super::delays::QueueDelays;
use super::network::{PortNetwork, PortNetworkError, QueueId};
use super::{ClassService, ClassTraffic, Step};
use crate::Rational;
use crate::curve::{Curve, Extended};

/// Number of rounds through a circle after which the grid doubles, and endless growth is looked for.
const ROUNDS: u32 = 8;

/// State of a queue during the analysis.
#[derive(Clone)]
pub(super) struct State {
    pub(super) arrival: Curve,
    pub(super) service: ClassService,
    /// Current delays of the queue. They grow until they are valid; [`Progress::lower`] then lowers them again.
    pub(super) delays: QueueDelays,
}

/// State of the analysis.
pub(super) struct Progress<'a> {
    pub(super) network: &'a PortNetwork,
    pub(super) shaped: bool,
    /// Classes of each port that have been analysed so far, the highest first.
    pub(super) states: Vec<Vec<State>>,
    /// Jitters of each stream, at each queue of its path: the variation of the delay to there.
    pub(super) jitters: Vec<Vec<Extended>>,
}

impl Progress<'_> {
    /// Returns the arrivals, the service and the delay of a queue, computed from the current state.
    pub(super) fn look(&self, queue: QueueId) -> Result<State, PortNetworkError> {
        let network = self.network;
        let port = &network.ports[queue.port];
        // The first round visits a port's higher classes before the lower ones, so that their states exist.
        let above = &self.states[queue.port][..queue.class];
        let mut higher = Vec::with_capacity(queue.class);
        for (class, state) in above.iter().enumerate() {
            let late = delayed(&state.arrival, state.delays.longest());
            let departure = late.minimum(&port.shaping(class)?);
            let arrival = state.arrival.clone();
            higher.push(ClassTraffic { arrival, departure });
        }
        let arrival = network.arrival(queue, &self.jitters, self.shaped, None)?;
        let service = port.service(queue.class, &higher)?;
        let longest = network.queue_delay(queue, &arrival, &service);
        let delays = match network.round_robin(queue, &service.strict) {
            Some(round_robin) => {
                let flows = network.fair_flows(queue, &self.jitters, self.shaped)?;
                QueueDelays::of_each(round_robin.delays(&flows, &longest))
            }
            None => QueueDelays::of_all(longest),
        };
        Ok(State {
            arrival,
            service,
            delays,
        })
    }

    /// Analyses a queue again. Returns true if a delay grew. Grown delays are rounded up to the grid, if there is one.
    fn pass(&mut self, queue: QueueId, grid: Option<&Rational>) -> Result<bool, PortNetworkError> {
        let mut state = self.look(queue)?;
        let before = self.states[queue.port].get(queue.class);
        let nothing = QueueDelays::ZERO;
        let known = before.map_or(&nothing, |state| &state.delays);
        let grown = state.delays.grow_from(known, grid);
        match self.states[queue.port].get_mut(queue.class) {
            Some(known) => *known = state,
            None => self.states[queue.port].push(state),
        }
        self.carry_on(queue);
        Ok(grown)
    }

    /// Lowers valid delays to the values that follow from each other: these are valid as well.
    fn lower(&mut self, circle: &[QueueId]) -> Result<(), PortNetworkError> {
        self.carry_all_on();
        for queue in circle {
            let mut state = self.look(*queue)?;
            let known = &mut self.states[queue.port][queue.class];
            state.delays.lower_to(&known.delays);
            *known = state;
            self.carry_on(*queue);
        }
        Ok(())
    }

    /// Updates the jitters behind a queue from its delay.
    pub(super) fn carry_on(&mut self, queue: QueueId) {
        let delays = &self.states[queue.port][queue.class].delays;
        for visit in self.network.visits(queue) {
            let least = self.network.least_delay(visit.stream, queue);
            let delay = delays.of((visit.stream, visit.position));
            let varies = delay.plus(&-least).max(Extended::ZERO);
            for stream in self.network.carried(visit) {
                let variations = &self.network.variations[stream];
                let Some(variation) = variations.get(visit.position + 1) else {
                    continue;
                };
                let of_stream = &mut self.jitters[stream];
                let jitter = of_stream[visit.position].sum(&varies);
                of_stream[visit.position + 1] = variation.behind(jitter);
            }
        }
    }

    /// Updates all jitters from the current delays.
    pub(super) fn carry_all_on(&mut self) {
        let nothing = QueueDelays::ZERO;
        for stream in 0..self.jitters.len() {
            for position in 1..self.jitters[stream].len() {
                let queue = self.network.queues[stream][position - 1];
                let known = self.states[queue.port].get(queue.class);
                let delays = known.map_or(&nothing, |state| &state.delays);
                let owner = self.network.owner(stream, position - 1);
                let delay = delays.of((owner, position - 1));
                let least = self.network.least_delay(stream, queue);
                let varies = delay.plus(&-least).max(Extended::ZERO);
                let jitter = self.jitters[stream][position - 1].sum(&varies);
                self.jitters[stream][position] =
                    self.network.variations[stream][position].behind(jitter);
            }
        }
    }
}

impl PortNetwork {
    /// Computes Total Flow Analysis: at each queue a delay for all streams of the class; a stream's bound is the sum over its
    /// path. With `shaped`, frames that come over a link in one class are limited by its shaper and the link (TFA++).
    ///
    /// A stream's frames arrive at a queue as at its first, apart from the jitter of the way to there. Where delays depend on
    /// each other in a circle, they are raised until each is at least the delay that follows from the others: then they hold.
    ///
    /// # Errors
    /// None that a valid network can cause.
    pub fn total_flow(
        &self,
        shaped: bool,
        fixed_point: &FixedPoint,
    ) -> Result<PortBounds, PortNetworkError> {
        let lines = match self.is_cyclic() {
            true => self.with_lines()?,
            false => None,
        };
        let lines = lines.map(|lines| lines.total_flow(shaped, fixed_point));
        self.total_flow_beside(lines.transpose()?.as_ref(), shaped, fixed_point)
    }

    /// Computes the same, if the result for the network with lines instead of steps is known.
    pub(super) fn total_flow_beside(
        &self,
        lines: Option<&PortBounds>,
        shaped: bool,
        fixed_point: &FixedPoint,
    ) -> Result<PortBounds, PortNetworkError> {
        let jitters = self.variations.iter().map(|variations| {
            let mut jitter = Extended::ZERO;
            let jitters = variations.iter().map(|variation| {
                jitter = variation.behind(std::mem::replace(&mut jitter, Extended::ZERO));
                jitter.clone()
            });
            jitters.collect()
        });
        let mut progress = Progress {
            network: self,
            shaped,
            states: self.ports.iter().map(|_| Vec::new()).collect(),
            jitters: jitters.collect(),
        };
        let mut grid = fixed_point.grid.clone();
        let (first, circle) = self.order.split_at(self.cyclic_from);
        let rounded = self.hops() > fixed_point.exact_up_to;
        for queue in first {
            progress.pass(*queue, rounded.then_some(&grid))?;
        }
        let mut endless: BTreeMap<QueueId, Option<Rational>> = BTreeMap::new();
        let mut growing = BTreeSet::new();
        let mut rounds = 0;
        while !circle.is_empty() {
            // Within a round, a jitter only reaches the next queue of its path. Here it reaches all queues behind.
            progress.carry_all_on();
            let mut grown = Vec::new();
            for queue in circle {
                if progress.pass(*queue, Some(&grid))? {
                    grown.push(*queue);
                }
            }
            if grown.is_empty() {
                break;
            }
            rounds += 1;
            growing.extend(grown.iter().copied());
            let mut growth = None;
            if rounds % ROUNDS == 0 {
                // On a coarser grid, delays reach a fixed point in fewer rounds.
                grid = &grid + &grid;
                growth = progress.growth(circle, &growing)?;
                if growth.is_some() {
                    grown = growing.iter().copied().collect();
                }
                growing.clear();
            }
            if growth.is_some() || rounds >= fixed_point.rounds {
                for queue in grown {
                    // The rounds go on: other delays may follow from these. Infinite ones do not grow, so the rounds end.
                    progress.states[queue.port][queue.class].delays = QueueDelays::INFINITE;
                    endless.insert(queue, growth.clone());
                }
            }
        }
        if !circle.is_empty()
            && let Some(lines) = lines
        {
            // Steps and lines are rounded differently, so that lines may give the lower bound; or steps have a fixed point where
            // lines have none.
            for queue in circle {
                let known = &mut progress.states[queue.port][queue.class].delays;
                known.lower_to(&lines.queues[queue.port][queue.class].delays);
            }
            progress.lower(circle)?;
            endless.retain(|queue, _| {
                *progress.states[queue.port][queue.class].delays.longest() == Extended::Infinity
            });
        }
        Ok(self.bounds(progress, &endless, rounds))
    }

    /// Returns the results. `endless` has the queues without a fixed point, with the factor by which their delays grow.
    fn bounds(
        &self,
        progress: Progress<'_>,
        endless: &BTreeMap<QueueId, Option<Rational>>,
        rounds: u32,
    ) -> PortBounds {
        let mut queues = Vec::with_capacity(self.ports.len());
        for (port, states) in progress.states.into_iter().enumerate() {
            let of_port = states.into_iter().enumerate().map(|(class, state)| {
                let queue = QueueId { port, class };
                let rate = |curve: &Curve| {
                    let rate = curve.long_term_rate();
                    rate.map_or(Extended::Infinity, |rate| Extended::Finite(rate.clone()))
                };
                // Arrivals are limited by the ports before. Where the delays of these have no bound and nothing else limits their
                // output, all sent frames arrive in the end.
                let (sent, arrived) = (self.arrival_rate(queue), rate(&state.arrival));
                let arrival_rate = sent.clone().min(arrived.clone());
                let service_rate = rate(&state.service.minimum);
                let utilisation = utilisation(&arrival_rate, &service_rate);
                let is_own = arrived != Extended::Infinity || sent == Extended::Infinity;
                let unbounded = if arrival_rate > service_rate && is_own {
                    Some(Unbounded::Overload {
                        queue,
                        arrival_rate,
                        service_rate,
                    })
                } else {
                    endless.get(&queue).map(|growth| Unbounded::NoFixedPoint {
                        queue,
                        rounds,
                        growth: growth.clone(),
                    })
                };
                QueueBounds {
                    backlog: state.arrival.vertical_deviation(&state.service.minimum),
                    arrival: state.arrival,
                    service: state.service,
                    delay: state.delays.longest().clone(),
                    delays: state.delays,
                    utilisation,
                    unbounded,
                }
            });
            queues.push(of_port.collect::<Vec<_>>());
        }
        // A queue can have an infinite delay without being overloaded itself. The cause is then a queue that it depends on: one
        // before it, or a higher class of its port. On circles this queue can come later in the order, which is why all are
        // passed again until nothing changes.
        let mut found = true;
        while std::mem::take(&mut found) {
            for queue in &self.order {
                let bounds = &queues[queue.port][queue.class];
                if bounds.delay != Extended::Infinity || bounds.unbounded.is_some() {
                    continue;
                }
                let before = self.visits(*queue).iter().filter_map(|visit| visit.from);
                let above = (0..queue.class).map(|class| QueueId {
                    port: queue.port,
                    class,
                });
                let mut causes = before
                    .chain(above)
                    .filter_map(|source| queues[source.port][source.class].unbounded.clone());
                if let Some(cause) = causes.next() {
                    queues[queue.port][queue.class].unbounded = Some(cause);
                    found = true;
                }
            }
        }
        let mut bounds = PortBounds {
            queues,
            streams: Vec::new(),
            rounds,
            jitters: progress.jitters,
        };
        bounds.streams = (0..self.streams.len())
            .map(|stream| self.stream_bounds(stream, &bounds))
            .collect();
        bounds
    }

    fn stream_bounds(&self, stream: usize, bounds: &PortBounds) -> StreamBounds {
        let mut delay = Extended::ZERO;
        let mut unbounded = None;
        let mut position = 0;
        for step in &self.streams[stream].path {
            if let Some((_, most)) = step.delay() {
                delay = delay.plus(most);
            }
            if let Step::Queue(queue) = step
                && let Some(queue) = bounds.queue(*queue)
            {
                let of_stream = queue.delays.of((self.owner(stream, position), position));
                position += 1;
                delay = delay.sum(of_stream);
                if *of_stream == Extended::Infinity && unbounded.is_none() {
                    unbounded.clone_from(&queue.unbounded);
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

    /// Returns the long-term rate of the arrivals.
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

    /// Returns the longest delay of all streams at a queue with these arrivals.
    fn queue_delay(&self, queue: QueueId, arrival: &Curve, service: &ClassService) -> Extended {
        let port = &self.ports[queue.port];
        let class = &port.classes()[queue.class];
        if self.visits(queue).is_empty() {
            Extended::ZERO
        } else if !class.selection.keeps_order() {
            // The frame that came first can be the last one of the busy period.
            let empty = arrival.first_not_above(&service.strict);
            empty.map_or(Extended::Infinity, Extended::Finite)
        } else {
            arrival.frame_delay(&class.shortest, &service.minimum, port.link_rate())
        }
    }
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
