//! Earliest TxTime First (`net/sched/sch_etf.c`).

use std::collections::VecDeque;

use takt_scenario::EtfParameters;

use super::super::packet::{DropReason, Drops, Next, Packet};
use crate::Time;
use crate::options::Model;

/// Meaning of a txtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EtfMode {
    /// Packets leave `delta` before the txtime.
    Software,
    /// Packets leave at the txtime itself: the port has no driver that could hold them until then.
    AtTxTime,
    /// The txtime is a deadline: packets leave at once.
    Deadline,
}

impl EtfMode {
    pub(super) fn of(parameters: &EtfParameters, model: Model) -> Self {
        match (parameters.deadline_mode, parameters.offload, model) {
            (true, _, _) => Self::Deadline,
            (false, true, Model::Ieee) => Self::AtTxTime,
            // With offload, the driver has them from then on, and sends them at the txtime.
            (false, _, _) => Self::Software,
        }
    }
}

/// Queue of packets by their txtime, each released `delta` before that; late packets are dropped.
#[derive(Debug)]
pub struct Etf {
    packets: VecDeque<(Time, Packet)>,
    limit: usize,
    delta: Time,
    mode: EtfMode,
    /// Txtime of the packet that was released last.
    last: Time,
}

impl Etf {
    /// Makes a queue for so many packets. `skip_sock_check` makes no difference here: packets without a txtime are dropped in
    /// either case.
    pub fn new(limit: usize, delta: Time, mode: EtfMode) -> Self {
        Self {
            packets: VecDeque::new(),
            limit,
            delta,
            mode,
            last: Time::MIN,
        }
    }

    /// Adds a packet, or drops it if it has no txtime or is too late for it.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        let Some(txtime) = packet.txtime else {
            drops.push((packet, DropReason::NoTxTime));
            return;
        };
        // As in `is_packet_valid`: a packet that belongs before the last released one comes too late.
        if txtime < now || txtime < self.last {
            drops.push((packet, DropReason::TxTimeInvalid));
        } else if self.packets.len() >= self.limit {
            drops.push((packet, DropReason::QueueFull));
        } else {
            // Since Linux 5.4, a packet goes behind all others of the same txtime.
            let place = self.packets.partition_point(|(other, _)| *other <= txtime);
            self.packets.insert(place, (txtime, packet));
        }
    }

    /// Returns true if no packet waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the packet that can be released, or the time of the next one. Drops expired packets.
    pub fn next(&mut self, now: Time, drops: &mut Drops) -> Next {
        while let Some((txtime, packet)) = self.packets.front().copied() {
            // The link may be busy at the txtime.
            if txtime < now && self.mode != EtfMode::AtTxTime {
                let _ = self.packets.pop_front();
                drops.push((packet, DropReason::TxTimeMissed));
                continue;
            }
            let release = match self.mode {
                EtfMode::Software => txtime - self.delta,
                EtfMode::AtTxTime => txtime,
                EtfMode::Deadline => now,
            };
            if release <= now {
                return Next::Now(packet);
            }
            return Next::At(release);
        }
        Next::Empty
    }

    /// Removes the packet that [`Self::next`] returned.
    pub fn take(&mut self) -> Option<Packet> {
        let (txtime, packet) = self.packets.pop_front()?;
        self.last = txtime;
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::test::packet;
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
        // Packets with the same txtime are sent in the order of their arrival.
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
        // The txtime is earlier than that of the packet that was released last.
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
    fn packets_leave_at_the_txtime_without_a_driver() {
        let mut etf = Etf::new(10, us(200), EtfMode::AtTxTime);
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
