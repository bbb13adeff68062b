//! Frames in transit, in places that are reused.

use crate::Time;
use crate::discipline::Packet;

/// A frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// The frame as ports see it. It has a txtime until it has passed the first port.
    pub(crate) packet: Packet,
    /// Index of the next port in the list of all ways.
    pub(crate) next: u32,
    /// Number of ports that it has passed.
    pub(crate) hop: u16,
    /// Number of ports on its way.
    pub(crate) hops: u16,
    /// True if the frame is counted: it is in none of the cut-off cycles at the beginning and the end.
    pub(crate) counted: bool,
    /// Counter of the message.
    pub(crate) counter: u64,
    /// Time at which the Publisher's thread gave the message to the kernel (T1).
    pub(crate) handed_over: Time,
    /// Time at which the message was published: without a txtime the same, with a txtime when the first port may send it.
    pub(crate) published: Time,
    /// Time at which it departed on this way, of two.
    pub(crate) departed: Time,
    /// Time at which its first bit left the first port of its application's message: of a message that comes back, on the way there (T2).
    pub(crate) first_bit: Time,
    /// Time at which its first bit left the first port of this way: T2 or T6.
    pub(crate) began: Time,
    /// Time at which it came to the current port.
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
    /// Times that the frame of each place took at each port that it has passed.
    hops: Vec<Time>,
    most_hops: usize,
}

impl Frames {
    /// Makes an empty list for frames that pass at most so many ports.
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

    /// Copies a frame that has passed some ports onto another way with the same beginning: the first port of that way in the list of all
    /// ways, and its number of ports.
    pub(crate) fn copy(&mut self, place: u32, packet: Packet, first: u32, hops: u16) -> u32 {
        let frame = self.places[place as usize];
        let copy = self.insert(Frame {
            packet,
            next: first + u32::from(frame.hop),
            hops,
            ..frame
        });
        let from = place as usize * self.most_hops;
        let to = copy as usize * self.most_hops;
        let passed = from..from + usize::from(frame.hop);
        self.hops.copy_within(passed, to);
        copy
    }

    pub(crate) fn remove(&mut self, place: u32) {
        self.free.push(place);
    }

    pub(crate) fn get(&mut self, place: u32) -> &mut Frame {
        &mut self.places[place as usize]
    }

    /// Records that the frame passes a port from `now` on, and reaches the end of the link at `arrival`. `is_return` is true on the way
    /// back from a loopback.
    pub(crate) fn pass(&mut self, place: u32, now: Time, arrival: Time, is_return: bool) -> &Frame {
        let frame = &mut self.places[place as usize];
        if frame.hop == 0 {
            frame.began = now;
            if !is_return {
                frame.first_bit = now;
            }
        }
        self.hops[place as usize * self.most_hops + usize::from(frame.hop)] =
            arrival - frame.queued;
        // A txtime belongs to the socket buffer of the sending host. A bridge receives a frame without one.
        frame.packet.txtime = None;
        frame.next += 1;
        frame.hop += 1;
        frame
    }

    /// Returns the times that the frame took at each port that it has passed.
    pub(crate) fn hops(&self, place: u32) -> &[Time] {
        let begin = place as usize * self.most_hops;
        &self.hops[begin..begin + usize::from(self.places[place as usize].hop)]
    }

    /// Returns the frames that are still in transit.
    pub(crate) fn left(&self) -> Vec<u32> {
        let mut left = vec![true; self.places.len()];
        for place in &self.free {
            left[*place as usize] = false;
        }
        let left = (0..).zip(left).filter(|(_, left)| *left);
        left.map(|(place, _)| place).collect()
    }
}
