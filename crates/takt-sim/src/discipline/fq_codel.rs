//! Fair Queuing with Controlled Delay (RFC 8290, `net/sched/sch_fq_codel.c`), Linux's default.

use std::collections::VecDeque;

use super::codel::{Codel, Units, units};
use super::{CodelParameters, DropReason, Drops, Packet};
use crate::Time;

/// Number of packets that are dropped at once when there are too many.
const DROP_BATCH: usize = 64;

#[derive(Debug)]
struct Flow {
    packets: VecDeque<(Units, Packet)>,
    deficit: i64,
    backlog: u64,
    listed: bool,
    codel: Codel,
}

/// Queues of flows, which take turns, with CoDel at each. The kernel hashes addresses; here flow n has queue n modulo the number
/// of queues, so that no two of a few flows share one. Memory is counted in bytes of L2 frames, while the kernel counts its
/// buffers.
#[derive(Debug)]
pub struct FqCodel {
    limit: usize,
    memory_limit: u64,
    queues: u32,
    quantum: i64,
    codel: CodelParameters,
    flows: Vec<Flow>,
    new_flows: VecDeque<u32>,
    old_flows: VecDeque<u32>,
    length: usize,
    backlog: u64,
}

impl FqCodel {
    /// Makes the discipline. Its queues are made when they are needed.
    pub fn new(parameters: &takt_scenario::FqCodelParameters) -> Self {
        // Without a queue, no remainder exists. Without a quantum, a turn would never come.
        let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX).max(1);
        Self {
            limit: usize::try_from(parameters.limit).unwrap_or(usize::MAX),
            memory_limit: parameters.memory_limit.0,
            queues: number(parameters.flows),
            quantum: number(parameters.quantum.0).into(),
            codel: CodelParameters {
                target: parameters.target.into(),
                interval: parameters.interval.into(),
                // This is `psched_mtu` of an Ethernet device: 1500 bytes and the header of 14.
                mtu: 1514,
            },
            flows: Vec::new(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            length: 0,
            backlog: 0,
        }
    }

    /// Returns true if no packet waits.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Adds a packet. If there are too many now, drops from the flow with the greatest backlog.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        let index = packet.flow % self.queues;
        while self.flows.len() <= index as usize {
            self.flows.push(Flow {
                packets: VecDeque::new(),
                deficit: 0,
                backlog: 0,
                listed: false,
                codel: Codel::new(&self.codel),
            });
        }
        let flow = &mut self.flows[index as usize];
        flow.packets.push_back((units(now), packet));
        flow.backlog += u64::from(packet.length);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new_flows.push_back(index);
        }
        self.length += 1;
        self.backlog += u64::from(packet.length);
        if self.length > self.limit || self.backlog > self.memory_limit {
            self.drop_batch(drops);
        }
    }

    /// Removes and returns the next packet; CoDel may drop some before it.
    pub fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        loop {
            let new = !self.new_flows.is_empty();
            let list = if new {
                &self.new_flows
            } else {
                &self.old_flows
            };
            let index = *list.front()?;
            if self.flows[index as usize].deficit <= 0 {
                self.flows[index as usize].deficit += self.quantum;
                self.unlist_first(new);
                self.old_flows.push_back(index);
                continue;
            }
            if let Some(packet) = self.codel_dequeue(index as usize, units(now), drops) {
                self.flows[index as usize].deficit -= i64::from(packet.length);
                return Some(packet);
            }
            // A new flow passes through the list of old ones once, so that it does not count as new again at once.
            self.unlist_first(new);
            if new && !self.old_flows.is_empty() {
                self.old_flows.push_back(index);
            } else {
                self.flows[index as usize].listed = false;
            }
        }
    }

    fn unlist_first(&mut self, new: bool) {
        let list = if new {
            &mut self.new_flows
        } else {
            &mut self.old_flows
        };
        let _ = list.pop_front();
    }

    fn take(&mut self, index: usize) -> Option<(Units, Packet)> {
        let flow = &mut self.flows[index];
        let (time, packet) = flow.packets.pop_front()?;
        flow.backlog -= u64::from(packet.length);
        self.length -= 1;
        self.backlog -= u64::from(packet.length);
        Some((time, packet))
    }

    /// Returns the next packet of a flow, and true if it may have to be dropped.
    fn judged(&mut self, index: usize, now: Units) -> Option<(Packet, bool)> {
        let (since, packet) = self.take(index)?;
        let codel = &mut self.flows[index].codel;
        // As in the kernel, the backlog is that of all flows: CoDel drops nothing while no more than `mtu` bytes wait in all of them.
        Some((packet, codel.should_drop(now - since, self.backlog, now)))
    }

    fn codel_dequeue(&mut self, index: usize, now: Units, drops: &mut Drops) -> Option<Packet> {
        let Some((mut packet, mut drop)) = self.judged(index, now) else {
            self.flows[index].codel.dropping = false;
            return None;
        };
        if self.flows[index].codel.dropping {
            if !drop {
                self.flows[index].codel.dropping = false;
            }
            while self.flows[index].codel.is_due(now) {
                self.flows[index].codel.count();
                drops.push((packet, DropReason::Codel));
                let next = self.judged(index, now);
                let codel = &mut self.flows[index].codel;
                let Some(next) = next else {
                    codel.emptied();
                    codel.dropping = false;
                    return None;
                };
                (packet, drop) = next;
                if drop {
                    codel.schedule();
                } else {
                    codel.dropping = false;
                }
            }
        } else if drop {
            drops.push((packet, DropReason::Codel));
            let next = self.judged(index, now);
            let codel = &mut self.flows[index].codel;
            codel.begin(now);
            if next.is_none() {
                codel.emptied();
            }
            packet = next?.0;
        }
        Some(packet)
    }

    /// Drops packets of the flow with the greatest backlog, up to half of that.
    fn drop_batch(&mut self, drops: &mut Drops) {
        let flows = self.flows.iter().enumerate();
        // The kernel takes the first of several flows with the same backlog.
        let fattest = flows.max_by_key(|(index, flow)| (flow.backlog, std::cmp::Reverse(*index)));
        let Some((index, half)) = fattest.map(|(index, flow)| (index, flow.backlog / 2)) else {
            return;
        };
        let mut dropped = 0;
        for _ in 0..DROP_BATCH {
            // The oldest packets of the flow go first, as in the kernel (`dequeue_head`).
            let Some((_, packet)) = self.take(index) else {
                break;
            };
            dropped += u64::from(packet.length);
            self.flows[index].codel.overflowed(1);
            drops.push((packet, DropReason::QueueFull));
            if dropped >= half {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test::packet;
    use super::*;

    fn of(flow: u32, frame: u32, length: u32) -> Packet {
        Packet {
            flow,
            ..packet(frame, length)
        }
    }

    #[test]
    fn flows_take_turns() {
        let mut queue = FqCodel::new(&takt_scenario::FqCodelParameters::default());
        let mut drops = Drops::new();
        for frame in 0..4 {
            queue.enqueue(of(1, frame, 1000), Time::ZERO, &mut drops);
            queue.enqueue(of(2, 10 + frame, 500), Time::ZERO, &mut drops);
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut drops))
            .map(|packet| packet.frame)
            .collect();
        // A quantum is 1514 B: two packets of 1000 (1514, 514, −486), four of 500 (1514, 1014, 514, 14), then the others.
        assert_eq!(order, [0, 1, 10, 11, 12, 13, 2, 3]);
        assert!(drops.is_empty());
    }

    #[test]
    fn a_new_flow_goes_first() {
        let mut queue = FqCodel::new(&takt_scenario::FqCodelParameters::default());
        let mut drops = Drops::new();
        for frame in 0..10 {
            queue.enqueue(of(1, frame, 1500), Time::ZERO, &mut drops);
        }
        for _ in 0..3 {
            let _ = queue.dequeue(Time::ZERO, &mut drops);
        }
        queue.enqueue(of(2, 99, 100), Time::ZERO, &mut drops);
        let next = queue.dequeue(Time::ZERO, &mut drops);
        assert_eq!(next.map(|packet| packet.frame), Some(99));
    }

    #[test]
    fn an_overflow_drops_packets_of_the_longest_queue() {
        let mut queue = FqCodel::new(&takt_scenario::FqCodelParameters {
            limit: 10,
            ..takt_scenario::FqCodelParameters::default()
        });
        let mut drops = Drops::new();
        queue.enqueue(of(2, 99, 1500), Time::ZERO, &mut drops);
        for frame in 0..10 {
            queue.enqueue(of(1, frame, 1000), Time::ZERO, &mut drops);
        }
        // Half of ten packets are dropped, from the head.
        let dropped: Vec<_> = drops
            .iter()
            .map(|(packet, reason)| (packet.frame, *reason))
            .collect();
        assert_eq!(
            dropped,
            [0, 1, 2, 3, 4].map(|frame| (frame, DropReason::QueueFull))
        );
    }

    #[test]
    fn codel_begins_an_interval_after_the_target() {
        let mut queue = FqCodel::new(&takt_scenario::FqCodelParameters::default());
        let mut drops = Drops::new();
        let ms = |milliseconds: i64| Time::microseconds(1000 * milliseconds);
        for frame in 0..100 {
            queue.enqueue(of(1, frame, 1500), Time::ZERO, &mut drops);
        }
        // Each packet waited more than 5 ms from here on.
        let _ = queue.dequeue(ms(6), &mut drops);
        let _ = queue.dequeue(ms(106), &mut drops);
        assert!(drops.is_empty());
        let sent = queue.dequeue(ms(107), &mut drops);
        assert_eq!(sent.map(|packet| packet.frame), Some(3));
        assert_eq!(drops, [(of(1, 2, 1500), DropReason::Codel)]);
        // The next drop is due 100 ms later.
        let _ = queue.dequeue(ms(206), &mut drops);
        assert_eq!(drops.len(), 1);
        let _ = queue.dequeue(ms(207), &mut drops);
        assert_eq!(drops.len(), 2);
    }

    #[test]
    fn codel_counts_units_of_1024_nanoseconds() {
        let mut queue = FqCodel::new(&takt_scenario::FqCodelParameters::default());
        let mut drops = Drops::new();
        for frame in 0..100 {
            queue.enqueue(of(1, frame, 1500), Time::ZERO, &mut drops);
        }
        // 6 ms are 5859 units, the interval is 97 656 units, and the next unit begins at 106 000 384 ns.
        let _ = queue.dequeue(Time::microseconds(6000), &mut drops);
        let _ = queue.dequeue(Time::nanoseconds(106_000_383), &mut drops);
        assert!(drops.is_empty());
        let _ = queue.dequeue(Time::nanoseconds(106_000_384), &mut drops);
        assert_eq!(drops, [(of(1, 2, 1500), DropReason::Codel)]);
    }

    #[test]
    fn short_queues_are_left_alone() {
        let mut queue = FqCodel::new(&takt_scenario::FqCodelParameters::default());
        let mut drops = Drops::new();
        for frame in 0..200 {
            let now = Time::microseconds(10_000 * i64::from(frame));
            queue.enqueue(of(1, frame, 1500), now, &mut drops);
            let _ = queue.dequeue(now + Time::microseconds(9000), &mut drops);
        }
        assert!(drops.is_empty());
    }
}
