//! Queues of traffic classes: one file for each kind. A new kind is a file, a variant, and an arm of each `match` here.

mod cbs_ieee;
mod cbs_linux;
mod etf;
mod fifo;

pub use cbs_ieee::CbsIeee;
pub use cbs_linux::CbsLinux;
pub use etf::{Etf, EtfMode};
pub use fifo::Fifo;

use takt_scenario::Queue;

use super::packet::{Drops, Next, Packet};
use crate::options::Model;
use crate::{LineRate, Time};

/// Most packets in ETF. The kernel has no limit but those of the sockets.
const ETF_LIMIT: usize = 1000;

/// Queue of a class.
#[derive(Debug)]
pub enum ClassQueue {
    /// First in, first out.
    Fifo(Fifo),
    /// Shaper of IEEE 802.1Q.
    CbsIeee(CbsIeee),
    /// Shaper of Linux.
    CbsLinux(CbsLinux),
    /// Ordered by txtime.
    Etf(Etf),
}

impl ClassQueue {
    /// Makes the queue of a class at a link of this rate.
    pub fn new(written: &Queue, rate: LineRate, model: Model) -> Self {
        match (written, model) {
            (Queue::Fifo(limit), _) => Self::Fifo(Fifo::new(*limit)),
            (Queue::Cbs(shaper), Model::Ieee) => Self::CbsIeee(CbsIeee::new(shaper, rate)),
            (Queue::Cbs(shaper), Model::Linux) => Self::CbsLinux(CbsLinux::new(shaper, rate)),
            (Queue::Etf(etf), _) => Self::Etf(Etf::new(
                ETF_LIMIT,
                etf.delta.into(),
                EtfMode::of(etf, model),
            )),
        }
    }

    /// Adds a packet. The queue may drop it.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        match self {
            Self::Fifo(queue) => queue.enqueue(packet, drops),
            Self::CbsIeee(queue) => queue.enqueue(packet, now, drops),
            Self::CbsLinux(queue) => queue.enqueue(packet, now, drops),
            Self::Etf(queue) => queue.enqueue(packet, now, drops),
        }
    }

    /// Returns true if no packet waits, and no timer runs.
    pub fn is_idle(&self) -> bool {
        match self {
            Self::Fifo(queue) => queue.is_empty(),
            Self::CbsIeee(queue) => queue.is_empty(),
            Self::CbsLinux(queue) => queue.is_idle(),
            Self::Etf(queue) => queue.is_empty(),
        }
    }

    /// Returns the packet that can be released, or the time of the next one.
    pub fn next(&mut self, now: Time, drops: &mut Drops) -> Next {
        match self {
            Self::Fifo(queue) => queue.peek().map_or(Next::Empty, |it| Next::Now(*it)),
            Self::CbsIeee(queue) => queue.next(now),
            Self::CbsLinux(queue) => queue.next(now),
            Self::Etf(queue) => queue.next(now, drops),
        }
    }

    /// Removes the packet that [`Self::next`] returned at this time.
    pub fn take(&mut self, now: Time) -> Option<Packet> {
        match self {
            Self::Fifo(queue) => queue.dequeue(),
            Self::CbsIeee(queue) => queue.take(now),
            Self::CbsLinux(queue) => queue.take(now),
            Self::Etf(queue) => queue.take(),
        }
    }
}
