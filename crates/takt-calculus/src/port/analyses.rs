//! The analyses of ports, the conditions under which each holds, and the least of their bounds. They are here, beside those of
//! networks, because queues of ports have classes and shapers, serve whole frames and may keep no order.

use takt_scenario::Analysis;

use super::Step;
use super::answer::{Answer, NotApplicable};
use super::bounds::{FixedPoint, PortBounds};
use super::lines::{Lines, lesser};
use super::network::{PortNetwork, PortNetworkError, QueueId, Visit};
use super::ways::Way;
use crate::Rational;
use crate::curve::Extended;

/// Answers of several analyses for a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortAnalyses {
    /// Total Flow Analysis with shaping: delay, backlog and utilisation of each queue.
    pub total_flow: PortBounds,
    /// Answers of each analysis, for each stream.
    pub answers: Vec<Vec<Answer>>,
    /// Least bound of each stream from the arrival at its first queue on, in seconds.
    pub from_queue: Vec<Extended>,
    /// Bound of each stream from the first bit of a frame on its first link, in seconds: the least one from the queue, or that of Total Flow
    /// Analysis without the first queue.
    pub from_first_bit: Vec<Extended>,
    /// Least bound of each way of a stream, from the arrival at the way's first queue to the next loopback, or to the end.
    pub ways: Vec<Vec<Extended>>,
    /// Bound of each way from the first bit on its first link, as `from_first_bit`.
    pub ways_from_first_bit: Vec<Vec<Extended>>,
}

/// Results of Total Flow Analysis that the other analyses need.
struct All<'a> {
    /// Without shaping, if that was wanted.
    plain: Option<&'a PortBounds>,
    shaped: &'a PortBounds,
    lines: Option<&'a Lines>,
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
        let all = All {
            plain: plain.as_ref(),
            shaped: &total_flow,
            lines: lines.as_ref(),
        };
        let mut found = PortAnalyses {
            total_flow: total_flow.clone(),
            answers: Vec::with_capacity(self.streams.len()),
            from_queue: Vec::with_capacity(self.streams.len()),
            from_first_bit: Vec::with_capacity(self.streams.len()),
            ways_from_first_bit: Vec::with_capacity(self.streams.len()),
            ways: Vec::with_capacity(self.streams.len()),
        };
        for stream in 0..self.streams.len() {
            progress(stream, self.streams.len());
            self.analyse_stream(stream, analyses, &all, &mut found)?;
        }
        Ok(found)
    }

    /// Adds the answers for a stream, for all of its path and for each of its ways.
    fn analyse_stream(
        &self,
        stream: usize,
        analyses: &[Analysis],
        all: &All<'_>,
        found: &mut PortAnalyses,
    ) -> Result<(), PortNetworkError> {
        let (whole, ways) = (self.whole(stream), self.ways(stream));
        let before = whole.before(0).1;
        let mut answers = Vec::with_capacity(analyses.len());
        // The delays of Total Flow Analysis hold whatever analyses are wanted.
        let total_flow = |way: &Way<'_>| self.total_flow_of_way(way, all.shaped);
        let mut least_from_queue = total_flow(&self.whole_from_queue(stream));
        let mut of_ways: Vec<Extended> = ways.iter().map(total_flow).collect();
        for analysis in analyses.iter().copied() {
            if analysis == Analysis::Schedule {
                continue;
            }
            let mut delay = self.answer(analysis, &whole, all)?;
            let mut from_queue = match before.is_zero() {
                true => delay.clone(),
                false => self.answer(analysis, &self.whole_from_queue(stream), all)?,
            };
            if ways.len() > 1 {
                let delays = ways.iter().map(|way| self.answer(analysis, way, all));
                let delays = delays.collect::<Result<Vec<_>, _>>()?;
                if let Some(sum) = Way::sum(&ways, &delays) {
                    from_queue = lesser(from_queue, Ok(sum));
                }
                for (least, delay) in of_ways.iter_mut().zip(delays) {
                    *least = least.clone().min(delay.unwrap_or(Extended::Infinity));
                }
            }
            if let Ok(from_queue) = from_queue {
                delay = lesser(delay, Ok(from_queue.plus(&before)));
                least_from_queue = least_from_queue.min(from_queue);
            }
            answers.push(Answer { analysis, delay });
        }
        if ways.len() == 1 {
            // The only way is the whole path from the first queue on.
            of_ways = vec![least_from_queue.clone()];
        }
        // The first bit is not before the arrival at the queue, so bounds from there hold as well.
        let from_first_bit = |way: &Way<'_>, from_queue: &Extended| {
            let bound = self.total_flow_from_first_bit(way, all.shaped);
            bound.min(from_queue.clone())
        };
        let whole = from_first_bit(&self.whole_from_queue(stream), &least_from_queue);
        let each = ways.iter().zip(&of_ways);
        let each = each.map(|(way, from_queue)| from_first_bit(way, from_queue));
        found.ways_from_first_bit.push(each.collect());
        found.from_first_bit.push(whole);
        found.answers.push(answers);
        found.from_queue.push(least_from_queue);
        found.ways.push(of_ways);
        Ok(())
    }

    /// Returns the answer of an analysis for a part of a stream's path.
    fn answer(
        &self,
        analysis: Analysis,
        way: &Way<'_>,
        all: &All<'_>,
    ) -> Result<Result<Extended, NotApplicable>, PortNetworkError> {
        Ok(match analysis {
            // Nobody asks for it here: `analyse_stream` leaves it out.
            Analysis::Schedule => Err(NotApplicable::NotFound),
            Analysis::TotalFlow => Ok(self.total_flow_of_way(way, all.plain.unwrap_or(all.shaped))),
            Analysis::TotalFlowShaped => Ok(self.total_flow_of_way(way, all.shaped)),
            Analysis::SeparateFlow => self.separate_flow(all.lines, way, all.shaped)?,
            Analysis::PayMultiplexingOnlyOnce => self.any_order(way, all.shaped)?,
            Analysis::PolynomialLinearProgram => {
                let by_lines = match all.lines {
                    Some(lines) => lines.network.polynomial(way, &lines.bounds)?,
                    None => Err(NotApplicable::NotFound),
                };
                if all.lines.is_some_and(|lines| lines.only) {
                    by_lines
                } else {
                    lesser(self.polynomial(way, all.shaped)?, by_lines)
                }
            }
        })
    }

    /// Returns the queues of a stream's path, with the way to each. The visit of a shared queue is that of the stream whose own the
    /// queue is.
    pub(super) fn visits_of(&self, stream: usize) -> Vec<(QueueId, &Visit)> {
        let queues = self.streams[stream]
            .path
            .iter()
            .filter_map(|step| match step {
                Step::Queue(queue) => Some(*queue),
                Step::Delay { .. } | Step::Loopback(_) => None,
            });
        let visits = queues.enumerate().filter_map(|(position, queue)| {
            let mut visits = self.visits(queue).iter();
            let owner = self.owner(stream, position);
            let own = |visit: &&Visit| visit.stream == owner && visit.position == position;
            Some((queue, visits.find(own)?))
        });
        visits.collect()
    }

    pub(super) fn is_fifo(&self, queue: QueueId) -> bool {
        let class = &self.ports[queue.port].classes()[queue.class];
        class.selection.keeps_order()
    }

    /// Returns the greatest sum of the delays on a stream's path behind its last queue.
    pub(super) fn behind_queues(&self, stream: usize) -> Rational {
        let steps = self.streams[stream].path.iter().rev();
        steps
            .map_while(Step::delay)
            .fold(Rational::ZERO, |sum, (_, most)| sum + most)
    }

    /// Bounds the delay at one queue without an order, by the service that the others leave of a strict server.
    fn any_order(
        &self,
        way: &Way<'_>,
        bounds: &PortBounds,
    ) -> Result<Result<Extended, NotApplicable>, PortNetworkError> {
        let [(queue, visit)] = way.visits.as_slice() else {
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
        Ok(Ok(delay.plus(&(way.before(0).1 + &way.behind))))
    }
}
