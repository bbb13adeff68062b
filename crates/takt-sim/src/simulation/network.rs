//! Transit of frames: into a port, out of it, and to the end.

use takt_scenario::{FlowSource, PortIndex};

use super::{Event, Simulation};
use crate::discipline::{DropReason, Packet};
use crate::frames::Frame;
use crate::observer::{Message, MessageOutcome, Observer, Passage};

impl Simulation {
    /// Handles the arrival of a frame at a port, the first or the next.
    pub(super) fn enqueue(&mut self, place: u32, observer: &mut impl Observer) {
        self.frame_events += 1;
        let frame = self.frames.get(place);
        let port = self.passed[frame.next as usize];
        // At the first port `queued` is already set: with a txtime, it is later than now.
        if frame.hop == 0 {
            self.ways[frame.flow()].sent += u64::from(frame.counted);
        } else {
            frame.queued = self.now;
        }
        let packet = frame.packet;
        // The port does its work of this time before the frame comes.
        if self.ports[port as usize].is_asked(self.now) {
            self.act(port, observer);
        }
        self.ports[port as usize].enqueue(packet, self.now, &mut self.drops);
        self.act(port, observer);
    }

    pub(super) fn act(&mut self, index: u32, observer: &mut impl Observer) {
        let port = &mut self.ports[index as usize];
        let action = port.act(self.now, &mut self.drops);
        if let Some(time) = action.ask {
            self.calendar.push(time, Event::Ask(index));
        }
        if let Some((place, end)) = action.sent {
            self.frame_events += 1;
            let arrival = end + port.propagation;
            let flow = self.frames.get(place).flow();
            let is_return = matches!(self.ways[flow].source, FlowSource::Return(_));
            let frame = self.frames.pass(place, self.now, arrival, is_return);
            observer.passage(&Passage {
                source: self.ways[frame.flow()].source,
                counter: frame.counter,
                port: PortIndex(index as usize),
                queued: frame.queued,
                arrived: arrival,
            });
            let hop = frame.hop;
            let ends = hop == frame.hops;
            let ways = &self.ways;
            let mut copies = ways[flow].forks.iter().filter(|(at, _)| *at == hop);
            if !ends || copies.any(|(_, copy)| ways[*copy as usize].hops > hop) {
                // A bridge receives one frame, and replicates it afterwards.
                let forwarded = arrival + self.forwarding[index as usize].draw();
                port.forwarded = port.forwarded.max(forwarded);
            }
            let forwarded = port.forwarded;
            let next = |ends| match ends {
                true => (arrival, Event::Deliver as fn(u32) -> Event),
                false => (forwarded, Event::Enqueue as fn(u32) -> Event),
            };
            let (at, event) = next(ends);
            self.calendar.push(at, event(place));
            for (shared, copy) in &self.ways[flow].forks {
                if *shared == hop {
                    let way = &self.ways[*copy as usize];
                    let (at, event) = next(way.hops == hop);
                    let copy = self.frames.copy(place, way.packet, way.first, way.hops);
                    self.calendar.push(at, event(copy));
                }
            }
        }
        while let Some((packet, reason)) = self.drops.pop() {
            self.lose(PortIndex(index as usize), packet, reason, observer);
        }
    }

    pub(super) fn lose(
        &mut self,
        port: PortIndex,
        packet: Packet,
        reason: DropReason,
        observer: &mut impl Observer,
    ) {
        let mut frame = *self.frames.get(packet.frame);
        self.count_hops(packet.frame);
        self.frames.remove(packet.frame);
        // It is lost for all subscribers whose copies bridges would have made behind.
        let copies = self.copies_behind(&frame);
        for flow in std::iter::once(packet.flow).chain(copies) {
            frame.packet.flow = flow;
            if frame.counted {
                self.flow_statistics[frame.flow()].lose(port, reason);
            }
            observer.message(&self.message(&frame, MessageOutcome::Lost(port, reason)));
        }
    }

    /// Returns the flows whose frames would have been made of a frame behind the next port on its way.
    pub(super) fn copies_behind(&self, frame: &Frame) -> Vec<u32> {
        let of = |flow: u32| {
            let forks = self.ways[flow as usize].forks.iter();
            forks.filter_map(|(at, copy)| (*at > frame.hop).then_some(*copy))
        };
        let mut copies: Vec<u32> = of(frame.packet.flow).collect();
        let mut next = 0;
        while let Some(flow) = copies.get(next).copied() {
            next += 1;
            copies.extend(of(flow));
        }
        copies
    }

    pub(super) fn deliver(&mut self, place: u32, observer: &mut impl Observer) {
        self.frame_events += 1;
        let frame = *self.frames.get(place);
        if frame.counted {
            self.note(place, &frame);
        }
        let source = self.ways[frame.flow()].source;
        if let FlowSource::Publish(id) = source
            && let Some(loopback) = &self.loopbacks[id.0]
        {
            // The passed ports are already noted.
            self.frames.get(place).hop = 0;
            let verified = self.now + loopback.verify;
            if verified > self.now {
                self.calendar.push(verified, Event::Verified(place));
            } else {
                self.take(place);
            }
            return;
        }
        self.frames.remove(place);
        if !matches!(source, FlowSource::Cross(_)) {
            observer.message(&self.message(&frame, MessageOutcome::Arrived));
        }
    }

    /// Puts a message that a loopback has received and verified before its user thread.
    pub(super) fn take(&mut self, place: u32) {
        let flow = self.frames.get(place).flow();
        if let FlowSource::Publish(id) = self.ways[flow].source
            && let Some(loopback) = &mut self.loopbacks[id.0]
        {
            loopback.inbox.push(place);
            self.inboxed += 1;
        }
    }

    pub(super) fn message(&self, frame: &Frame, outcome: MessageOutcome) -> Message {
        Message {
            source: self.ways[frame.flow()].source,
            counter: frame.counter,
            published: frame.published,
            first_bit: frame.first_bit,
            ended: self.now,
            outcome,
        }
    }
}
