//! What was found, by the scenario's names.

use takt_scenario::{Analysis, Flow, PortId};

use super::reason::{Infinite, names};
use super::schedule::{self, Ways};
use super::sound::{ASSUMPTIONS, Mapping};
use super::{FlowBound, QueueBound, ScenarioBounds, ScenarioBoundsError, seconds, way_back};
use crate::FrameBits;
use crate::curve::{Curve, CurveError, Extended};
use crate::port::{PortAnalyses, QueueId, Step, Stream, Unbounded};

impl Mapping<'_> {
    /// What follows from knowing when applications send in the cycle of gates.
    pub(super) fn add_schedule(
        &self,
        bounds: &mut ScenarioBounds,
    ) -> Result<(), ScenarioBoundsError> {
        let flows: Vec<&Flow> = self.scenario.flows().iter().collect();
        let streams = flows.iter().map(|flow| {
            let bits = flow.frame.physical_bits();
            let mut path = Vec::new();
            self.way(flow, &mut path);
            Ok(Stream {
                arrival: Curve::leaky_bucket(bits.clone(), &bits / seconds(flow.interval))?,
                longest: bits.clone(),
                shortest: bits,
                path,
            })
        });
        let streams = streams.collect::<Result<_, CurveError>>()?;
        let ways = Ways { flows, streams };
        let delays = schedule::delays(self.scenario, self.ports.clone(), &ways)?;
        for (flow, delay) in ways.flows.iter().zip(delays) {
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
                let (port_name, class_name) = names(scenario, PortId(port), class);
                // Behind an overloaded port no more than that lets through arrives, whatever is sent in the long run.
                let is_infinite = bounds.delay == Extended::Infinity;
                let unbounded = bounds.unbounded.as_ref().filter(|_| is_infinite);
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
                        let delay = answer.delay.clone().map_err(|why| why.to_string());
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
                        Step::Delay { .. } => None,
                    });
                    FlowBound {
                        name: scenario.flow_name(flow.source),
                        source: flow.source,
                        round_trip: way_back(scenario, flow.source).is_some(),
                        answers: answers.collect(),
                        jitter: delay.plus(&-&bounds.best_case),
                        best_case: bounds.best_case.clone(),
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
