//! Frames that are under way, in places that are used again.

use crate::Time;

/// A frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// The flow that it belongs to.
    pub(crate) flow: u32,
    /// How many links it has passed.
    pub(crate) hop: u16,
    /// Whether it counts, neither at the beginning nor at the end.
    pub(crate) counted: bool,
    /// The message's counter.
    pub(crate) counter: u64,
    /// When the message set out.
    pub(crate) published: Time,
    /// When it set out on this way, of two.
    pub(crate) departed: Time,
    /// When it came to the port where it is.
    pub(crate) queued: Time,
    /// When it shall be sent, by the clock of the node that sends it first.
    pub(crate) txtime: Option<Time>,
}

#[derive(Debug, Default)]
pub(crate) struct Frames {
    places: Vec<Frame>,
    free: Vec<u32>,
}

impl Frames {
    pub(crate) fn insert(&mut self, frame: Frame) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = frame;
            return place;
        }
        self.places.push(frame);
        u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn remove(&mut self, place: u32) {
        self.free.push(place);
    }

    pub(crate) fn get(&mut self, place: u32) -> &mut Frame {
        &mut self.places[place as usize]
    }
}
