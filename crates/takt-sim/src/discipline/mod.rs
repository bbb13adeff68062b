//! The queueing disciplines of Linux, and the shaper of IEEE 802.1Q, as state machines: packets and times in, packets and times out.
//!
//! Times are those of the node's clock. The model covers the times of releases and the drops, but not the processor's time.

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

/// Returns the quotient, limited to the range of the result. Division of long numbers is slow, and rarely needed.
fn quotient(dividend: i128, divisor: i128) -> i64 {
    match (i64::try_from(dividend), i64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => dividend / divisor,
        _ => i64::try_from(dividend / divisor).unwrap_or(i64::MAX),
    }
}

/// Properties of a frame that disciplines use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Number of the frame; no discipline uses it.
    pub frame: u32,
    /// Flow of the frame.
    pub flow: u32,
    /// Length in bytes as the kernel counts it: the L2 frame without its check sequence.
    pub length: u32,
    /// Bytes of the frame on the wire.
    pub wire: u32,
    /// Priority, 0 to 15: the PCP, or `SO_PRIORITY`.
    pub priority: u8,
    /// Time at which it shall be sent, or its deadline, by the node's clock (`SCM_TXTIME`).
    pub txtime: Option<Time>,
}

/// Reasons for dropping a packet.
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
    /// TAPRIO: the packet fits in no window.
    NoWindow,
}

impl DropReason {
    /// All reasons.
    pub const ALL: [Self; 6] = [
        Self::QueueFull,
        Self::Codel,
        Self::NoTxTime,
        Self::TxTimeInvalid,
        Self::TxTimeMissed,
        Self::NoWindow,
    ];

    /// Returns the reason in one or two words.
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

/// Dropped packets with the reasons.
pub type Drops = Vec<(Packet, DropReason)>;

/// Next packet of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The queue has no packet.
    Empty,
    /// No packet before this time.
    At(Time),
    /// This packet, now.
    Now(Packet),
}

/// Next packet of a discipline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// Nothing, until a packet comes.
    Nothing,
    /// Nothing before this time, unless a packet comes.
    At(Time),
    /// A packet of this class.
    Packet(Packet, u8),
}

/// Discipline of a port.
#[derive(Debug)]
pub enum Discipline {
    /// FQ_CoDel: a queue for each flow.
    FqCodel(Box<FqCodel>),
    /// Traffic classes: MQPRIO, and TAPRIO if there are gates.
    Classes(Classes),
}

impl Discipline {
    /// Adds a packet. The discipline may drop this packet, or others.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        match self {
            Self::FqCodel(fq_codel) => fq_codel.enqueue(packet, now, drops),
            Self::Classes(classes) => classes.enqueue(packet, now, drops),
        }
    }

    /// Removes and returns the next packet of one of these classes: bit 0 is the highest.
    pub fn dequeue(&mut self, now: Time, from: u16, drops: &mut Drops) -> Release {
        match self {
            Self::FqCodel(_) if from & 1 == 0 => Release::Nothing,
            Self::FqCodel(fq_codel) => fq_codel
                .dequeue(now, drops)
                .map_or(Release::Nothing, |packet| Release::Packet(packet, 0)),
            Self::Classes(classes) => classes.dequeue(now, from, drops),
        }
    }

    /// Returns the result of [`Self::dequeue`] for all classes without removing a packet; FQ_CoDel does not support that.
    pub fn select(&mut self, now: Time, drops: &mut Drops) -> Release {
        match self {
            Self::FqCodel(_) => Release::Nothing,
            Self::Classes(classes) => classes.select(now, u16::MAX, drops),
        }
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        match self {
            Self::FqCodel(_) => 1,
            Self::Classes(classes) => classes.len(),
        }
    }

    /// Returns true if packets of each class are requested separately.
    pub fn has_classes_apart(&self) -> bool {
        match self {
            Self::FqCodel(_) => false,
            Self::Classes(classes) => classes.are_apart(),
        }
    }

    /// Returns the class of packets of this priority.
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

    /// Makes a packet of so many bytes for the kernel, 24 more on the wire.
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
