//! Sources of traffic: PubSub applications and other traffic.

use super::{GroupAddress, NodeIndex};
use crate::Frame;
use crate::quantity::{Duration, Rate, Share};

/// A PubSub application: a Publisher that sends a message in every cycle, and its receivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Unique name.
    pub name: String,
    /// Node of the Publisher.
    pub publisher: NodeIndex,
    /// Receivers of the messages.
    pub receiver: ApplicationReceiver,
    /// Cycle `c` of the Publisher and of the loopback.
    pub cycle: Duration,
    /// Offset `o`: the time from the end of a cycle until the messages that were published in it are sent.
    pub offset: Duration,
    /// Times in a cycle at which threads run.
    pub phases: Phases,
    /// Frame of a message, on both ways, with the bytes of its security.
    pub frame: Frame,
    /// Number of fields of each DataSetMessage of a message. Empty if the file gives the size of the message.
    pub writers: Vec<u32>,
    /// Security of the messages.
    pub security: MessageSecurity,
    /// Ethernet group to which messages are sent: the first byte is odd. It is that of [`Application::written_group`] if there is one.
    pub group: [u8; 6],
    /// Group that the file has for the messages. `None` for a default one.
    pub written_group: Option<GroupAddress>,
    /// Ethernet group to which a loopback sends messages back.
    pub return_group: [u8; 6],
    /// VLAN, 1 to 4094.
    pub vlan: u16,
    /// Priority Code Point, 0 to 7, both on the wire and as the socket's priority.
    pub pcp: u8,
    /// Time from handing a frame to the kernel until its txtime (`SO_TXTIME`): from the publisher thread's phase to the next
    /// cycle plus the offset. `None` if the application itself waits and sends then.
    pub txtime: Option<Duration>,
    /// True if a message is sent as soon as the publisher thread has made it, without the offset. False if there is a `txtime`.
    pub immediate: bool,
}

impl Application {
    /// Returns the time from a cycle's beginning until a message that was published in it is sent: a cycle plus the offset, or
    /// the publisher thread's phase.
    pub fn sending_time(&self) -> Duration {
        match self.immediate {
            true => self.cycle.part(self.phases.publisher),
            false => self.cycle.plus(self.offset),
        }
    }
}

/// Returns the Ethernet group with this number of those that applications have by default: `01-00-5E-00-54-00` and the numbers
/// behind it. Application `n` has the groups `2 n + 1` there and `2 n + 2` back.
pub(crate) const fn default_group(number: usize) -> [u8; 6] {
    let [.., high, low] = number.to_be_bytes();
    [0x01, 0x00, 0x5E, 0x00, 0x54_u8.wrapping_add(high), low]
}

/// Receivers of an application's messages.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ApplicationReceiver {
    /// An application that sends each message back to the Publisher's node, which measures the round trip.
    Loopback(NodeIndex),
    /// Subscribers that do not send messages back: at least one, each node once. Bridges replicate the frame for several of them.
    Subscribers(Vec<NodeIndex>),
}

impl ApplicationReceiver {
    /// Returns the nodes of the receivers: one for each flow from the Publisher, in the same order.
    pub fn nodes(&self) -> &[NodeIndex] {
        match self {
            Self::Loopback(node) => std::slice::from_ref(node),
            Self::Subscribers(nodes) => nodes,
        }
    }

    /// Returns the node of the loopback, if there is one.
    pub fn loopback(&self) -> Option<NodeIndex> {
        match self {
            Self::Loopback(node) => Some(*node),
            Self::Subscribers(_) => None,
        }
    }
}

/// Security of messages: SecurityMode, and the processor time of sender and receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageSecurity {
    /// SecurityMode.
    pub mode: SecurityMode,
    /// Time for which a sender works on a message before it hands the message on.
    pub protect: Duration,
    /// Time for which a receiver works on a message before the application has it.
    pub verify: Duration,
}

/// SecurityMode of messages (OPC 10000-14, 7.2.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SecurityMode {
    /// No security.
    #[default]
    None,
    /// Messages are signed.
    Sign,
    /// Messages are encrypted, then signed.
    SignAndEncrypt,
}

impl SecurityMode {
    /// Returns the bytes that it adds to a NetworkMessage: SecurityFlags (1), SecurityTokenId (4), NonceLength (1), the MessageNonce
    /// of AES in counter mode (8) and the signature by HMAC-SHA256 (32). Counter mode pads nothing.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Sign | Self::SignAndEncrypt => 1 + 4 + 1 + 8 + 32,
        }
    }
}

/// Times at which the threads of an application run, as parts of the cycle, from 0 up to but not including 1. open62541's example
/// has 0, 0.3 and 0.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases {
    /// Phase of the subscriber thread, which begins to receive then. It ends when the user thread begins.
    pub subscriber: Share,
    /// Phase of the user thread, which takes received messages and changes the published values. Not before the subscriber
    /// thread.
    pub user: Share,
    /// Phase of the publisher thread, which makes the message. Not before the user thread.
    pub publisher: Share,
}

impl Default for Phases {
    fn default() -> Self {
        Self {
            subscriber: Share(0),
            user: Share(300_000_000),
            publisher: Share(600_000_000),
        }
    }
}

/// Traffic beside the applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossTraffic {
    /// Unique name.
    pub name: String,
    /// Node of the sender.
    pub from: NodeIndex,
    /// Node of the receiver.
    pub to: NodeIndex,
    /// Frame of a packet.
    pub frame: Frame,
    /// Mean time between two frames.
    pub interval: Duration,
    /// VLAN, 1 to 4094.
    pub vlan: u16,
    /// Priority Code Point, 0 to 7.
    pub pcp: u8,
    /// Arrival pattern of the frames.
    pub pattern: Pattern,
}

/// Arrival pattern of cross traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// One frame after each interval.
    Constant,
    /// Random arrivals, independent of each other. The number of frames that come at once has no bound.
    Poisson,
    /// This many frames at once, then none for as many intervals.
    Burst(u32),
}

/// Bound on arrivals: in any interval of length t, at most `frames · (1 + ⌊t / interval⌋)` frames come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalBound {
    /// Number of frames that may come at once.
    pub frames: u32,
    /// Time until as many may come again.
    pub interval: Duration,
}

impl CrossTraffic {
    /// Returns the bound on its arrivals; `None` if there is none.
    pub fn arrival_bound(&self) -> Option<ArrivalBound> {
        let frames = match self.pattern {
            Pattern::Constant => 1,
            Pattern::Burst(frames) => frames,
            Pattern::Poisson => return None,
        };
        // A saturated interval is too short, so it permits more frames than come: still a bound.
        let interval = Duration(self.interval.0.saturating_mul(frames.into()));
        Some(ArrivalBound { frames, interval })
    }

    /// Returns its mean rate, in bits on the wire, rounded down.
    pub fn rate(&self) -> Rate {
        let bits = 8 * u128::from(self.frame.physical()) * 1_000_000_000_000;
        let rate = bits.checked_div(self.interval.0.into()).unwrap_or(0);
        Rate(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}
