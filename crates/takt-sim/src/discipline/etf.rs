//! Earliest TxTime First (`net/sched/sch_etf.c`).

use std::collections::VecDeque;

use super::{DropReason, Drops, Next, Packet};
use crate::Time;

/// What a txtime means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EtfMode {
    /// Packets leave `delta` before it.
    Software,
    /// They are given to the hardware then, which sends them at the txtime itself (LaunchTime).
    Offload,
    /// It is a deadline: they leave at once.
    Deadline,
}

/// Packets by their txtime, each released `delta` before that; late ones are dropped.
#[derive(Debug)]
pub struct Etf {
    packets: VecDeque<(Time, Packet)>,
    limit: usize,
    delta: Time,
    mode: EtfMode,
    /// The txtime of the last that was released.
    last: Time,
}

impl Etf {
    /// A queue for so many packets. `skip_sock_check` makes no difference here: what has no txtime is dropped in either case.
    pub fn new(limit: usize, delta: Time, mode: EtfMode) -> Self {
        Self {
            packets: VecDeque::new(),
            limit,
            delta,
            mode,
            last: Time::MIN,
        }
    }

    /// Takes a packet in, or drops it: without a txtime, or too late for it.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        let Some(txtime) = packet.txtime else {
            drops.push((packet, DropReason::NoTxTime));
            return;
        };
        if txtime < now || txtime < self.last {
            drops.push((packet, DropReason::TxTimeInvalid));
        } else if self.packets.len() >= self.limit {
            drops.push((packet, DropReason::QueueFull));
        } else {
            let place = self.packets.partition_point(|(other, _)| *other <= txtime);
            self.packets.insert(place, (txtime, packet));
        }
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// What can be released; drops what has expired.
    pub fn next(&mut self, now: Time, drops: &mut Drops) -> Next {
        while let Some((txtime, packet)) = self.packets.front().copied() {
            // What the hardware has is not dropped any more.
            if txtime < now && self.mode != EtfMode::Offload {
                let _ = self.packets.pop_front();
                drops.push((packet, DropReason::TxTimeMissed));
                continue;
            }
            let release = match self.mode {
                EtfMode::Software => txtime - self.delta,
                EtfMode::Offload => txtime,
                EtfMode::Deadline => now,
            };
            if release <= now {
                return Next::Now(packet);
            }
            return Next::At(release);
        }
        Next::Empty
    }

    /// Releases what [`Self::next`] said.
    pub fn take(&mut self) -> Option<Packet> {
        let (txtime, packet) = self.packets.pop_front()?;
        self.last = txtime;
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test::packet;
    use super::*;

    const fn us(microseconds: i64) -> Time {
        Time::microseconds(microseconds)
    }

    fn timed(frame: u32, txtime: i64) -> Packet {
        Packet {
            txtime: Some(us(txtime)),
            ..packet(frame, 100)
        }
    }

    #[test]
    fn sorted_by_txtime_and_released_delta_before() {
        let mut etf = Etf::new(10, us(200), EtfMode::Software);
        let mut drops = Drops::new();
        for packet in [timed(0, 900), timed(1, 400), timed(2, 900), timed(3, 650)] {
            etf.enqueue(packet, us(0), &mut drops);
        }
        assert_eq!(etf.next(us(0), &mut drops), Next::At(us(200)));
        assert_eq!(etf.next(us(200), &mut drops), Next::Now(timed(1, 400)));
        assert_eq!(etf.take(), Some(timed(1, 400)));
        assert_eq!(etf.next(us(201), &mut drops), Next::At(us(450)));
        assert_eq!(etf.next(us(650), &mut drops), Next::Now(timed(3, 650)));
        let _ = etf.take();
        // First come, first served, if both have the same.
        assert_eq!(etf.next(us(700), &mut drops), Next::Now(timed(0, 900)));
        let _ = etf.take();
        assert_eq!(etf.next(us(700), &mut drops), Next::Now(timed(2, 900)));
        assert!(drops.is_empty());
    }

    #[test]
    fn late_packets_are_dropped() {
        let mut etf = Etf::new(2, us(200), EtfMode::Software);
        let mut drops = Drops::new();
        etf.enqueue(packet(0, 100), us(0), &mut drops);
        etf.enqueue(timed(1, 499), us(500), &mut drops);
        etf.enqueue(timed(2, 600), us(500), &mut drops);
        etf.enqueue(timed(3, 900), us(500), &mut drops);
        etf.enqueue(timed(4, 900), us(500), &mut drops);
        assert_eq!(etf.next(us(601), &mut drops), Next::At(us(700)));
        let _ = etf.next(us(700), &mut drops);
        let _ = etf.take();
        // Earlier than what was released last.
        etf.enqueue(timed(5, 899), us(700), &mut drops);
        let reasons: Vec<_> = drops
            .iter()
            .map(|(packet, reason)| (packet.frame, *reason))
            .collect();
        let expected = [
            (0, DropReason::NoTxTime),
            (1, DropReason::TxTimeInvalid),
            (4, DropReason::QueueFull),
            (2, DropReason::TxTimeMissed),
            (5, DropReason::TxTimeInvalid),
        ];
        assert_eq!(reasons, expected);
    }

    #[test]
    fn hardware_sends_at_the_txtime() {
        let mut etf = Etf::new(10, us(200), EtfMode::Offload);
        let mut drops = Drops::new();
        etf.enqueue(timed(0, 900), us(0), &mut drops);
        assert_eq!(etf.next(us(700), &mut drops), Next::At(us(900)));
        // The link was busy.
        assert_eq!(etf.next(us(912), &mut drops), Next::Now(timed(0, 900)));
        etf.enqueue(timed(1, 911), us(912), &mut drops);
        assert_eq!(drops, [(timed(1, 911), DropReason::TxTimeInvalid)]);
    }

    #[test]
    fn deadlines_release_at_once() {
        let mut etf = Etf::new(10, us(200), EtfMode::Deadline);
        let mut drops = Drops::new();
        etf.enqueue(timed(0, 900), us(0), &mut drops);
        etf.enqueue(timed(1, 800), us(0), &mut drops);
        assert_eq!(etf.next(us(1), &mut drops), Next::Now(timed(1, 800)));
        let _ = etf.take();
        assert_eq!(etf.next(us(901), &mut drops), Next::Empty);
        assert_eq!(drops, [(timed(0, 900), DropReason::TxTimeMissed)]);
    }
}
