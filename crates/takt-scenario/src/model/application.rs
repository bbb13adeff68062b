//! What is sent: PubSub applications and other traffic.

use super::NodeId;
use crate::Frame;
use crate::quantity::{Duration, Rate, Share};

/// A PubSub application: a Publisher that sends a message in every cycle, and who receives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Its name, of which there is one.
    pub name: String,
    /// Where the Publisher runs.
    pub publisher: NodeId,
    /// Who receives.
    pub receiver: Receiver,
    /// The cycle `c`, of the Publisher and of the loopback.
    pub cycle: Duration,
    /// From the end of a cycle until the messages that were published in it are sent: `o`.
    pub offset: Duration,
    /// When threads run in a cycle.
    pub phases: Phases,
    /// The frame of a message, on both ways.
    pub frame: Frame,
    /// The VLAN, 1 to 4094.
    pub vlan: u16,
    /// The Priority Code Point, 0 to 7, both on the wire and as the socket's priority.
    pub pcp: u8,
    /// How long before the time at which a frame is to be sent it is given to the kernel, with that time (`SO_TXTIME`): from the publisher
    /// thread's phase to the next cycle plus the offset. `None` if the application itself waits and sends then.
    pub txtime: Option<Duration>,
    /// Whether a message is sent as soon as the publisher thread has made it, whatever the offset. Not if there is a `txtime`.
    pub immediate: bool,
}

impl Application {
    /// When after a cycle's beginning a message that was published in it is sent: a cycle plus the offset, or the publisher thread's phase.
    pub fn sending_time(&self) -> Duration {
        match self.immediate {
            true => self.cycle.part(self.phases.publisher),
            false => self.cycle.plus(self.offset),
        }
    }
}

/// Who receives an application's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Receiver {
    /// An application that sends each message back to the Publisher's node, which takes the time for a round trip.
    Loopback(NodeId),
    /// A Subscriber that keeps them.
    Subscriber(NodeId),
}

impl Receiver {
    /// Where it runs.
    pub fn node(self) -> NodeId {
        match self {
            Self::Loopback(node) | Self::Subscriber(node) => node,
        }
    }
}

/// When the threads of an application run, as parts of the cycle, from 0 up to but not including 1. open62541's example has 0, 0.3 and 0.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases {
    /// The subscriber thread begins to receive. It ends when the user thread begins.
    pub subscriber: Share,
    /// The user thread takes what was received, and changes what is published. Not before the subscriber thread.
    pub user: Share,
    /// The publisher thread makes the message. Not before the user thread.
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

/// Traffic that is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossTraffic {
    /// Its name, of which there is one.
    pub name: String,
    /// Where it comes from.
    pub from: NodeId,
    /// Where it goes to.
    pub to: NodeId,
    /// The frame of a packet.
    pub frame: Frame,
    /// Between one frame and the next, in the mean.
    pub interval: Duration,
    /// The VLAN, 1 to 4094.
    pub vlan: u16,
    /// The Priority Code Point, 0 to 7.
    pub pcp: u8,
    /// How frames come.
    pub pattern: Pattern,
}

/// How frames of cross traffic come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// One after each interval.
    Constant,
    /// At random, independently of each other. Nothing bounds how many come at once.
    Poisson,
    /// This many at once, then nothing for as many intervals.
    Burst(u32),
}

/// What bounds arrivals: in any interval of length t, at most `frames · (1 + ⌊t / interval⌋)` frames come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalBound {
    /// How many may come at once.
    pub frames: u32,
    /// How long it takes until as many may come again.
    pub interval: Duration,
}

impl CrossTraffic {
    /// What bounds its arrivals; `None` if nothing does.
    pub fn arrival_bound(&self) -> Option<ArrivalBound> {
        let frames = match self.pattern {
            Pattern::Constant => 1,
            Pattern::Burst(frames) => frames,
            Pattern::Poisson => return None,
        };
        let interval = Duration(self.interval.0.saturating_mul(frames.into()));
        Some(ArrivalBound { frames, interval })
    }

    /// Its rate in the mean, in bits on the wire, rounded down.
    pub fn rate(&self) -> Rate {
        let bits = 8 * u128::from(self.frame.physical()) * 1_000_000_000_000;
        let rate = bits.checked_div(self.interval.0.into()).unwrap_or(0);
        Rate(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}
