//! Observers of the messages of a simulation.

use takt_scenario::{FlowSource, PortIndex};

use crate::Time;
use crate::discipline::DropReason;

/// End of a message of an application, or of a lost frame of cross traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Flow in which it ended.
    pub source: FlowSource,
    /// Counter of the message.
    pub counter: u64,
    /// Time at which it was published: given to the first port, or, with a txtime, the time at which that port may send it.
    pub published: Time,
    /// Time at which its first bit left the first port of its Publisher (T2); 0 if it never did.
    pub first_bit: Time,
    /// Time at which it ended.
    pub ended: Time,
    /// Kind of the end.
    pub outcome: MessageOutcome,
}

/// Kind of a message's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageOutcome {
    /// It arrived at the Publisher again, or at the Subscriber.
    Arrived,
    /// It was dropped at a port.
    Lost(PortIndex, DropReason),
    /// The loopback received a later one before it could send this one.
    Overwritten,
}

/// Passage of a frame through a port and the link behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// Flow of the frame.
    pub source: FlowSource,
    /// Counter of the frame.
    pub counter: u64,
    /// Port that it passed.
    pub port: PortIndex,
    /// Time at which it came to the port's queue; at the first port with a txtime, the time at which that port may send it.
    pub queued: Time,
    /// Time at which its last bit is at the other end of the link.
    pub arrived: Time,
}

/// Receiver of the events of each message.
pub trait Observer {
    /// Reports that a message has come to its end.
    fn message(&mut self, message: &Message);

    /// Reports that a frame is being sent, with the time at which it has passed the link.
    fn passage(&mut self, _: &Passage) {}
}

/// An observer that ignores all events.
impl Observer for () {
    fn message(&mut self, _: &Message) {}
}
