//! Separate Flow Analysis of a stream through ports.

use super::analyses::NotApplicable;
use super::bounds::PortBounds;
use super::network::{PortNetwork, PortNetworkError, QueueId, Visit};
use crate::Rational;
use crate::curve::{Curve, Extended};

/// Up to so many pairs of pieces, curves with steps are convolved exactly; behind it, the convex ones below them.
const PAIRS: usize = 256;

impl PortNetwork {
    /// The same network, where a stream that arrives in steps does by the line above them; `None` if none does.
    pub(super) fn with_lines(&self) -> Result<Option<Self>, PortNetworkError> {
        let mut lines: Option<Self> = None;
        for (index, stream) in self.streams.iter().enumerate() {
            if stream.arrival == stream.arrival.concave_above() {
                continue;
            }
            let line = stream
                .arrival
                .line_above()
                .map_err(super::PortError::from)?;
            if let Some(line) = line {
                lines.get_or_insert_with(|| self.clone()).streams[index].arrival = line;
            }
        }
        Ok(lines)
    }

    /// What the others leave in all queues of the stream, one behind the other. In a FIFO queue there is a curve for each delay of theirs, and none of
    /// these is the best for every stream: that for their steps and that for lines above them are tried, and the lesser bound is the answer.
    pub(super) fn separate_flow(
        &self,
        lines: Option<&Self>,
        stream: usize,
        bounds: &PortBounds,
    ) -> Result<Result<Extended, NotApplicable>, PortNetworkError> {
        let Some(lines) = lines else {
            return self.queues_in_one(stream, bounds, usize::MAX);
        };
        let by_steps = self.queues_in_one(stream, bounds, PAIRS)?;
        let by_lines = lines.queues_in_one(stream, bounds, usize::MAX)?;
        Ok(match (by_steps, by_lines) {
            (Ok(steps), Ok(lines)) => Ok(steps.min(lines)),
            (steps, Err(_)) => steps,
            (Err(_), lines) => lines,
        })
    }

    /// What the others leave at a queue for one visit.
    fn residual(
        &self,
        queue: QueueId,
        visit: &Visit,
        bounds: &PortBounds,
    ) -> Result<Curve, PortNetworkError> {
        let others = self.arrival(
            queue,
            &bounds.jitters,
            true,
            Some((visit.stream, visit.position)),
        )?;
        let service = &bounds.queues[queue.port][queue.class].service;
        if !self.is_fifo(queue) {
            return Ok(service.strict.residual(&others, &Rational::ZERO));
        }
        Ok(match others.horizontal_deviation(&service.minimum) {
            Extended::Finite(delay) => service.minimum.residual(&others, &delay),
            _ => Curve::zero(),
        })
    }

    fn queues_in_one(
        &self,
        stream: usize,
        bounds: &PortBounds,
        pairs: usize,
    ) -> Result<Result<Extended, NotApplicable>, PortNetworkError> {
        let own = &self.streams[stream];
        let mut row: Option<Curve> = None;
        let mut always = self.behind_queues(stream);
        let mut link_rate = None;
        for (queue, visit) in self.visits_of(stream) {
            let residual = self.residual(queue, visit, bounds)?;
            always += &visit.least;
            // What varies before the queue, and that a frame comes as a whole, when its last bit does.
            let mut late = &visit.most - &visit.least;
            if let Some(rate) = link_rate {
                late += &own.longest / rate;
            }
            let service = residual.later(&late);
            row = Some(match row {
                Some(row) if row.pieces.len() * service.pieces.len() > pairs => row
                    .convex_below()
                    .convolution_of_convex(&service.convex_below()),
                Some(row) => row.convolution(&service),
                None => service,
            });
            link_rate = Some(self.ports[queue.port].link_rate());
        }
        let (Some(row), Some(link_rate)) = (row, link_rate) else {
            return Ok(Err(NotApplicable::NotFound));
        };
        let delay = own.arrival.frame_delay(&own.shortest, &row, link_rate);
        Ok(Ok(delay.plus(&always)))
    }
}
