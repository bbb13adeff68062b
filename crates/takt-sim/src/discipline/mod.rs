//! The queueing disciplines of Linux, and the shaper of IEEE 802.1Q, as state machines: packets and times in, packets and times out.
//!
//! Times are those of the node's clock. What is released when, and what is dropped, is modelled; how long the processor takes is not.

mod cbs_ieee;
mod cbs_linux;
mod classes;
mod codel;
mod etf;
mod fifo;
mod fq_codel;
mod gates;
mod queue;
mod txtime_assist;

use crate::Time;

pub use cbs_ieee::CbsIeee;
pub use cbs_linux::{CbsLinux, CbsParameters};
pub use classes::{Classes, Lengths};
pub use codel::CodelParameters;
pub use etf::{Etf, EtfMode};
pub use fifo::Fifo;
pub use fq_codel::FqCodel;
pub use gates::{Gates, Window};
pub use queue::Queue;
pub use txtime_assist::TxTimeAssist;

/// The quotient, at most what a number can be. Division of long numbers takes long, and hardly ever is one needed.
fn quotient(dividend: i128, divisor: i128) -> i64 {
    match (i64::try_from(dividend), i64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => dividend / divisor,
        _ => i64::try_from(dividend / divisor).unwrap_or(i64::MAX),
    }
}

/// What a discipline knows of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Which frame it is; no discipline looks at this.
    pub frame: u32,
    /// The flow that it belongs to.
    pub flow: u32,
    /// Its length in bytes as the kernel counts it: the L2 frame without its check sequence.
    pub length: u32,
    /// The bytes that it occupies on the wire.
    pub wire: u32,
    /// Its priority, 0 to 15: the PCP, or `SO_PRIORITY`.
    pub priority: u8,
    /// When it shall be sent, or its deadline, by the node's clock (`SCM_TXTIME`).
    pub txtime: Option<Time>,
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// CoDel: packets had been waiting for too long.
    Codel,
    /// ETF: the packet has no txtime.
    NoTxTime,
    /// ETF: its txtime had passed already when it came (`SO_EE_CODE_TXTIME_INVALID_PARAM`).
    TxTimeInvalid,
    /// ETF: its txtime passed while it was waiting (`SO_EE_CODE_TXTIME_MISSED`).
    TxTimeMissed,
    /// TAPRIO: there is no window in which it fits.
    NoWindow,
}

impl DropReason {
    /// All there are.
    pub const ALL: [Self; 6] = [
        Self::QueueFull,
        Self::Codel,
        Self::NoTxTime,
        Self::TxTimeInvalid,
        Self::TxTimeMissed,
        Self::NoWindow,
    ];

    /// In one or two words.
    pub fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue full",
            Self::Codel => "CoDel",
            Self::NoTxTime => "no txtime",
            Self::TxTimeInvalid => "txtime invalid",
            Self::TxTimeMissed => "txtime missed",
            Self::NoWindow => "no window",
        }
    }
}

/// Where dropped packets go.
pub type Drops = Vec<(Packet, DropReason)>;

/// What a queue can release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It has nothing.
    Empty,
    /// Nothing before this time.
    At(Time),
    /// This packet, now.
    Now(Packet),
}

/// What a port gets from its discipline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// Nothing, until a packet comes.
    Nothing,
    /// Nothing before this time, unless a packet comes.
    At(Time),
    /// A packet of this class.
    Packet(Packet, u8),
}

/// The discipline at a port.
#[derive(Debug)]
pub enum Discipline {
    /// One queue for all, with a flow for each flow.
    FqCodel(Box<FqCodel>),
    /// Traffic classes: MQPRIO, and TAPRIO if there are gates.
    Classes(Classes),
}

impl Discipline {
    /// Gives it a packet. It may drop that one, or others.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        match self {
            Self::FqCodel(fq_codel) => fq_codel.enqueue(packet, now, drops),
            Self::Classes(classes) => classes.enqueue(packet, now, drops),
        }
    }

    /// Takes the next packet of one of these classes: bit 0 is the highest.
    pub fn dequeue(&mut self, now: Time, from: u16, drops: &mut Drops) -> Release {
        match self {
            Self::FqCodel(_) if from & 1 == 0 => Release::Nothing,
            Self::FqCodel(fq_codel) => fq_codel
                .dequeue(now, drops)
                .map_or(Release::Nothing, |packet| Release::Packet(packet, 0)),
            Self::Classes(classes) => classes.dequeue(now, from, drops),
        }
    }

    /// What [`Self::dequeue`] would take of all classes; FQ_CoDel does not say.
    pub fn select(&mut self, now: Time, drops: &mut Drops) -> Release {
        match self {
            Self::FqCodel(_) => Release::Nothing,
            Self::Classes(classes) => classes.select(now, u16::MAX, drops),
        }
    }

    /// How many classes it has.
    pub fn classes(&self) -> usize {
        match self {
            Self::FqCodel(_) => 1,
            Self::Classes(classes) => classes.len(),
        }
    }

    /// Whether each class is asked for its packets by itself.
    pub fn has_classes_apart(&self) -> bool {
        match self {
            Self::FqCodel(_) => false,
            Self::Classes(classes) => classes.are_apart(),
        }
    }

    /// The class of packets of this priority.
    pub fn class_of(&self, priority: u8) -> u8 {
        match self {
            Self::FqCodel(_) => 0,
            Self::Classes(classes) => classes.class_of(priority),
        }
    }
}

#[cfg(test)]
pub(crate) mod test {
    use super::Packet;

    /// A packet of so many bytes for the kernel, 24 more on the wire.
    pub(crate) fn packet(frame: u32, length: u32) -> Packet {
        Packet {
            frame,
            flow: 0,
            length,
            wire: length + 24,
            priority: 0,
            txtime: None,
        }
    }
}
