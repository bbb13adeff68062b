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
            if frame.hop == frame.hops {
                self.calendar.push(arrival, Event::Deliver(place));
            } else {
                let forwarded = arrival + self.forwarding[index as usize].draw();
                port.forwarded = port.forwarded.max(forwarded);
                self.calendar.push(port.forwarded, Event::Enqueue(place));
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
        let frame = *self.frames.get(packet.frame);
        self.count_hops(packet.frame);
        self.frames.remove(packet.frame);
        if frame.counted {
            self.flow_statistics[frame.flow()].lose(port, reason);
        }
        observer.message(&self.message(&frame, MessageOutcome::Lost(port, reason)));
    }

    pub(super) fn deliver(&mut self, place: u32, observer: &mut impl Observer) {
        self.frame_events += 1;
        let frame = *self.frames.get(place);
        if frame.counted {
            self.note(place, &frame);
        }
        let source = self.ways[frame.flow()].source;
        if let FlowSource::Publish(id) = source
            && let Some(loopback) = &mut self.loopbacks[id.0]
        {
            // The passed ports are already noted.
            self.frames.get(place).hop = 0;
            loopback.inbox.push(place);
            self.inboxed += 1;
            return;
        }
        self.frames.remove(place);
        if !matches!(source, FlowSource::Cross(_)) {
            observer.message(&self.message(&frame, MessageOutcome::Arrived));
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
