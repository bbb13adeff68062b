//! Packets, and the answers of queues and disciplines.

use crate::Time;

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
