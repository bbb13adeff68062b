//! Observer of the frames at a port.

use takt_scenario::{FlowSource, PortIndex};
use takt_sim::{Message, Observer, Passage};

/// A frame that passed the port. Times are in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObservedFrame {
    pub(crate) source: FlowSource,
    /// Time at which it came to the queue.
    pub(crate) queued: i64,
    /// Time at which its last bit was at the other end of the link.
    pub(crate) arrived: i64,
}

/// Observer of one port.
#[derive(Debug)]
pub(crate) struct PortObserver {
    port: PortIndex,
    /// Frames in the order in which they were sent.
    pub(crate) frames: Vec<ObservedFrame>,
}

impl PortObserver {
    pub(crate) fn new(port: PortIndex) -> Self {
        Self {
            port,
            frames: Vec::new(),
        }
    }
}

impl Observer for PortObserver {
    fn message(&mut self, _: &Message) {}

    fn passage(&mut self, passage: &Passage) {
        if passage.port == self.port {
            self.frames.push(ObservedFrame {
                source: passage.source,
                queued: passage.queued.as_picoseconds(),
                arrived: passage.arrived.as_picoseconds(),
            });
        }
    }
}
