//! Results with the scenario's names.

use takt_scenario::{Analysis, Duration, Flow, PortIndex};

use super::bounds::{FlowBound, QueueBound, ScenarioBounds};
use super::error::ScenarioBoundsError;
use super::quantities::{seconds, way_back};
use super::realisation::Realisation;
use super::reason::{Infinite, names};
use super::schedule::{self, Ways};
use super::sound::{
    AS_IN_802_1Q, ASSUMPTIONS, BROKEN_BY_CBS, BROKEN_BY_TAPRIO, FRAMES_IN_DRIVER, Mapping,
    OF_FAIR_QUEUEING, OF_INSTANT_BRIDGES, OF_SOFTWARE_GATES, OF_SOFTWARE_SHAPERS,
    ONE_FRAME_IN_DRIVER, branch,
};
use crate::FrameBits;
use crate::curve::{Curve, CurveError, Extended};
use crate::port::{
    EgressPort, NotApplicable, NotScheduled, PortAnalyses, QueueId, Step, Stream,
    TransmissionSelection, Unbounded,
};

impl Mapping<'_> {
    /// Adds the bounds that follow from the times in the cycle of gates at which applications send.
    pub(super) fn add_schedule(
        &self,
        bounds: &mut ScenarioBounds,
    ) -> Result<(), ScenarioBoundsError> {
        let flows: Vec<&Flow> = self.scenario.flows().iter().collect();
        let streams = flows.iter().enumerate().map(|(index, flow)| {
            let bits = flow.frame.physical_bits();
            let mut path = Vec::new();
            self.way(flow, &mut path);
            Ok(Stream {
                // `PortNetwork` demands arrivals of a frame at least. The analysis of schedules does not use them.
                arrival: Curve::leaky_bucket(bits.clone(), &bits / seconds(flow.interval))?,
                longest: bits.clone(),
                shortest: bits,
                path,
                branch: branch(flow, &flows[..index]),
            })
        });
        let streams = streams.collect::<Result<_, CurveError>>()?;
        let ways = Ways { flows, streams };
        let delays = schedule::delays(self, &ways)?;
        let scheduled = ways.flows.iter().zip(delays.ways);
        let scheduled = scheduled.filter_map(|(flow, delay)| Some((flow.source, delay?)));
        bounds.scheduled_ways = scheduled.collect();
        for (flow, delay) in ways.flows.iter().zip(delays.flows) {
            let Some(bound) = bounds
                .flows
                .iter_mut()
                .find(|bound| bound.source == flow.source)
            else {
                continue;
            };
            if let Ok(delay) = &delay
                && *delay < bound.delay
            {
                let best_case = bound.best_case.clone();
                bound.jitter = delay.plus(&-best_case);
                bound.delay = delay.clone();
                // The comparison comes before `from_queue` is lowered.
                bound.needs_phases = *delay < bound.from_queue;
                bound.from_queue = bound.from_queue.clone().min(delay.clone());
                if let Some(from_first_bit) = &mut bound.from_first_bit {
                    *from_first_bit = from_first_bit.clone().min(delay.clone());
                }
                bound.infinite = None;
            }
            bound.answers.push((Analysis::Schedule, delay));
        }
        Ok(())
    }

    pub(super) fn named(&self, found: &PortAnalyses) -> ScenarioBounds {
        let scenario = self.scenario;
        let mut queues = Vec::new();
        let mut index = std::collections::BTreeMap::new();
        for (port, classes) in self.classes.iter().enumerate() {
            for (class, queue) in classes.iter().enumerate() {
                let Some(id) = queue.map(|class| QueueId { port, class }) else {
                    continue;
                };
                let Some(bounds) = found.total_flow.queue(id) else {
                    continue;
                };
                let (port_name, class_name) = names(scenario, PortIndex(port), class);
                // Behind an overloaded port, arrivals are limited by its output, independently of the long-term rate of the
                // sources.
                let is_infinite = bounds.delay == Extended::Infinity;
                let unbounded = bounds.unbounded.as_ref().filter(|_| is_infinite);
                index.insert(id, queues.len());
                queues.push(QueueBound {
                    port: PortIndex(port),
                    class,
                    port_name,
                    class_name,
                    arrival: bounds.arrival.clone(),
                    service: bounds.service.minimum.clone(),
                    shortest: self.ports[port].classes()[id.class].shortest.clone(),
                    link_rate: self.ports[port].link_rate().clone(),
                    keeps_order: self.ports[port].classes()[id.class].selection.keeps_order(),
                    delay: bounds.delay.clone(),
                    backlog: bounds.backlog.clone(),
                    utilisation: bounds.utilisation.clone(),
                    infinite: unbounded.map(|why| self.reason(why)),
                });
            }
        }
        let flows =
            self.sources
                .iter()
                .zip(&self.streams)
                .enumerate()
                .map(|(stream, (flow, mapped))| {
                    let answers = found.answers.get(stream).into_iter().flatten();
                    let answers = answers.map(|answer| {
                        let delay = answer.delay.clone();
                        let delay = delay.map_err(|why| self.not_applicable(&why));
                        (answer.analysis, delay)
                    });
                    let delay = found
                        .least(stream)
                        .map_or(Extended::Infinity, |(_, delay)| delay.clone());
                    let bounds = &found.total_flow.streams[stream];
                    let infinite = bounds
                        .unbounded
                        .as_ref()
                        .filter(|_| delay == Extended::Infinity);
                    let passed = mapped.path.iter().filter_map(|step| match step {
                        Step::Queue(queue) => index.get(queue).copied(),
                        Step::Delay { .. } | Step::Loopback(_) => None,
                    });
                    FlowBound {
                        name: scenario.flow_name(flow.source),
                        source: flow.source,
                        round_trip: way_back(scenario, flow.source).is_some(),
                        answers: answers.collect(),
                        jitter: delay.plus(&-&bounds.best_case),
                        best_case: bounds.best_case.clone(),
                        delay,
                        application_round_trip: None,
                        from_queue: found.from_queue[stream].clone(),
                        from_first_bit: Some(found.from_first_bit[stream].clone()),
                        needs_phases: false,
                        infinite: infinite.map(|why| self.reason(why)),
                        queues: passed.collect(),
                    }
                });
        let with_sources = |delays: &[Vec<Extended>]| -> Vec<_> {
            let ways = self.sources.iter().zip(delays);
            let ways = ways.flat_map(|(flow, delays)| {
                let back = way_back(scenario, flow.source).map(|back| back.source);
                let sources = std::iter::once(flow.source).chain(back);
                sources.zip(delays.iter().cloned())
            });
            ways.collect()
        };
        ScenarioBounds {
            flows: flows.collect(),
            queues,
            ways: with_sources(&found.ways),
            ways_from_first_bit: with_sources(&found.ways_from_first_bit),
            scheduled_ways: Vec::new(),
            assumptions: self.assumptions(),
            broken: self.broken(),
        }
    }

    fn assumptions(&self) -> Vec<&'static str> {
        let mut classes = self.ports.iter().flat_map(EgressPort::classes);
        let is_fair = classes
            .any(|class| matches!(class.selection, TransmissionSelection::FairQueueing { .. }));
        let of_fair = if is_fair { OF_FAIR_QUEUEING } else { &[] };
        let driver = match self.realisation.driver_queue() {
            Some(1) => Some(&ONE_FRAME_IN_DRIVER),
            Some(_) => Some(&FRAMES_IN_DRIVER),
            None => None,
        };
        let driver = driver.filter(|_| is_fair);
        let is_software = self.realisation.is_software();
        let gates = self.has_software_gates().then_some(&OF_SOFTWARE_GATES);
        let (of_gates, of_shapers) = self.gates_and_shapers();
        let shapers = (is_software && of_shapers).then_some(&OF_SOFTWARE_SHAPERS);
        let without =
            |it: &&&str| !(is_software && (of_gates || of_shapers) && **it == AS_IN_802_1Q);
        let all = ASSUMPTIONS
            .iter()
            .filter(without)
            .chain(of_fair)
            .chain(driver);
        let instant = self.has_instant_bridges().then_some(&OF_INSTANT_BRIDGES);
        let all = all.chain(gates).chain(shapers).chain(instant);
        all.copied().collect()
    }

    /// Returns true if a flow passes a bridge without a forwarding delay.
    fn has_instant_bridges(&self) -> bool {
        let flows = self.scenario.flows().iter();
        // The last link ends at the receiver, which forwards nothing.
        let passed = flows.flat_map(|flow| flow.ports.split_last().map_or(&[][..], |it| it.1));
        let mut bridges = passed.map(|port| &self.scenario.nodes[self.scenario.ports[port.0].to.0]);
        bridges.any(|bridge| bridge.forwarding_delay == Duration::ZERO)
    }

    /// Returns the assumptions that Linux breaks at some port with a flow. In software, bounds assume what the kernel does.
    fn broken(&self) -> Vec<&'static str> {
        let Realisation::Linux { .. } = self.realisation else {
            return Vec::new();
        };
        let (gates, shapers) = self.gates_and_shapers();
        let broken = [(gates, BROKEN_BY_TAPRIO), (shapers, BROKEN_BY_CBS)];
        let broken = broken.into_iter().filter(|(is_broken, _)| *is_broken);
        broken.map(|(_, words)| words).collect()
    }

    /// Returns true if gates in software are at some port with a flow.
    pub(super) fn has_software_gates(&self) -> bool {
        self.realisation.is_software() && self.gates_and_shapers().0
    }

    /// Returns if a port with a flow has gates of the kernel that close, and if a class with a flow has a shaper.
    fn gates_and_shapers(&self) -> (bool, bool) {
        let used = self.scenario.ports.iter().zip(&self.classes);
        let used = used.filter(|(_, classes)| classes.iter().any(Option::is_some));
        let (mut gated, mut shaped) = (false, false);
        for (port, classes) in used {
            let queues = port.discipline.classes.iter().zip(classes);
            let mut queues = queues.filter(|(_, index)| index.is_some());
            shaped |= queues.any(|(class, _)| class.queue.shaper().is_some());
            let gates = port.discipline.scheduler.gates();
            gated |= gates.is_some_and(|it| it.txtime_assist.is_none() && !it.offload);
        }
        (gated, shaped)
    }

    /// Returns the names of the port and the class of a queue.
    pub(super) fn names_of(&self, queue: &QueueId) -> (String, String) {
        let class = self.classes[queue.port]
            .iter()
            .position(|class| *class == Some(queue.class));
        match class {
            Some(class) => names(self.scenario, PortIndex(queue.port), class),
            // The frame that `lower_priority` allows is in no class of the scenario.
            None => (
                self.scenario.port_name(PortIndex(queue.port)),
                "lower priority".to_owned(),
            ),
        }
    }

    fn place(&self, queue: &QueueId) -> String {
        let (port, class) = self.names_of(queue);
        format!("{port}, class {class}")
    }

    fn not_applicable(&self, why: &NotApplicable) -> String {
        match why {
            NotApplicable::NotFifo(queue) => {
                format!(
                    "{} may send frames of different flows in any order",
                    self.place(queue)
                )
            }
            NotApplicable::Again(queue) => {
                format!("it passes {} more than once", self.place(queue))
            }
            NotApplicable::NotStrict | NotApplicable::NotFound => why.to_string(),
        }
    }

    /// Returns a reason of [`PortNetwork::scheduled`](crate::PortNetwork::scheduled) in words, where each flow is one stream.
    pub(super) fn not_scheduled(&self, why: &NotScheduled) -> String {
        match why {
            NotScheduled::Circle => why.to_string(),
            NotScheduled::Unknown { queue, stream } => {
                let flow = self.scenario.flows().get(*stream);
                let name =
                    flow.map_or_else(String::new, |flow| self.scenario.flow_name(flow.source));
                format!(
                    "{}: the arrival times of frames of `{name}` are unknown",
                    self.place(queue)
                )
            }
            NotScheduled::Shared(queue) => {
                format!(
                    "{}: other classes may send in its windows",
                    self.place(queue)
                )
            }
            NotScheduled::Cycle(queue) => {
                format!(
                    "{}: its gate control list has another cycle time",
                    self.place(queue)
                )
            }
            NotScheduled::Full(queue) => format!(
                "{}: frames of one cycle are still queued when those of the next arrive",
                self.place(queue)
            ),
        }
    }

    fn reason(&self, why: &Unbounded) -> Infinite {
        match why {
            Unbounded::Overload {
                queue,
                arrival_rate,
                service_rate,
            } => {
                let (port, class) = self.names_of(queue);
                match self.ports[queue.port].no_service(queue.class) {
                    Some(none) => {
                        let rate = self.ports[queue.port].link_rate();
                        let other = |class| self.names_of(&QueueId { class, ..*queue }).1;
                        Infinite::in_software(port, class, none, rate, other)
                    }
                    None => Infinite::overload(port, class, arrival_rate, service_rate),
                }
            }
            Unbounded::NoFixedPoint {
                queue,
                rounds,
                growth,
            } => {
                let (port, class) = self.names_of(queue);
                Infinite::no_fixed_point(port, class, *rounds, growth.as_ref())
            }
        }
    }
}
