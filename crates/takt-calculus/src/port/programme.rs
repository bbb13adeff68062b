//! The linear programme of a stream in a network of ports: its servers, and the flows that pass them.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::NotApplicable;
use super::bounds::PortBounds;
use super::network::{PortNetwork, PortNetworkError, QueueId, Visit};
use super::ways::Way;
use crate::Rational;
use crate::curve::Extended;
use crate::network::{Arrivals, Network, NetworkFlow, NetworkServer, Passing};
use crate::polynomial::{self, Sought};

impl PortNetwork {
    /// Returns the bound of the linear programme with the queues of a way and those before them. Each server is a queue with its
    /// way to the next queue, where frames are complete: a FIFO system as well.
    pub(super) fn polynomial(
        &self,
        way: &Way<'_>,
        bounds: &PortBounds,
    ) -> Result<Result<Extended, NotApplicable>, PortNetworkError> {
        let visits = &way.visits;
        for (index, (queue, _)) in visits.iter().enumerate() {
            if !self.is_fifo(*queue) {
                return Ok(Err(NotApplicable::NotFifo(*queue)));
            }
            if visits[..index].iter().any(|(before, _)| before == queue) {
                return Ok(Err(NotApplicable::Again(*queue)));
            }
        }
        if visits.is_empty() {
            return Ok(Err(NotApplicable::NotFound));
        }
        let always = way.least_between() + &way.behind;
        let (least, most) = way.before(0);
        let before = most - least;
        let Some((network, arrivals, delays)) = self.fluid(way, bounds)? else {
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

    /// Makes the servers and flows of the linear programme; the way is flow 0. Streams that no server of the programme meets are
    /// left out.
    fn fluid(
        &self,
        way: &Way<'_>,
        bounds: &PortBounds,
    ) -> Result<Option<(Network, Arrivals, Vec<Extended>)>, PortNetworkError> {
        // One way is kept between two queues: that of the stream itself, otherwise that of the first stream with such a way.
        // Streams with another way are cut there. So is every other stream at its loopback, and begins again behind it by its
        // arrivals there: applications send by their own cycles, so that the frames of one may pass those of another.
        let stream = way.stream;
        // A shared queue is visited by another stream, for this one as well. It is on the way once, and the other stream is cut there.
        let own = |visit: &Visit| {
            let mut of_way = way.visits.iter();
            of_way.any(|(_, own)| (own.stream, own.position) == (visit.stream, visit.position))
        };
        let apart = |other: usize| -> Vec<(QueueId, &Visit)> {
            let visits = self.visits_of(other).into_iter();
            let visits = visits.filter(|(_, visit)| visit.stream == other && !own(visit));
            visits.collect()
        };
        let others = self.near(&way.visits);
        let others = others.into_iter().filter(|other| *other != stream);
        let ways: Vec<Vec<(QueueId, &Visit)>> = [way.visits.clone(), apart(stream)]
            .into_iter()
            .chain(others.map(apart))
            .collect();
        let passed: BTreeSet<QueueId> = ways.iter().flatten().map(|(queue, _)| *queue).collect();
        let mut between: BTreeMap<(QueueId, QueueId), &Visit> = BTreeMap::new();
        for (queue, visit) in ways.iter().flatten() {
            if let Some(from) = visit.from
                && (own(visit) || !visit.sent_again)
            {
                between.entry((from, *queue)).or_insert(visit);
            }
        }
        let together = |queue: QueueId, visit: &Visit| {
            let kept = visit.from.and_then(|from| between.get(&(from, queue)));
            kept.is_some_and(|kept| match kept.sent_again || visit.sent_again {
                true => own(kept) && own(visit),
                false => kept.least == visit.least && kept.most == visit.most,
            })
        };
        let last = way.visits.last().map(|(queue, _)| *queue);
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
                    .map(|(_, visit)| &visit.most - &visit.least)
                    .max()
                    .unwrap_or(Rational::ZERO);
                let longest = &self.ports[port].classes()[class].longest;
                let whole = longest / self.ports[port].link_rate() + &spread;
                // Behind the last queue, frames need not be put together: the delay ends with the last bit.
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
                servers.push(NetworkServer {
                    service: queue_bounds.service.minimum.later(&late),
                    shaping: Some(queue_bounds.service.shaping.advanced(&whole)),
                });
                delays.push(queue_bounds.delay.plus(&spread));
            }
        }
        let known = &bounds.jitters;
        let mut flows = Vec::new();
        let mut arrivals = Vec::new();
        for visits in &ways {
            let mut open = false;
            for (queue, visit) in visits {
                if !self.is_fifo(*queue) {
                    open = false;
                    continue;
                }
                let arrival = self.arrival_of(visit, known);
                if arrival.long_term_rate().is_none() && (own(visit) || visit.stream == stream) {
                    return Ok(None);
                }
                if !open || !together(*queue, visit) {
                    flows.push(NetworkFlow {
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
            // The programme uses no order, and these servers need not have one: they may depend on each other in a circle.
            order: Vec::new(),
            passing,
        };
        Ok(Some((network, Arrivals(arrivals), delays)))
    }
}
