//! pfifo: first in, first out, with a limit in packets.

use std::collections::VecDeque;

use super::{DropReason, Drops, Packet};

/// Packets in the order in which they came.
#[derive(Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    limit: usize,
}

impl Fifo {
    /// A queue for so many packets.
    pub fn new(limit: usize) -> Self {
        Self {
            packets: VecDeque::new(),
            limit,
        }
    }

    /// Takes a packet in, or drops it.
    pub fn enqueue(&mut self, packet: Packet, drops: &mut Drops) {
        if self.packets.len() < self.limit {
            self.packets.push_back(packet);
        } else {
            drops.push((packet, DropReason::QueueFull));
        }
    }

    /// The first.
    pub fn peek(&self) -> Option<Packet> {
        self.packets.front().copied()
    }

    /// Takes the first out.
    pub fn dequeue(&mut self) -> Option<Packet> {
        self.packets.pop_front()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test::packet;
    use super::*;

    #[test]
    fn what_does_not_fit_is_dropped() {
        let mut fifo = Fifo::new(2);
        let mut drops = Drops::new();
        for number in 0..3 {
            fifo.enqueue(packet(number, 100), &mut drops);
        }
        assert_eq!(drops, [(packet(2, 100), DropReason::QueueFull)]);
        assert_eq!(fifo.dequeue(), Some(packet(0, 100)));
        assert_eq!(fifo.peek(), Some(packet(1, 100)));
        assert_eq!(fifo.dequeue(), Some(packet(1, 100)));
        assert!(fifo.is_empty() && fifo.dequeue().is_none());
    }
}
