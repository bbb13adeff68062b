//! Driver and hardware of a port: frames that disciplines have handed over, which wait for the link, for their launch time and for
//! gates of the device.
//!
//! The model is the lab's link device (`crates/takt-lab/uml/takt_link/takt_link_offload.c`). `docs/lab.md` tells which part of that is as
//! in an Intel I210.

use std::collections::VecDeque;

use takt_scenario::Discipline;

use crate::discipline::{DropReason, Drops, Gates, Packet, Window};
use crate::{LineRate, Time};

/// Frames of a class that wait in the driver if its etf has offload, in any mode: the kernel does not tell the driver the mode.
const LAUNCH_RING: usize = 64;

/// Time after its launch time at which the driver takes a frame.
const LAUNCH_GRACE: Time = Time::microseconds(1);

/// Frames of a class in the driver.
#[derive(Debug)]
struct Ring {
    packets: VecDeque<Packet>,
    size: usize,
    /// True if frames wait for their launch time, in their order.
    keeps_launch_times: bool,
    /// Longest window of the class; [`Time::MAX`] without gates of the device.
    longest_window: Time,
}

/// Driver and hardware of a port. Times are those of the node's clock.
#[derive(Debug)]
pub(crate) struct Driver {
    rings: Vec<Ring>,
    gates: Option<Gates>,
    rate: LineRate,
}

impl Driver {
    /// Makes the driver of a port, with a ring of `size` frames for each class. `gates` are those of the device.
    pub(crate) fn new(
        written: &Discipline,
        classes: usize,
        size: usize,
        gates: Option<Gates>,
        rate: LineRate,
    ) -> Self {
        let rings = (0..classes).zip(0_u8..).map(|(class, number)| {
            let queue = written.classes.get(class).map(|class| &class.queue);
            let etf = queue.and_then(takt_scenario::Queue::launch);
            let etf = etf.filter(|etf| etf.offload);
            let size = etf.map_or(size, |_| LAUNCH_RING);
            // In deadline mode, the launch time is the time at which the driver gets the frame.
            let keeps_launch_times = etf.is_some_and(|etf| !etf.deadline_mode);
            Ring {
                packets: VecDeque::with_capacity(size),
                size,
                keeps_launch_times,
                longest_window: gates
                    .as_ref()
                    .map_or(Time::MAX, |gates| gates.longest_window(number)),
            }
        });
        Self {
            rings: rings.collect(),
            gates,
            rate,
        }
    }

    /// Returns true if the ring of a class is full.
    pub(crate) fn is_full(&self, class: usize) -> bool {
        self.rings
            .get(class)
            .is_none_or(|ring| ring.packets.len() >= ring.size)
    }

    /// Takes a frame of a class, or drops it: its launch time has passed, or it is longer than all windows.
    pub(crate) fn push(&mut self, class: usize, packet: Packet, now: Time, drops: &mut Drops) {
        let duration = self.rate.duration(packet.wire);
        let room = self.gates.as_ref().map(|gates| gates.room(duration));
        let Some(ring) = self.rings.get_mut(class) else {
            return;
        };
        let launch = packet.txtime.filter(|_| ring.keeps_launch_times);
        if launch.is_some_and(|launch| launch + LAUNCH_GRACE < now) {
            drops.push((packet, DropReason::TxTimeMissed));
        } else if room.is_some_and(|room| room > ring.longest_window) {
            drops.push((packet, DropReason::NoWindow));
        } else {
            ring.packets.push_back(packet);
        }
    }

    /// Returns the highest class whose first frame may begin now. Otherwise the time at which that may change: [`Time::MAX`] if no frame
    /// waits.
    pub(crate) fn ready(&self, now: Time) -> Result<usize, Time> {
        let mut next = Time::MAX;
        for (class, (number, ring)) in (0_u8..).zip(&self.rings).enumerate() {
            let Some(packet) = ring.packets.front() else {
                continue;
            };
            match self.opens(number, ring, packet, now) {
                Some(time) => next = next.min(time),
                None => return Ok(class),
            }
        }
        Err(next)
    }

    /// Returns the next time at which a frame may begin; `None` if it may begin now.
    fn opens(&self, number: u8, ring: &Ring, packet: &Packet, now: Time) -> Option<Time> {
        let launch = packet.txtime.filter(|_| ring.keeps_launch_times);
        if let Some(launch) = launch.filter(|launch| *launch > now) {
            return Some(launch);
        }
        let gates = self.gates.as_ref()?;
        match gates.window(number, now) {
            Window::Open(Time::MAX) => None,
            Window::Open(closes) => {
                let ends = now + gates.room(self.rate.duration(packet.wire));
                (ends > closes).then_some(closes)
            }
            Window::Closed(opens) => Some(opens),
        }
    }

    /// Removes the first frame of a class.
    pub(crate) fn take(&mut self, class: usize) -> Option<Packet> {
        self.rings.get_mut(class)?.packets.pop_front()
    }
}
