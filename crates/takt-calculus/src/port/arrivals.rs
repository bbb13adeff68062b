//! Arrivals at the queues of ports: of single streams, and of all together.

use std::collections::BTreeMap;

use super::network::{PortNetwork, PortNetworkError, QueueId, Visit};
use crate::Rational;
use crate::curve::{Curve, Extended};

/// A queue, and the least and greatest delay from it to the next one. Frames that come the same way in one class were
/// limited on its link. The limit is that of one interval on the link, so that their delays since then are in one
/// range.
type LinkBefore<'a> = (Option<QueueId>, &'a Rational, &'a Rational);

fn link_before(visit: &Visit) -> LinkBefore<'_> {
    (visit.from, &visit.least, &visit.most)
}

impl PortNetwork {
    /// Returns the arrivals at a queue, without one stream's visit, as `(stream, position)`.
    pub(crate) fn arrival(
        &self,
        queue: QueueId,
        jitters: &[Vec<Extended>],
        shaped: bool,
        but: Option<(usize, usize)>,
    ) -> Result<Curve, PortNetworkError> {
        let mut ways: BTreeMap<LinkBefore<'_>, Vec<&Visit>> = BTreeMap::new();
        let counts = |visit: &&Visit| Some((visit.stream, visit.position)) != but;
        for visit in self.visits(queue).iter().filter(counts) {
            ways.entry(link_before(visit)).or_default().push(visit);
        }
        let mut all = Vec::with_capacity(ways.len());
        for (link, visits) in ways {
            let arrivals = visits
                .into_iter()
                .map(|visit| self.arrival_of(visit, jitters));
            all.push(self.limited_by_link(arrivals.sum(), link, shaped)?);
        }
        Ok(all.into_iter().sum())
    }

    /// Returns the arrivals of a stream at a queue of its path: those at its first step, with the jitter of the way to
    /// here.
    pub(crate) fn arrival_of(&self, visit: &Visit, jitters: &[Vec<Extended>]) -> Curve {
        let jitter = &jitters[visit.stream][visit.position];
        delayed(&self.streams[visit.stream].arrival, jitter)
    }

    /// Returns the same, limited by the link before if `shaped`.
    pub(super) fn arrival_over_link(
        &self,
        visit: &Visit,
        jitters: &[Vec<Extended>],
        shaped: bool,
    ) -> Result<Curve, PortNetworkError> {
        self.limited_by_link(self.arrival_of(visit, jitters), link_before(visit), shaped)
    }

    fn limited_by_link(
        &self,
        arrival: Curve,
        (from, least, most): LinkBefore<'_>,
        shaped: bool,
    ) -> Result<Curve, PortNetworkError> {
        // No link lies before a stream's first queue.
        let Some(from) = from.filter(|_| shaped) else {
            return Ok(arrival);
        };
        // A frame that is complete within an interval was on the link, without a pause, at most its own length before.
        let port = &self.ports[from.port];
        let length = &port.classes()[from.class].longest / port.link_rate();
        let shaping = port.shaping(from.class)?.advanced(&(length + most - least));
        Ok(arrival.minimum(&shaping.beginning_at_zero()))
    }
}

/// Arrivals by a curve, with each frame or bit late by up to a delay.
pub(super) fn delayed(arrival: &Curve, delay: &Extended) -> Curve {
    match delay {
        Extended::Finite(delay) => arrival.advanced(delay).beginning_at_zero(),
        // Without a bound on the delay, all frames of a long time may come at once.
        _ => Curve::constant(Extended::Infinity),
    }
}
