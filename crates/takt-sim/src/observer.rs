//! Who wants to know of each message.

use takt_scenario::{FlowSource, PortId};

use crate::Time;
use crate::discipline::DropReason;

/// A message of an application, or a frame of cross traffic that was lost, at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The flow in which it ended.
    pub source: FlowSource,
    /// Its counter.
    pub counter: u64,
    /// When it was published: given to the first port, or, with a txtime, when that may send it.
    pub published: Time,
    /// When it ended.
    pub ended: Time,
    /// How.
    pub outcome: MessageOutcome,
}

/// How a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageOutcome {
    /// At the Publisher again, or at the Subscriber.
    Arrived,
    /// It was dropped.
    Lost(PortId, DropReason),
    /// The loopback received a later one before it could send this one.
    Overwritten,
}

/// A frame that has passed a port and the link behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// The flow that it is of.
    pub source: FlowSource,
    /// Its counter.
    pub counter: u64,
    /// The port.
    pub port: PortId,
    /// When it came to the port's queue; at the first port with a txtime, when that may send it.
    pub queued: Time,
    /// When its last bit is at the other end of the link.
    pub arrived: Time,
}

/// Is told of each message.
pub trait Observer {
    /// A message has come to its end.
    fn message(&mut self, message: &Message);

    /// A frame is being sent, and will have passed a link.
    fn passage(&mut self, _: &Passage) {}
}

/// Nobody.
impl Observer for () {
    fn message(&mut self, _: &Message) {}
}
