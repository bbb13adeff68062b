//! Frames that are under way, in places that are used again.

use crate::Time;
use crate::discipline::Packet;

/// A frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// What ports see of it. It has a txtime until it has passed the first of them.
    pub(crate) packet: Packet,
    /// The port that comes next, in the list of all ways.
    pub(crate) next: u32,
    /// How many ports it has passed.
    pub(crate) hop: u16,
    /// How many it passes.
    pub(crate) hops: u16,
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
}

impl Frame {
    pub(crate) fn flow(&self) -> usize {
        self.packet.flow as usize
    }
}

#[derive(Debug)]
pub(crate) struct Frames {
    places: Vec<Frame>,
    free: Vec<u32>,
    /// How long the frame of each place took at each port that it has passed.
    hops: Vec<Time>,
    most_hops: usize,
}

impl Frames {
    /// No frame; each will pass so many ports at most.
    pub(crate) fn new(most_hops: usize) -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            hops: Vec::new(),
            most_hops,
        }
    }

    pub(crate) fn insert(&mut self, mut frame: Frame) -> u32 {
        if let Some(place) = self.free.pop() {
            frame.packet.frame = place;
            self.places[place as usize] = frame;
            return place;
        }
        let place = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        frame.packet.frame = place;
        self.places.push(frame);
        self.hops
            .resize(self.places.len() * self.most_hops, Time::ZERO);
        place
    }

    pub(crate) fn remove(&mut self, place: u32) {
        self.free.push(place);
    }

    pub(crate) fn get(&mut self, place: u32) -> &mut Frame {
        &mut self.places[place as usize]
    }

    /// The frame has passed a port, that it came to when it says, and is at the end of the link then.
    pub(crate) fn pass(&mut self, place: u32, arrival: Time) -> &Frame {
        let frame = &mut self.places[place as usize];
        self.hops[place as usize * self.most_hops + usize::from(frame.hop)] =
            arrival - frame.queued;
        frame.packet.txtime = None;
        frame.next += 1;
        frame.hop += 1;
        frame
    }

    /// How long it took at each port that it has passed.
    pub(crate) fn hops(&self, place: u32) -> &[Time] {
        let begin = place as usize * self.most_hops;
        &self.hops[begin..begin + usize::from(self.places[place as usize].hop)]
    }

    /// Frames that are still under way.
    pub(crate) fn left(&self) -> Vec<u32> {
        let mut left = vec![true; self.places.len()];
        for place in &self.free {
            left[*place as usize] = false;
        }
        let left = (0..).zip(left).filter(|(_, left)| *left);
        left.map(|(place, _)| place).collect()
    }
}
