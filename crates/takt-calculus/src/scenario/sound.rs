//! Bounds of a scenario that hold.

use takt_scenario::{
    Analysis as AnalysisName, CrossTraffic, Flow, FlowSource, LowerPriority, NodeId, PortId, Queue,
    Scenario, Scheduler,
};

use super::loopback::{loopback, publisher};
use super::reason::{Infinite, names};
use super::{
    FlowBound, QueueBound, ScenarioBounds, ScenarioBoundsError, bits_per_second, class_at, seconds,
    way_back,
};
use crate::curve::{Curve, CurveError, Extended};
use crate::port::{
    Analysis, EgressPort, FixedPoint, GateControlEntry, GateControlList, PortAnalyses, PortError,
    PortNetwork, QueueId, Step, Stream, TrafficClass, TransmissionSelection, Unbounded,
};
use crate::{FrameBits, Rational};

const ASSUMPTIONS: &[&str] = &[
    "a Publisher sends one message in each cycle; a loopback takes all messages that have come",
    "threads are never later than the latency of their node; clocks agree in rate",
    "queues are long enough for the backlog given here, so that nothing is dropped",
    "shapers and gates do what IEEE 802.1Q says; gates may open at any time of each other",
    "nothing preempts; what the scenario does not have is not on the links, unless `lower_priority` says so",
];

/// The scenario as the calculus knows it.
struct Mapping<'a> {
    scenario: &'a Scenario,
    /// Of each port and class of the scenario, the class's index in the calculus; `None` if no flow is in it.
    classes: Vec<Vec<Option<usize>>>,
    ports: Vec<EgressPort>,
    streams: Vec<Stream>,
    /// Of each stream, its first flow.
    sources: Vec<&'a Flow>,
}

pub(super) fn bounds(
    scenario: &Scenario,
    analyses: &[AnalysisName],
) -> Result<ScenarioBounds, ScenarioBoundsError> {
    let mut mapping = Mapping {
        scenario,
        classes: Vec::new(),
        ports: Vec::new(),
        streams: Vec::new(),
        sources: Vec::new(),
    };
    for port in 0..scenario.ports.len() {
        mapping.add_port(PortId(port))?;
    }
    for flow in scenario.flows() {
        mapping.add_stream(flow)?;
    }
    let wanted: Vec<Analysis> = analyses.iter().copied().map(analysis).collect();
    let network = PortNetwork::new(mapping.ports.clone(), mapping.streams.clone())?;
    let found = network.analyse(&wanted, &FixedPoint::default())?;
    Ok(mapping.named(&found))
}

fn analysis(name: AnalysisName) -> Analysis {
    match name {
        AnalysisName::Tfa => Analysis::TotalFlow,
        AnalysisName::TfaPlusPlus => Analysis::TotalFlowShaped,
        AnalysisName::Sfa => Analysis::SeparateFlow,
        AnalysisName::Pmoo => Analysis::PayMultiplexingOnlyOnce,
        AnalysisName::Plp => Analysis::PolynomialLinearProgram,
    }
}

fn name_of(analysis: Analysis) -> AnalysisName {
    match analysis {
        Analysis::TotalFlow => AnalysisName::Tfa,
        Analysis::TotalFlowShaped => AnalysisName::TfaPlusPlus,
        Analysis::SeparateFlow => AnalysisName::Sfa,
        Analysis::PayMultiplexingOnlyOnce => AnalysisName::Pmoo,
        Analysis::PolynomialLinearProgram => AnalysisName::Plp,
    }
}

impl<'a> Mapping<'a> {
    /// Classes that no flow is in are left out.
    fn add_port(&mut self, id: PortId) -> Result<(), ScenarioBoundsError> {
        let scenario = self.scenario;
        let port = &scenario.ports[id.0];
        let link = bits_per_second(scenario.links[port.link.0].rate);
        let mut classes = Vec::new();
        let mut indices = Vec::new();
        for (index, class) in port.discipline.classes.iter().enumerate() {
            let flows = scenario
                .flows()
                .iter()
                .filter(|flow| flow.ports.contains(&id) && class_at(scenario, flow, id) == index);
            let sizes: Vec<Rational> = flows.map(|flow| flow.frame.physical_bits()).collect();
            let (Some(shortest), Some(longest)) = (sizes.iter().min(), sizes.iter().max()) else {
                indices.push(None);
                continue;
            };
            indices.push(Some(classes.len()));
            classes.push(TrafficClass {
                selection: selection(&class.queue, &port.discipline.scheduler),
                longest: longest.clone(),
                shortest: shortest.clone(),
            });
        }
        let is_gated = matches!(port.discipline.scheduler, Scheduler::Taprio(_));
        if let LowerPriority::AtMost(frame) = scenario.bounds.lower_priority
            && !is_gated
        {
            // Whoever sends it, it is below all classes. Gates keep it away.
            classes.push(TrafficClass {
                selection: TransmissionSelection::StrictPriority,
                longest: frame.physical_bits(),
                shortest: Rational::ZERO,
            });
        }
        let port_error = |reason| ScenarioBoundsError::Port {
            port: scenario.port_name(id),
            reason,
        };
        let mut egress = EgressPort::new(link, classes).map_err(port_error)?;
        if let Some(gates) = self.gates(id, &indices)? {
            egress = egress.with_gates(gates).map_err(port_error)?;
        }
        self.ports.push(egress);
        self.classes.push(indices);
        Ok(())
    }

    fn gates(
        &self,
        id: PortId,
        indices: &[Option<usize>],
    ) -> Result<Option<GateControlList>, ScenarioBoundsError> {
        let port = &self.scenario.ports[id.0];
        let Scheduler::Taprio(taprio) = &port.discipline.scheduler else {
            return Ok(None);
        };
        if indices.iter().all(Option::is_none) {
            return Ok(None);
        }
        if taprio.guard_band.picos() > 0 {
            return Err(ScenarioBoundsError::NotModelled {
                place: self.scenario.port_name(id),
                what: "a guard_band; an entry without an open gate does the same".to_owned(),
            });
        }
        let entries = taprio.entries.iter().map(|entry| {
            let open = indices
                .iter()
                .enumerate()
                .filter(|(class, _)| entry.is_open(*class));
            let gates = open
                .filter_map(|(_, index)| *index)
                .fold(0u64, |gates, index| gates | 1 << index);
            GateControlEntry {
                gates,
                interval: seconds(entry.interval),
            }
        });
        let port_error = |reason| ScenarioBoundsError::Port {
            port: self.scenario.port_name(id),
            reason: PortError::Gate(reason),
        };
        let (base_time, cycle_time) = (seconds(taprio.base_time), seconds(taprio.cycle_time));
        let gates =
            GateControlList::new(base_time, cycle_time, entries.collect()).map_err(port_error)?;
        let assist = taprio.txtime_assist.map_or(Rational::ZERO, seconds);
        gates
            .with_txtime_assist(assist)
            .map(Some)
            .map_err(port_error)
    }

    /// One stream for a flow; what a loopback sends back is the same stream, further on.
    fn add_stream(&mut self, flow: &'a Flow) -> Result<(), ScenarioBoundsError> {
        let scenario = self.scenario;
        let mut path = Vec::new();
        match flow.source {
            FlowSource::Return(_) => return Ok(()),
            FlowSource::Cross(_) => self.way(flow, &mut path),
            FlowSource::Publish(id) => {
                let application = &scenario.applications[id.0];
                let node = |id: NodeId| &scenario.nodes[id.0];
                self.check_lead(flow)?;
                let late = publisher(application, node(application.publisher));
                path.push(Step::Delay {
                    least: late.least,
                    most: late.most,
                });
                self.way(flow, &mut path);
                if let Some(back) = way_back(scenario, flow.source) {
                    let held = loopback(application, node(application.receiver.node()));
                    path.push(Step::Delay {
                        least: held.least,
                        most: held.most,
                    });
                    self.way(back, &mut path);
                }
            }
        }
        let bits = flow.frame.physical_bits();
        let arrival = match flow.source {
            FlowSource::Cross(id) => cross_arrival(&scenario.cross_traffic[id.0])?,
            _ => Curve::leaky_bucket(bits.clone(), &bits / seconds(flow.interval))?,
        };
        self.streams.push(Stream {
            arrival,
            longest: bits.clone(),
            shortest: bits,
            path,
        });
        self.sources.push(flow);
        Ok(())
    }

    /// ETF drops what comes later than delta before its time.
    fn check_lead(&self, flow: &Flow) -> Result<(), ScenarioBoundsError> {
        let FlowSource::Publish(id) = flow.source else {
            return Ok(());
        };
        let application = &self.scenario.applications[id.0];
        let (Some(lead), Some(first)) = (application.txtime, flow.ports.first()) else {
            return Ok(());
        };
        let class = class_at(self.scenario, flow, *first);
        let class = &self.scenario.ports[first.0].discipline.classes[class];
        if let Queue::Etf { delta, .. } = class.queue
            && lead < delta
        {
            return Err(ScenarioBoundsError::NotModelled {
                place: self.scenario.port_name(*first),
                what: format!(
                    "frames that are dropped: they are given to etf {lead} before their time, but delta is {delta}"
                ),
            });
        }
        Ok(())
    }

    fn way(&self, flow: &Flow, path: &mut Vec<Step>) {
        let scenario = self.scenario;
        for (position, id) in flow.ports.iter().enumerate() {
            let port = &scenario.ports[id.0];
            let class = class_at(scenario, flow, *id);
            if let Some(class) = self.classes[id.0][class] {
                path.push(Step::Queue(QueueId { port: id.0, class }));
            }
            let cable = seconds(scenario.links[port.link.0].length.propagation());
            let (mut least, mut most) = (cable.clone(), cable);
            if position + 1 < flow.ports.len() {
                let bridge = &scenario.nodes[port.to.0];
                least += seconds(bridge.forwarding_delay_least);
                most += seconds(bridge.forwarding_delay);
            }
            path.push(Step::Delay { least, most });
        }
    }

    fn named(&self, found: &PortAnalyses) -> ScenarioBounds {
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
                let (port_name, class_name) = names(scenario, PortId(port), class);
                index.insert(id, queues.len());
                queues.push(QueueBound {
                    port: PortId(port),
                    class,
                    port_name,
                    class_name,
                    arrival: bounds.arrival.clone(),
                    service: bounds.service.minimum.clone(),
                    delay: bounds.delay.clone(),
                    backlog: bounds.backlog.clone(),
                    utilisation: bounds.utilisation.clone(),
                    infinite: bounds.unbounded.as_ref().map(|why| self.reason(why)),
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
                        let delay = answer.delay.clone().map_err(|why| why.to_string());
                        (name_of(answer.analysis), delay)
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
                        Step::Delay { .. } => None,
                    });
                    FlowBound {
                        name: scenario.flow_name(flow.source),
                        source: flow.source,
                        round_trip: way_back(scenario, flow.source).is_some(),
                        answers: answers.collect(),
                        jitter: delay.plus(&-&bounds.best_case),
                        delay,
                        infinite: infinite.map(|why| self.reason(why)),
                        queues: passed.collect(),
                    }
                });
        ScenarioBounds {
            flows: flows.collect(),
            queues,
            assumptions: ASSUMPTIONS.to_vec(),
        }
    }

    fn reason(&self, why: &Unbounded) -> Infinite {
        let names_of = |queue: &QueueId| {
            let class = self.classes[queue.port]
                .iter()
                .position(|class| *class == Some(queue.class));
            names(self.scenario, PortId(queue.port), class.unwrap_or(0))
        };
        match why {
            Unbounded::Overload {
                queue,
                arrival_rate,
                service_rate,
            } => {
                let (port, class) = names_of(queue);
                Infinite::overload(port, class, arrival_rate, service_rate)
            }
            Unbounded::NoFixedPoint { queue, .. } => {
                let (port, class) = names_of(queue);
                let reason = why.to_string();
                let reason = reason
                    .split_once(": ")
                    .map_or(reason.clone(), |(_, reason)| reason.to_owned());
                Infinite {
                    port,
                    class,
                    utilisation: None,
                    reason,
                }
            }
        }
    }
}

fn selection(queue: &Queue, scheduler: &Scheduler) -> TransmissionSelection {
    match (scheduler, queue) {
        (Scheduler::FqCodel(_), _) => TransmissionSelection::FlowQueueing,
        (_, Queue::Cbs { idle_slope, .. }) => TransmissionSelection::CreditBased {
            idle_slope: bits_per_second(*idle_slope),
        },
        (Scheduler::Mqprio, Queue::Etf { delta, offload, .. }) => {
            TransmissionSelection::EarliestTxTime {
                delta: if *offload {
                    Rational::ZERO
                } else {
                    seconds(*delta)
                },
            }
        }
        // Below taprio with txtime-assist, the time is that of the gate.
        _ => TransmissionSelection::StrictPriority,
    }
}

/// What cross traffic brings at most.
fn cross_arrival(traffic: &CrossTraffic) -> Result<Curve, CurveError> {
    let bits = traffic.frame.physical_bits();
    match traffic.arrival_bound() {
        Some(bound) => {
            let burst = bits * Rational::from(bound.frames);
            let rate = &burst / seconds(bound.interval);
            Curve::leaky_bucket(burst, rate)
        }
        None => Curve::burst_delay(Rational::ZERO),
    }
}
