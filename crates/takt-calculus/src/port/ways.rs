//! Parts of a stream's path that are analysed by themselves: all of it, and each way between talker, loopbacks and listener.
//!
//! A burst that a loopback makes delays frames that waited less in the loopback. So the bound of the whole path can be below the
//! sum of its ways. It can also be above that sum: if nothing varies before the loopback, the frames behind it are as regular as
//! those before it, but a service curve of the whole path does not contain that.

use super::answer::NotApplicable;
use super::bounds::PortBounds;
use super::network::{PortNetwork, QueueId, Visit};
use crate::Rational;
use crate::curve::{Curve, Extended};

/// Consecutive queues of a stream's path, with the delays between them.
pub(super) struct Way<'a> {
    pub(super) stream: usize,
    /// The queues, with the way to each.
    pub(super) visits: Vec<(QueueId, &'a Visit)>,
    /// True if it begins with the stream's first step; false if it begins with the arrival at its first queue.
    pub(super) is_whole: bool,
    /// Greatest sum of the delays behind its last queue that belong to it.
    pub(super) behind: Rational,
}

impl Way<'_> {
    /// Returns the least and greatest delay on this way before the given queue.
    pub(super) fn before(&self, index: usize) -> (Rational, Rational) {
        match self.visits.get(index) {
            Some((_, visit)) if index > 0 || self.is_whole => {
                (visit.least.clone(), visit.most.clone())
            }
            _ => (Rational::ZERO, Rational::ZERO),
        }
    }

    /// Returns the sum of the least delays before all of its queues.
    pub(super) fn least_between(&self) -> Rational {
        (0..self.visits.len()).fold(Rational::ZERO, |sum, index| sum + self.before(index).0)
    }

    /// Returns the arrivals of the stream where this way begins.
    pub(super) fn arrival(&self, network: &PortNetwork, jitters: &[Vec<Extended>]) -> Curve {
        match self.visits.first() {
            Some((_, first)) if !self.is_whole => network.arrival_of(first, jitters),
            _ => network.streams[self.stream].arrival.clone(),
        }
    }

    /// Returns the sum of the delays of all ways of a stream and of its loopbacks. `None` if a way has no bound.
    pub(super) fn sum(
        ways: &[Self],
        delays: &[Result<Extended, NotApplicable>],
    ) -> Option<Extended> {
        let mut sum = Extended::ZERO;
        let mut before: Option<&Self> = None;
        for (way, delay) in ways.iter().zip(delays) {
            let (_, first) = way.visits.first()?;
            if let Some(before) = before {
                // The part before the loopback belongs to the way before.
                sum = sum.plus(&(&first.most - &before.behind));
            }
            sum = sum.sum(delay.as_ref().ok()?);
            before = Some(way);
        }
        Some(sum)
    }
}

impl PortNetwork {
    /// Returns all of a stream's path.
    pub(super) fn whole(&self, stream: usize) -> Way<'_> {
        Way {
            stream,
            visits: self.visits_of(stream),
            is_whole: true,
            behind: self.behind_queues(stream),
        }
    }

    /// Returns all of a stream's path from the arrival at its first queue on.
    pub(super) fn whole_from_queue(&self, stream: usize) -> Way<'_> {
        Way {
            is_whole: false,
            ..self.whole(stream)
        }
    }

    /// Returns the ways of a stream between its loopbacks. Without a loopback there is one, from its first queue on.
    pub(super) fn ways(&self, stream: usize) -> Vec<Way<'_>> {
        let mut ways: Vec<Way<'_>> = Vec::new();
        for (queue, visit) in self.visits_of(stream) {
            match ways.last_mut() {
                Some(way) if !visit.sent_again => way.visits.push((queue, visit)),
                before => {
                    if let Some(way) = before {
                        way.behind = visit.before_loopback.clone();
                    }
                    ways.push(Way {
                        stream,
                        visits: vec![(queue, visit)],
                        is_whole: false,
                        behind: self.behind_queues(stream),
                    });
                }
            }
        }
        ways
    }

    /// Returns the sum of the delays of Total Flow Analysis on a way.
    pub(super) fn total_flow_of_way(&self, way: &Way<'_>, bounds: &PortBounds) -> Extended {
        self.total_flow_from(way, bounds, 0)
    }

    /// Returns the same from the first bit of a frame on the link behind the first queue: the time of the frame there, and the delays
    /// behind it.
    pub(super) fn total_flow_from_first_bit(&self, way: &Way<'_>, bounds: &PortBounds) -> Extended {
        let Some((first, _)) = way.visits.first() else {
            return Extended::Infinity;
        };
        let longest = &self.streams[way.stream].longest;
        let sending = longest / self.ports[first.port].link_rate();
        self.total_flow_from(way, bounds, 1).plus(&sending)
    }

    /// Returns the sum of the delays on a way from a queue on, and of those between its queues. The delay before its first queue is left out
    /// unless the sum begins with that queue.
    fn total_flow_from(&self, way: &Way<'_>, bounds: &PortBounds, begin: usize) -> Extended {
        let mut sum = Extended::ZERO.plus(&way.behind);
        for (index, (queue, visit)) in way.visits.iter().enumerate().skip(begin) {
            let passage = (visit.stream, visit.position);
            let delay = bounds.queue(*queue).map(|queue| queue.delays.of(passage));
            sum = sum.sum(delay.unwrap_or(&Extended::Infinity));
            sum = sum.plus(&way.before(index).1);
        }
        sum
    }
}
