//! pfifo and bfifo: first in, first out, with a limit in packets or bytes.

use std::collections::VecDeque;

use takt_scenario::Limit;

use super::super::packet::{DropReason, Drops, Packet};

/// Packets in the order of their arrival.
#[derive(Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    limit: Limit,
    bytes: u64,
}

impl Fifo {
    /// Makes a queue of this capacity.
    pub fn new(limit: Limit) -> Self {
        Self {
            packets: VecDeque::new(),
            limit,
            bytes: 0,
        }
    }

    /// Adds a packet, or drops it.
    pub fn enqueue(&mut self, packet: Packet, drops: &mut Drops) {
        let length = u64::from(packet.length);
        let fits = match self.limit {
            Limit::Frames(frames) => (self.packets.len() as u64) < frames,
            Limit::Bytes(bytes) => self.bytes + length <= bytes.0,
        };
        if fits {
            self.bytes += length;
            self.packets.push_back(packet);
        } else {
            drops.push((packet, DropReason::QueueFull));
        }
    }

    /// Returns the first packet.
    pub fn peek(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// Removes and returns the first packet.
    pub fn dequeue(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.length);
        Some(packet)
    }

    /// Returns true if there is no packet.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::test::packet;
    use super::*;

    #[test]
    fn frames_beyond_the_limit_are_dropped() {
        let mut fifo = Fifo::new(Limit::Frames(2));
        let mut drops = Drops::new();
        for number in 0..3 {
            fifo.enqueue(packet(number, 100), &mut drops);
        }
        assert_eq!(drops, [(packet(2, 100), DropReason::QueueFull)]);
        assert_eq!(fifo.dequeue(), Some(packet(0, 100)));
        assert_eq!(fifo.peek(), Some(&packet(1, 100)));
        assert_eq!(fifo.dequeue(), Some(packet(1, 100)));
        assert!(fifo.is_empty() && fifo.dequeue().is_none());
    }

    #[test]
    fn a_limit_in_bytes() {
        let mut fifo = Fifo::new(Limit::Bytes(takt_scenario::Size(300)));
        let mut drops = Drops::new();
        for (number, length) in [200, 101, 100].into_iter().enumerate() {
            fifo.enqueue(packet(number as u32, length), &mut drops);
        }
        assert_eq!(drops, [(packet(1, 101), DropReason::QueueFull)]);
        let _ = fifo.dequeue();
        fifo.enqueue(packet(3, 200), &mut drops);
        assert_eq!(drops.len(), 1);
    }
}
