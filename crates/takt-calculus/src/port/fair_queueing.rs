//! Delay of each stream at a queue of FQ_CoDel (RFC 8290, section 4), where each stream has a queue of its own: Deficit
//! Round Robin, with a list of new flows that is served before the list of old ones. `docs/bounds.md` has the proof.
//!
//! Linux lets a frame pass that finds the queue empty (`TCQ_F_CAN_BYPASS`), and hands frames to the driver before the link
//! is free. These frames ([`Passed`]) are before a frame as well, besides those of the lists.
//!
//! "Flow" is the word of RFC 8290 for a stream at one port. Lengths that flows pay for are those that the discipline
//! counts; all other sizes are bits on the wire. A VLAN tag counts for the flow that waits, and not for the others.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

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
/// Greatest number of own frames that have left the lists which is analysed by itself.
const MOST_SINGLE: u32 = 3;
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

    /// Returns the least time between the first and the last of so many frames if `own` earlier ones are not sent yet when the first
    /// one comes, all within their longest delay. `None` if so many never come.
    fn spread_behind(&self, own: u32, frames: u32, longest: &Extended) -> Option<Rational> {
        let alone = self.spread(frames)?;
        let all = self.spread(own + frames)?;
        Some(match longest {
            Extended::Finite(longest) if own > 0 => alone.max(all - longest),
            _ => alone,
        })
    }
}

/// Returns the numbers up to `most` in few groups. Of each group, the smallest one says when frames come, and the greatest one how
/// many there are.
fn groups(most: u32) -> Vec<RangeInclusive<u32>> {
    let single = 0..=most.min(MOST_SINGLE);
    let mut groups: Vec<_> = single.map(|number| number..=number).collect();
    if most > MOST_SINGLE {
        groups.push(MOST_SINGLE + 1..=most);
    }
    groups
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

/// Frames that have left the queue, or passed it by, and wait for the link in the order in which they did (Linux).
#[derive(Debug, Clone, Copy)]
struct Passed {
    /// Most such frames when another one comes: that on the link, those of the driver, and one that the driver refused
    /// (`gso_skb`).
    frames: u32,
}

/// Deficit Round Robin of a port.
pub(super) struct RoundRobin<'a> {
    quantum: &'a Rational,
    uncounted: &'a Rational,
    tag: &'a Rational,
    link_rate: &'a Rational,
    /// Frames that are no longer in the lists; `None` if the frame on the link is chosen when the link is free.
    passed: Option<Passed>,
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
                driver_queue,
            } if self.visits(queue).len() <= MOST_FLOWS => Some(RoundRobin {
                quantum,
                uncounted,
                tag,
                link_rate: port.link_rate(),
                passed: driver_queue.map(|driver| Passed {
                    frames: driver.saturating_add(2),
                }),
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
        // The delays are bounds after each round, so the loop may end at any time.
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
        let most = self.own_passed(flow, known);
        let is_sparse = self.is_sparse(index, flows, sent, &length, most);
        let mut longest = Extended::ZERO;
        for own in groups(most) {
            let Some(delay) = self.delay_behind_own(index, flows, sent, (&own, is_sparse), known)
            else {
                return known.clone();
            };
            longest = longest.max(delay);
        }
        longest.min(known.clone())
    }

    /// Returns the longest delay of a flow of which so many frames have left the lists, and are not sent yet, when the first one
    /// of those comes that then wait one behind the other. `None` if it is not below `known`.
    fn delay_behind_own(
        &self,
        index: usize,
        flows: &[FairFlow],
        sent: &[Curve],
        (own, is_sparse): (&RangeInclusive<u32>, bool),
        known: &Extended,
    ) -> Option<Extended> {
        let flow = &flows[index];
        let length = &flow.longest - self.uncounted;
        let mut longest = Extended::ZERO;
        let mut left: Option<([Stay; 2], Curve)> = None;
        let mut comes = flow.spread_behind(*own.start(), 1, known);
        for frames in 1..=MOST_FRAMES {
            // So many frames never come.
            let Some(came) = comes else {
                return Some(longest);
            };
            let stays = self.stays(frames, &length, is_sparse);
            let service = match left.take() {
                Some((same, service)) if same == stays => service,
                _ => self.left_by_others(index, flows, sent, Some(&stays), *own.end()),
            };
            let before = &flow.longest * Rational::from(frames - 1);
            let begins = service.first_above(&Extended::Finite(before))?;
            let ends = begins + &flow.longest / self.link_rate;
            longest = longest.max(Extended::Finite(&ends - came));
            if longest >= *known {
                return None;
            }
            comes = flow.spread_behind(*own.start(), frames + 1, known);
            // The next frame finds no other one of its flow.
            if comes.as_ref().is_some_and(|next| *next >= ends) {
                return Some(longest);
            }
            left = Some((stays, service));
        }
        None
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

    /// Returns the most frames of a flow that have left the lists and are not sent yet when another one of it comes to
    /// lists without frames of it. `known` is a bound for its delay: earlier frames have been sent.
    fn own_passed(&self, flow: &FairFlow, known: &Extended) -> u32 {
        let most = self.passed.map_or(0, |passed| passed.frames);
        let Extended::Finite(known) = known else {
            return most;
        };
        let is_there = |before: &u32| {
            let spread = flow.spread(before + 1);
            spread.is_some_and(|spread| spread < *known)
        };
        (1..=most).take_while(is_there).last().unwrap_or(0)
    }

    /// Returns true if a flow never uses up its quantum: before it has sent enough frames for that, it has none left
    /// when its turn comes, so that the next frame makes it a new flow with a whole quantum. `own` is the number of its
    /// frames before the first one in the lists.
    fn is_sparse(
        &self,
        index: usize,
        flows: &[FairFlow],
        sent: &[Curve],
        length: &Rational,
        own: u32,
    ) -> bool {
        let flow = &flows[index];
        // `false` is the safe answer: it assumes more turns of the others.
        let Ok(enough) = u32::try_from((self.quantum / length).ceil()) else {
            return false;
        };
        let listed = Stay {
            old: Rational::ONE,
            new: Rational::ONE,
        };
        // Frames that pass the lists by let a flow stay in them: only the link that becomes idle ends that for certain.
        let turns = [listed.clone(), listed];
        let turns = self.passed.is_none().then_some(&turns);
        let service = self.left_by_others(index, flows, sent, turns, own);
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

    /// Returns the service that the other flows leave to one during the longer of two stays, or in any time if there are
    /// none. `own` is the number of its own frames that have left the lists before.
    fn left_by_others(
        &self,
        index: usize,
        flows: &[FairFlow],
        sent: &[Curve],
        stays: Option<&[Stay; 2]>,
        own: u32,
    ) -> Curve {
        let others = || {
            let others = flows.iter().zip(sent).enumerate();
            others
                .filter(|(other, _)| *other != index)
                .map(|(_, other)| other)
        };
        let in_turns = |stays: &[Stay; 2]| -> Curve {
            let taken = others().map(|(flow, sent)| match self.most_bits(flow, stays) {
                Some(bits) => sent.minimum(&Curve::constant(Extended::Finite(bits))),
                None => sent.clone(),
            });
            taken.sum()
        };
        let plus =
            |taken: &Curve, bits: Rational| taken.sum(&Curve::constant(Extended::Finite(bits)));
        let taken = match (self.passed, stays) {
            (None, Some(stays)) => in_turns(stays),
            (passed, stays) => {
                let own = &flows[index].longest * Rational::from(own);
                let all: Curve = others().map(|(_, sent)| sent.clone()).sum();
                let all = plus(&all, own);
                match (passed, stays) {
                    (Some(passed), Some(stays)) => {
                        let longest = flows.iter().map(|flow| flow.longest.clone()).max();
                        let before =
                            longest.unwrap_or(Rational::ZERO) * Rational::from(passed.frames);
                        all.minimum(&plus(&in_turns(stays), before))
                    }
                    _ => all,
                }
            }
        };
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
        delays_with(0, None, flows)
    }

    /// Returns the same if so many bits of each frame may not count.
    fn delays_with_tag(tag: u32, flows: &[FairFlow]) -> Vec<Extended> {
        delays_with(tag, None, flows)
    }

    /// Returns the same if so many frames can have left the lists.
    fn delays_behind(passed: u32, flows: &[FairFlow]) -> Vec<Extended> {
        delays_with(0, Some(passed), flows)
    }

    fn delays_with(tag: u32, passed: Option<u32>, flows: &[FairFlow]) -> Vec<Extended> {
        let link = Curve::rate_latency(Rational::ONE, Rational::ZERO).unwrap();
        let (quantum, tag, nothing) = (Rational::from(10), tag.into(), Rational::ZERO);
        let round_robin = RoundRobin {
            quantum: &quantum,
            uncounted: &nothing,
            tag: &tag,
            link_rate: &Rational::ONE,
            passed: passed.map(|frames| Passed { frames }),
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
    fn frames_that_passed_the_lists_are_before_those_in_them() {
        // Two frames come to an empty queue, and none of them uses a turn.
        let burst = |frames| flow(1, 10, frames, 600);
        assert_eq!(
            delays_behind(3, &[flow(0, 2, 1, 600), burst(2)])[0],
            finite(22)
        );
        // Three pass, and the fourth one has its turn; the others wait behind.
        let delays = delays_behind(3, &[flow(0, 2, 1, 600), burst(20)]);
        assert_eq!(delays[0], finite(42));
        // Own frames pass as well.
        assert_eq!(delays_behind(3, &[flow(0, 4, 3, 100)]), [finite(12)]);
    }

    #[test]
    fn more_than_the_service_has_no_bound() {
        let found = delays(&[flow(0, 10, 1, 40), flow(1, 10, 2, 10)]);
        assert_eq!(found, [finite(30), Extended::Infinity]);
    }
}
