//! Separate Flow Analysis of a stream through ports. It is here, beside that of networks, because the service that remains for a
//! stream depends on the class: FIFO queues leave another service than those without an order, and frames become complete between
//! queues.

use super::answer::NotApplicable;
use super::bounds::PortBounds;
use super::lines::{Lines, lesser};
use super::network::{PortNetwork, PortNetworkError, QueueId, Visit};
use super::ways::Way;
use crate::Rational;
use crate::curve::{Curve, Extended};

/// Methods of combining the queues of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    /// Convolution of the remaining service at each queue.
    Exact,
    /// Convolution of the convex curves below: the remaining service of a staircase has many pieces, and a convolution of such
    /// curves more.
    Convex,
}

impl PortNetwork {
    /// Returns the delay by the service that the other streams leave in all queues of a way together. A FIFO queue has one such
    /// curve for each delay of the others, and none of these is the best for every stream. If streams arrive in steps, the curves
    /// for the steps and those for the lines above them are tried; in a large network only those for the lines.
    pub(super) fn separate_flow(
        &self,
        lines: Option<&Lines>,
        way: &Way<'_>,
        bounds: &PortBounds,
    ) -> Result<Result<Extended, NotApplicable>, PortNetworkError> {
        let own = way.arrival(self, &bounds.jitters);
        let Some(lines) = lines else {
            return self.queues_in_one(way, &own, bounds, Row::Exact);
        };
        let attempts = [
            (self, bounds, Row::Convex),
            (&lines.network, bounds, Row::Convex),
            (&lines.network, &lines.bounds, Row::Exact),
        ];
        let mut least = Err(NotApplicable::NotFound);
        let skipped = if lines.only { 2 } else { 0 };
        for (network, bounds, row) in attempts.into_iter().skip(skipped) {
            least = lesser(least, network.queues_in_one(way, &own, bounds, row)?);
        }
        Ok(least)
    }

    /// Returns the service that the other streams leave at a queue for one visit.
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
        way: &Way<'_>,
        arrival: &Curve,
        bounds: &PortBounds,
        kind: Row,
    ) -> Result<Result<Extended, NotApplicable>, PortNetworkError> {
        let own = &self.streams[way.stream];
        let mut row: Option<Curve> = None;
        let mut link_rate = None;
        for (index, (queue, visit)) in way.visits.iter().enumerate() {
            let residual = self.residual(*queue, visit, bounds)?;
            // Frames are late by the variation before the queue, and arrive as a whole, with their last bit.
            let (least, most) = way.before(index);
            let mut late = most - least;
            if let Some(rate) = link_rate {
                late += &own.longest / rate;
            }
            let service = residual.later(&late);
            row = Some(match (row, kind) {
                (None, Row::Exact) => service,
                (None, Row::Convex) => service.convex_below(),
                (Some(row), Row::Exact) => row.convolution(&service),
                (Some(row), Row::Convex) => row.convolution_of_convex(&service.convex_below()),
            });
            link_rate = Some(self.ports[queue.port].link_rate());
        }
        let (Some(row), Some(link_rate)) = (row, link_rate) else {
            return Ok(Err(NotApplicable::NotFound));
        };
        let delay = arrival.frame_delay(&own.shortest, &row, link_rate);
        Ok(Ok(delay.plus(&(way.least_between() + &way.behind))))
    }
}
