//! Received messages: bytes, origin and time.

use std::net::SocketAddr;

use crate::address::{MacAddress, VlanTag};
use crate::options::ReceiveClock;

/// Received message.
#[derive(Debug)]
pub struct Received<'a> {
    /// Bytes of the NetworkMessage. On Ethernet, zeros may follow it: short frames are padded. They may be changed: decryption is
    /// in place.
    pub bytes: &'a mut [u8],
    /// Sender of the message, from the message itself; it is not authenticated.
    pub source: Source,
    /// Topic of the message, if the link has topics.
    pub topic: Option<&'a str>,
    /// Time of reception, if [`LinkOptions::receive_times`](crate::LinkOptions::receive_times) is set and the link has such
    /// times.
    pub time: Option<ReceiveTime>,
}

/// Time at which a message was received, in nanoseconds of a clock. Times of different clocks cannot be compared: the
/// clock of a network card is usually set to TAI, which is 37 s ahead of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveTime {
    clock: ReceiveClock,
    nanos: i64,
}

impl ReceiveTime {
    /// Creates a time of a clock, in nanoseconds since the epoch of the clock.
    pub(crate) const fn new(clock: ReceiveClock, nanos: i64) -> Self {
        Self { clock, nanos }
    }

    /// Returns the clock of the time.
    #[must_use]
    pub const fn clock(self) -> ReceiveClock {
        self.clock
    }

    /// Returns the nanoseconds since the epoch of the clock: 1970-01-01 UTC for [`ReceiveClock::Software`], usually
    /// 1970-01-01 TAI for [`ReceiveClock::Hardware`].
    #[must_use]
    pub const fn nanos(self) -> i64 {
        self.nanos
    }
}

/// Origin of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `opc.udp`: address and port of the sender.
    Udp(SocketAddr),
    /// `opc.eth`: the sender's MAC address, and the 802.1Q tag if there was one.
    Ethernet {
        /// Source address of the frame.
        address: MacAddress,
        /// 802.1Q tag, also if the network card or the kernel had removed it from the frame. A receiver whose address is a group
        /// without a VLAN does not see the tags of frames with VID 0.
        vlan: Option<VlanTag>,
    },
    /// `mqtt`: a broker does not name the publisher.
    Broker,
    /// `opc.iox2`: a process of this host.
    SharedMemory {
        /// Number of the open sender, which no other sender of this host has.
        sender: u128,
    },
}
