//! Delay of each stream at a queue of FQ_CoDel (RFC 8290, section 4), where each stream has a queue of its own: Deficit
//! Round Robin, with a list of new flows that is served before the list of old ones. `docs/bounds.md` has the proof.
//!
//! "Flow" is the word of RFC 8290 for a stream at one port. Lengths that flows pay for are those that the discipline
//! counts; all other sizes are bits on the wire. A VLAN tag counts for the flow that waits, and not for the others.

use std::collections::BTreeMap;

use super::TransmissionSelection;
use super::delays::Passage;
use super::network::{PortNetwork, PortNetworkError, QueueId, Visit};
use crate::Rational;
use crate::curve::{Curve, Extended};

/// Greatest number of flows at a port that are analysed one by one: the time grows with the square.
const MOST_FLOWS: usize = 32;
/// Greatest number of frames that a flow may have waiting one behind the other. For more, the bound of all flows is
/// near.
const MOST_FRAMES: u32 = 32;
/// Number of times that the delays of all flows are computed, each time from the delays before.
const REFINEMENTS: u32 = 3;

/// A flow at the port.
pub(super) struct FairFlow {
    passage: Passage,
    arrival: Curve,
    longest: Rational,
    shortest: Rational,
}

impl FairFlow {
    /// Returns the least time between the arrivals of the first and the last of so many frames, in seconds. `None` if
    /// so many never come.
    fn spread(&self, frames: u32) -> Option<Rational> {
        let bits = &self.shortest * Rational::from(frames);
        self.arrival.first_at_least(&Extended::Finite(bits))
    }
}

/// Stay of a flow in the lists, while the other flows have their turns.
///
/// While it is in the list of old flows until it has had its turn, each other flow is served at most `2 c - 1` frames,
/// where `c` is the number of its shortest frames that use up a quantum: up to `c - 1` as an old flow that then has no
/// frame left, and up to `c` as a new flow. While only new flows are served before it, that number is `c`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stay {
    /// Number of times that it waits in the list of old flows.
    old: Rational,
    /// Number of times that only new flows are served before it.
    new: Rational,
}

/// Deficit Round Robin of a port.
pub(super) struct RoundRobin<'a> {
    quantum: &'a Rational,
    uncounted: &'a Rational,
    tag: &'a Rational,
    link_rate: &'a Rational,
    /// Strict service curve of all flows together.
    service: &'a Curve,
}

impl PortNetwork {
    /// Returns the Deficit Round Robin at a queue. `None` for other disciplines, and for too many flows.
    pub(super) fn round_robin<'a>(
        &'a self,
        queue: QueueId,
        service: &'a Curve,
    ) -> Option<RoundRobin<'a>> {
        let port = &self.ports[queue.port];
        match &port.classes()[queue.class].selection {
            TransmissionSelection::FairQueueing {
                quantum,
                uncounted,
                tag,
            } if self.visits(queue).len() <= MOST_FLOWS => Some(RoundRobin {
                quantum,
                uncounted,
                tag,
                link_rate: port.link_rate(),
                service,
            }),
            _ => None,
        }
    }

    /// Returns the flows at a queue: one for each time that a stream passes it.
    pub(super) fn fair_flows(
        &self,
        queue: QueueId,
        jitters: &[Vec<Extended>],
        shaped: bool,
    ) -> Result<Vec<FairFlow>, PortNetworkError> {
        let flow = |visit: &Visit| {
            let stream = &self.streams[visit.stream];
            Ok(FairFlow {
                passage: (visit.stream, visit.position),
                arrival: self.arrival_over_link(visit, jitters, shaped)?,
                longest: stream.longest.clone(),
                shortest: stream.shortest.clone(),
            })
        };
        self.visits(queue).iter().map(flow).collect()
    }
}

impl RoundRobin<'_> {
    /// Returns the longest delay of each flow, in seconds. `of_all` is a bound for all of them.
    pub(super) fn delays(
        &self,
        flows: &[FairFlow],
        of_all: &Extended,
    ) -> BTreeMap<Passage, Extended> {
        let mut delays = vec![of_all.clone(); flows.len()];
        for _ in 0..REFINEMENTS {
            let sent: Vec<Curve> = (flows.iter().zip(&delays))
                .map(|(flow, delay)| self.sent(flow, delay))
                .collect();
            let next: Vec<Extended> = (0..flows.len())
                .map(|index| self.delay(index, flows, &sent, &delays[index]))
                .collect();
            let is_same = next == delays;
            delays = next;
            if is_same {
                break;
            }
        }
        let passages = flows.iter().map(|flow| flow.passage);
        passages.zip(delays).collect()
    }

    /// Returns the most bits of a flow that are sent in any interval, counted by frames whose last bit is sent in it:
    /// these came in that interval or up to their delay before it.
    fn sent(&self, flow: &FairFlow, delay: &Extended) -> Curve {
        match delay {
            Extended::Finite(delay) => {
                let queued = (delay - &flow.shortest / self.link_rate).max(Rational::ZERO);
                flow.arrival.advanced(&queued).beginning_at_zero()
            }
            _ => Curve::constant(Extended::Infinity).beginning_at_zero(),
        }
    }

    /// Returns the longest delay of a flow, at most `known`. `sent` is the output of each flow.
    fn delay(
        &self,
        index: usize,
        flows: &[FairFlow],
        sent: &[Curve],
        known: &Extended,
    ) -> Extended {
        let flow = &flows[index];
        let length = &flow.longest - self.uncounted;
        if length <= Rational::ZERO {
            return known.clone();
        }
        let is_sparse = self.is_sparse(index, flows, sent, &length);
        let mut longest = Extended::ZERO;
        let mut left: Option<([Stay; 2], Curve)> = None;
        for frames in 1..=MOST_FRAMES {
            let stays = self.stays(frames, &length, is_sparse);
            let service = match left.take() {
                Some((same, service)) if same == stays => service,
                _ => self.left_by_others(index, flows, sent, &stays),
            };
            let before = &flow.longest * Rational::from(frames - 1);
            let (Some(begins), Some(spread)) = (
                service.first_above(&Extended::Finite(before)),
                flow.spread(frames),
            ) else {
                return known.clone();
            };
            let ends = begins + &flow.longest / self.link_rate;
            longest = longest.max(Extended::Finite(&ends - spread));
            if longest >= *known {
                return known.clone();
            }
            // The next frame finds no other one of its flow.
            if flow.spread(frames + 1).is_none_or(|next| next >= ends) {
                return longest;
            }
            left = Some((stays, service));
        }
        known.clone()
    }

    /// Returns the stays that can be the longest for a flow of which so many frames wait, with the last one.
    fn stays(&self, frames: u32, length: &Rational, is_sparse: bool) -> [Stay; 2] {
        let stay = |old: Rational, new: u32| Stay {
            old,
            new: new.into(),
        };
        let one = || stay(Rational::ONE, 0);
        if is_sparse {
            return [one(), one()];
        }
        let quanta = |frames: u32| {
            let bits = length * Rational::from(frames);
            Rational::from((bits / self.quantum).ceil())
        };
        [
            stay(quanta(frames - 1) + Rational::ONE, 0),
            stay(quanta(frames), 1),
        ]
    }

    /// Returns true if a flow never uses up its quantum: before it has sent enough frames for that, it has none left
    /// when its turn comes, so that the next frame makes it a new flow with a whole quantum.
    fn is_sparse(
        &self,
        index: usize,
        flows: &[FairFlow],
        sent: &[Curve],
        length: &Rational,
    ) -> bool {
        let flow = &flows[index];
        let Ok(enough) = u32::try_from((self.quantum / length).ceil()) else {
            return false;
        };
        let listed = Stay {
            old: Rational::ONE,
            new: Rational::ONE,
        };
        let service = self.left_by_others(index, flows, sent, &[listed.clone(), listed]);
        let before = &flow.longest * Rational::from(enough.saturating_sub(1));
        match (
            service.first_above(&Extended::Finite(before)),
            flow.spread(enough),
        ) {
            (Some(last), Some(spread)) => spread > last,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// Returns the service that the other flows leave to one during the longer of two stays.
    fn left_by_others(
        &self,
        index: usize,
        flows: &[FairFlow],
        sent: &[Curve],
        stays: &[Stay; 2],
    ) -> Curve {
        let others = flows.iter().zip(sent).enumerate();
        let others = others.filter(|(other, _)| *other != index);
        let taken = others.map(|(_, (flow, sent))| match self.most_bits(flow, stays) {
            Some(bits) => sent.minimum(&Curve::constant(Extended::Finite(bits))),
            None => sent.clone(),
        });
        let taken: Curve = taken.sum();
        self.service
            .residual(&taken.beginning_at_zero(), &Rational::ZERO)
    }

    /// Returns the most bits of a flow that are sent during the longer of two stays of another one. `None` if its
    /// frames may be too short to count.
    fn most_bits(&self, flow: &FairFlow, stays: &[Stay; 2]) -> Option<Rational> {
        let length = &flow.shortest - self.uncounted - self.tag;
        if length <= Rational::ZERO {
            return None;
        }
        let new = Rational::from((self.quantum / length).ceil());
        let old = &new + &new - Rational::ONE;
        let frames = stays
            .each_ref()
            .map(|stay| &stay.old * &old + &stay.new * &new);
        let [one, other] = frames;
        Some(one.max(other) * &flow.longest)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn flow(stream: usize, bits: u32, burst: u32, period: u32) -> FairFlow {
        let together = Rational::from(bits * burst);
        FairFlow {
            passage: (stream, 0),
            arrival: Curve::staircase(together, period.into(), 8).unwrap(),
            longest: bits.into(),
            shortest: bits.into(),
        }
    }

    /// Returns the delays of flows on a link of rate 1 with a quantum of 10 bits, of all bits of a frame.
    fn delays(flows: &[FairFlow]) -> Vec<Extended> {
        delays_with_tag(0, flows)
    }

    /// Returns the same if so many bits of each frame may not count.
    fn delays_with_tag(tag: u32, flows: &[FairFlow]) -> Vec<Extended> {
        let link = Curve::rate_latency(Rational::ONE, Rational::ZERO).unwrap();
        let (quantum, tag, nothing) = (Rational::from(10), tag.into(), Rational::ZERO);
        let round_robin = RoundRobin {
            quantum: &quantum,
            uncounted: &nothing,
            tag: &tag,
            link_rate: &Rational::ONE,
            service: &link,
        };
        let delays = round_robin.delays(flows, &Extended::Infinity);
        delays.into_values().collect()
    }

    fn finite(bits: u32) -> Extended {
        Extended::Finite(bits.into())
    }

    #[test]
    fn a_sparse_flow_waits_for_one_turn_of_each_other_flow() {
        let bulk = flow(1, 10, 50, 600);
        assert_eq!(delays(&[flow(0, 2, 1, 100), bulk])[0], finite(12));
        // A new flow of frames of 4 bit sends 3 of them; as an old flow before, it sends 2 that do not use up its
        // quantum.
        let small = flow(1, 4, 50, 600);
        assert_eq!(delays(&[flow(0, 2, 1, 100), small])[0], finite(22));
        // Fewer frames come than turns allow.
        let small = flow(1, 4, 2, 600);
        assert_eq!(delays(&[flow(0, 2, 1, 100), small])[0], finite(10));
    }

    #[test]
    fn a_frame_whose_tag_does_not_count_may_not_use_up_the_quantum() {
        let flows = || [flow(0, 2, 1, 100), flow(1, 10, 50, 600)];
        // As an old flow, the other one sends a frame and leaves the lists; then it sends two as a new flow.
        assert_eq!(delays_with_tag(1, &flows())[0], finite(32));
        assert_eq!(delays_with_tag(0, &flows())[0], finite(12));
    }

    #[test]
    fn a_flow_that_uses_up_its_quantum_waits_for_more_turns() {
        let bulk = || flow(1, 10, 50, 600);
        // Its second frame comes before the first one is off the lists.
        assert_eq!(delays(&[flow(0, 10, 1, 40), bulk()])[0], finite(30));
        // Two frames at once need two quanta.
        assert_eq!(delays(&[flow(0, 10, 2, 100), bulk()])[0], finite(50));
    }

    #[test]
    fn a_flow_alone_waits_for_its_own_frames() {
        assert_eq!(delays(&[flow(0, 4, 3, 100)]), [finite(12)]);
    }

    #[test]
    fn more_than_the_service_has_no_bound() {
        let found = delays(&[flow(0, 10, 1, 40), flow(1, 10, 2, 10)]);
        assert_eq!(found, [finite(30), Extended::Infinity]);
    }
}
