//! The analyses of ports, the conditions under which each holds, and the least of their bounds. They are here, beside those of
//! networks, because queues of ports have classes and shapers, serve whole frames and may keep no order.

use std::collections::{BTreeMap, BTreeSet};

use takt_scenario::Analysis;

use super::answer::{Answer, NotApplicable};
use super::bounds::{FixedPoint, PortBounds};
use super::lines::lesser;
use super::network::{PortNetwork, PortNetworkError, QueueId, Visit};
use super::{Step, TransmissionSelection};
use crate::Rational;
use crate::curve::Extended;
use crate::network::{Arrivals, Flow, Network, Passing, Server};
use crate::polynomial::{self, Sought};

/// Answers of several analyses for a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortAnalyses {
    /// Total Flow Analysis with shaping: delay, backlog and utilisation of each queue.
    pub total_flow: PortBounds,
    /// Answers of each analysis, for each stream.
    pub answers: Vec<Vec<Answer>>,
}

impl PortAnalyses {
    /// Returns the least bound of a stream, and the first analysis that found it.
    pub fn least(&self, stream: usize) -> Option<(Analysis, &Extended)> {
        let answers = self.answers.get(stream)?.iter();
        answers
            .filter_map(|answer| Some((answer.analysis, answer.delay.as_ref().ok()?)))
            .min_by(|one, other| one.1.cmp(other.1))
    }

    /// Returns the least bound of a stream less the least time that it needs: the greatest difference between the delays of two
    /// frames.
    pub fn jitter(&self, stream: usize) -> Option<Extended> {
        let best_case = &self.total_flow.streams.get(stream)?.best_case;
        Some(self.least(stream)?.1.plus(&-best_case))
    }
}

impl PortNetwork {
    /// Returns the answers of these analyses for each stream. [`Analysis::Schedule`] is left out: it needs the times at which
    /// talkers send ([`PortNetwork::scheduled`]).
    ///
    /// # Errors
    /// None that a valid network can cause.
    pub fn analyse(
        &self,
        analyses: &[Analysis],
        fixed_point: &FixedPoint,
    ) -> Result<PortAnalyses, PortNetworkError> {
        self.analyse_with(analyses, fixed_point, &mut |_, _| {})
    }

    /// Returns the same, and reports the progress: the index of the next stream and the number of streams, before each stream.
    ///
    /// # Errors
    /// None that a valid network can cause.
    pub fn analyse_with(
        &self,
        analyses: &[Analysis],
        fixed_point: &FixedPoint,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<PortAnalyses, PortNetworkError> {
        let is_wanted = |analysis| analyses.contains(&analysis);
        let lines = match is_wanted(Analysis::SeparateFlow)
            || is_wanted(Analysis::PolynomialLinearProgram)
        {
            true => self.lines(fixed_point)?,
            false => None,
        };
        let total_flow = match &lines {
            Some(lines) => self.total_flow_beside(Some(&lines.bounds), true, fixed_point)?,
            None => self.total_flow(true, fixed_point)?,
        };
        let plain = match is_wanted(Analysis::TotalFlow) {
            true => Some(self.total_flow(false, fixed_point)?),
            false => None,
        };
        let mut answers = Vec::with_capacity(self.streams.len());
        for stream in 0..self.streams.len() {
            progress(stream, self.streams.len());
            let mut of_stream = Vec::with_capacity(analyses.len());
            for analysis in analyses {
                let delay = match analysis {
                    Analysis::Schedule => continue,
                    Analysis::TotalFlow => {
                        let bounds = plain.as_ref().unwrap_or(&total_flow);
                        Ok(bounds.streams[stream].delay.clone())
                    }
                    Analysis::TotalFlowShaped => Ok(total_flow.streams[stream].delay.clone()),
                    Analysis::SeparateFlow => {
                        self.separate_flow(lines.as_ref(), stream, &total_flow)?
                    }
                    Analysis::PayMultiplexingOnlyOnce => self.any_order(stream, &total_flow)?,
                    Analysis::PolynomialLinearProgram => {
                        let by_lines = match &lines {
                            Some(lines) => lines.network.polynomial(stream, &lines.bounds)?,
                            None => Err(NotApplicable::NotFound),
                        };
                        if lines.as_ref().is_some_and(|lines| lines.only) {
                            by_lines
                        } else {
                            lesser(self.polynomial(stream, &total_flow)?, by_lines)
                        }
                    }
                };
                of_stream.push(Answer {
                    analysis: *analysis,
                    delay,
                });
            }
            answers.push(of_stream);
        }
        Ok(PortAnalyses {
            total_flow,
            answers,
        })
    }

    /// Returns the queues of a stream's path, with the way to each.
    pub(super) fn visits_of(&self, stream: usize) -> Vec<(QueueId, &Visit)> {
        let queues = self.streams[stream]
            .path
            .iter()
            .filter_map(|step| match step {
                Step::Queue(queue) => Some(*queue),
                Step::Delay { .. } => None,
            });
        let visits = queues.enumerate().filter_map(|(position, queue)| {
            let mut visits = self.visits(queue).iter();
            let own = |visit: &&Visit| visit.stream == stream && visit.position == position;
            Some((queue, visits.find(own)?))
        });
        visits.collect()
    }

    pub(super) fn is_fifo(&self, queue: QueueId) -> bool {
        self.ports[queue.port].classes()[queue.class].selection
            != TransmissionSelection::FlowQueueing
    }

    /// Returns the greatest sum of the delays on a stream's path behind its last queue.
    pub(super) fn behind_queues(&self, stream: usize) -> Rational {
        let steps = self.streams[stream].path.iter().rev();
        steps
            .map_while(|step| match step {
                Step::Delay { most, .. } => Some(most),
                Step::Queue(_) => None,
            })
            .fold(Rational::ZERO, |sum, most| sum + most)
    }

    /// Bounds the delay at one queue without an order, by the service that the others leave of a strict server.
    fn any_order(
        &self,
        stream: usize,
        bounds: &PortBounds,
    ) -> Result<Result<Extended, NotApplicable>, PortNetworkError> {
        let visits = self.visits_of(stream);
        let [(queue, visit)] = visits.as_slice() else {
            return Ok(Err(NotApplicable::NotStrict));
        };
        let others = self.arrival(
            *queue,
            &bounds.jitters,
            true,
            Some((visit.stream, visit.position)),
        )?;
        let service = &bounds.queues[queue.port][queue.class].service.strict;
        let residual = service.residual(&others, &Rational::ZERO);
        let own = self.arrival_of(visit, &bounds.jitters);
        // Frames of others may be sent between those of the stream, but do not interrupt a frame: the residual bounds all of it.
        let delay = own.horizontal_deviation(&residual);
        Ok(Ok(delay.plus(&(&visit.most + self.behind_queues(stream)))))
    }

    /// Returns the bound of the linear programme with a stream's queues and those before them. Each server is a queue with its
    /// way to the next queue, where frames are complete: a FIFO system as well.
    fn polynomial(
        &self,
        stream: usize,
        bounds: &PortBounds,
    ) -> Result<Result<Extended, NotApplicable>, PortNetworkError> {
        let visits = self.visits_of(stream);
        for (index, (queue, _)) in visits.iter().enumerate() {
            if !self.is_fifo(*queue) {
                return Ok(Err(NotApplicable::NotFifo(*queue)));
            }
            if visits[..index].iter().any(|(before, _)| before == queue) {
                return Ok(Err(NotApplicable::Again(*queue)));
            }
        }
        let always = visits
            .iter()
            .fold(self.behind_queues(stream), |sum, (_, visit)| {
                sum + &visit.least
            });
        let Some((_, first)) = visits.first() else {
            return Ok(Err(NotApplicable::NotFound));
        };
        let before = &first.most - &first.least;
        let Some((network, arrivals, delays)) = self.fluid(stream, &visits, bounds)? else {
            return Ok(Err(NotApplicable::NotFound));
        };
        let delay = polynomial::longest(Sought::Delay, &network, &arrivals, &delays, true, 0);
        Ok(match delay {
            Extended::Finite(delay) => Ok(Extended::Finite(delay + always + before)),
            _ => Err(NotApplicable::NotFound),
        })
    }

    /// Returns the streams that pass a queue of a path, or one of the queues before it that a linear programme can have.
    fn near(&self, path: &[(QueueId, &Visit)]) -> BTreeSet<usize> {
        let mut queues: BTreeSet<QueueId> = path.iter().map(|(queue, _)| *queue).collect();
        let mut last = queues.clone();
        while queues.len() < path.len() + polynomial::SERVERS && !last.is_empty() {
            let visits = last.iter().flat_map(|queue| self.visits(*queue));
            let before = visits.filter_map(|visit| visit.from);
            last = before.filter(|queue| queues.insert(*queue)).collect();
        }
        let visits = queues.iter().flat_map(|queue| self.visits(*queue));
        visits.map(|visit| visit.stream).collect()
    }

    /// Makes the servers and flows of the linear programme; the stream is flow 0. Streams that no server of the programme meets
    /// are left out.
    fn fluid(
        &self,
        stream: usize,
        visits: &[(QueueId, &Visit)],
        bounds: &PortBounds,
    ) -> Result<Option<(Network, Arrivals, Vec<Extended>)>, PortNetworkError> {
        // One way is kept between two queues: that of the stream itself, otherwise that of the first stream with such a way.
        // Streams with another way are cut there.
        let mut between: BTreeMap<(QueueId, QueueId), (&Rational, &Rational)> = BTreeMap::new();
        let others = self.near(visits);
        let others = others.into_iter().filter(|other| *other != stream);
        let ways: Vec<Vec<(QueueId, &Visit)>> = std::iter::once(visits.to_vec())
            .chain(others.map(|other| self.visits_of(other)))
            .collect();
        let passed: BTreeSet<QueueId> = ways.iter().flatten().map(|(queue, _)| *queue).collect();
        for (queue, visit) in ways.iter().flatten() {
            if let Some(from) = visit.from {
                between
                    .entry((from, *queue))
                    .or_insert((&visit.least, &visit.most));
            }
        }
        let last = visits.last().map(|(queue, _)| *queue);
        let mut servers = Vec::new();
        let mut delays = Vec::new();
        let mut index = BTreeMap::new();
        for (port, classes) in bounds.queues.iter().enumerate() {
            for (class, queue_bounds) in classes.iter().enumerate() {
                let queue = QueueId { port, class };
                if !passed.contains(&queue) {
                    continue;
                }
                let spread = between
                    .iter()
                    .filter(|((from, _), _)| *from == queue)
                    .map(|(_, (least, most))| *most - *least)
                    .max()
                    .unwrap_or(Rational::ZERO);
                let longest = &self.ports[port].classes()[class].longest;
                let whole = longest / self.ports[port].link_rate() + &spread;
                let late = if last == Some(queue) {
                    Rational::ZERO
                } else {
                    whole.clone()
                };
                let spread = if last == Some(queue) {
                    Rational::ZERO
                } else {
                    spread
                };
                index.insert(queue, servers.len());
                servers.push(Server {
                    service: queue_bounds.service.minimum.later(&late),
                    shaping: Some(queue_bounds.service.shaping.advanced(&whole)),
                });
                delays.push(queue_bounds.delay.plus(&spread));
            }
        }
        let known = &bounds.jitters;
        let mut flows = Vec::new();
        let mut arrivals = Vec::new();
        for way in &ways {
            let mut open = false;
            for (queue, visit) in way {
                let same = visit.from.is_some_and(|from| {
                    between.get(&(from, *queue)) == Some(&(&visit.least, &visit.most))
                });
                if !self.is_fifo(*queue) {
                    open = false;
                    continue;
                }
                let arrival = self.arrival_of(visit, known);
                if arrival.long_term_rate().is_none() && visit.stream == stream {
                    return Ok(None);
                }
                if !open || !same {
                    flows.push(Flow {
                        path: Vec::new(),
                        arrival: arrival.clone(),
                    });
                    arrivals.push(Vec::new());
                }
                open = true;
                if let (Some(flow), Some(curves)) = (flows.last_mut(), arrivals.last_mut()) {
                    flow.path.push(index[queue]);
                    curves.push(arrival);
                }
            }
        }
        let mut passing = vec![Vec::new(); servers.len()];
        for (flow, path) in flows.iter().map(|flow| &flow.path).enumerate() {
            for (position, server) in path.iter().enumerate() {
                passing[*server].push(Passing { flow, position });
            }
        }
        let network = Network {
            servers,
            flows,
            order: Vec::new(),
            passing,
        };
        Ok(Some((network, Arrivals(arrivals), delays)))
    }
}
