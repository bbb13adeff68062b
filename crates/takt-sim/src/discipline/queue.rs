//! The queue of a traffic class.

use super::{CbsIeee, CbsLinux, Drops, Etf, Fifo, Next, Packet};
use crate::Time;

/// What a class has for a queue.
#[derive(Debug)]
pub enum Queue {
    /// First in, first out.
    Fifo(Fifo),
    /// Shaped as IEEE 802.1Q says.
    CbsIeee(CbsIeee),
    /// Shaped as Linux does it.
    CbsLinux(CbsLinux),
    /// By txtime.
    Etf(Etf),
}

impl Queue {
    /// Gives it a packet. It may drop that one.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        match self {
            Self::Fifo(queue) => queue.enqueue(packet, drops),
            Self::CbsIeee(queue) => queue.enqueue(packet, now, drops),
            Self::CbsLinux(queue) => queue.enqueue(packet, now, drops),
            Self::Etf(queue) => queue.enqueue(packet, now, drops),
        }
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Fifo(queue) => queue.is_empty(),
            Self::CbsIeee(queue) => queue.is_empty(),
            Self::CbsLinux(queue) => queue.is_empty(),
            Self::Etf(queue) => queue.is_empty(),
        }
    }

    /// What it could release.
    pub fn next(&mut self, now: Time, drops: &mut Drops) -> Next {
        match self {
            Self::Fifo(queue) => queue.peek().map_or(Next::Empty, |it| Next::Now(*it)),
            Self::CbsIeee(queue) => queue.next(now),
            Self::CbsLinux(queue) => queue.next(now),
            Self::Etf(queue) => queue.next(now, drops),
        }
    }

    /// Releases what [`Self::next`] said at this time.
    pub fn take(&mut self, now: Time) -> Option<Packet> {
        match self {
            Self::Fifo(queue) => queue.dequeue(),
            Self::CbsIeee(queue) => queue.take(now),
            Self::CbsLinux(queue) => queue.take(now),
            Self::Etf(queue) => queue.take(),
        }
    }
}
