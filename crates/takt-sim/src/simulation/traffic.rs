//! Publishers, loopbacks and cross traffic.

use super::{Event, PATIENCE, Simulation, number};
use crate::Time;
use crate::discipline::Packet;
use crate::frames::Frame;
use crate::observer::{MessageOutcome, Observer};
use crate::options;

impl Simulation {
    pub(super) fn publish(&mut self, index: usize, observer: &mut impl Observer) {
        let over = self.is_over();
        let cycles = self.options.simulation.cycles;
        let publisher = &mut self.publishers[index];
        if over || publisher.counter >= cycles {
            self.publishing -= 1;
            if self.publishing == 0 {
                self.end = self.now + PATIENCE;
            }
            return;
        }
        let departure = publisher.departure;
        let (flow, counter) = (publisher.flow, publisher.counter);
        // The message is due when its port may send it.
        let lead = self.ways[flow as usize].lead;
        let due = departure
            .txtime
            .map(|txtime| publisher.cycles.global(txtime - lead));
        publisher.counter += 1;
        publisher.departure = publisher.cycles.publish();
        let next = publisher.departure.at;
        self.calendar.push(next, Event::Publish(number(index)));
        let counted = self.is_counted(counter);
        // A late thread may hand the message over after it was due.
        let published = due.map_or(self.now, |due| due.max(self.now));
        let way = &self.ways[flow as usize];
        let frame = self.frames.insert(Frame {
            packet: Packet {
                txtime: departure.txtime,
                ..way.packet
            },
            next: way.first,
            hop: 0,
            hops: way.hops,
            counted,
            counter,
            handed_over: self.now,
            published,
            departed: published,
            queued: published,
            first_bit: Time::ZERO,
            began: Time::ZERO,
        });
        self.enqueue(frame, observer);
    }

    pub(super) fn user_thread(&mut self, index: usize, observer: &mut impl Observer) {
        let Some(loopback) = &mut self.loopbacks[index] else {
            return;
        };
        let flow = loopback.flow;
        let departure = loopback.cycles.answer(self.now);
        let next = loopback.cycles.user_thread();
        let lead = self.ways[flow as usize].lead;
        let due = departure.txtime.map_or(departure.at, |txtime| {
            loopback.cycles.global(txtime - lead).max(departure.at)
        });
        self.calendar.push(next, Event::UserThread(number(index)));
        let mut inbox = std::mem::take(&mut loopback.inbox);
        let mut latest = loopback.latest;
        self.inboxed -= inbox.len();
        if self.options.loopback == options::Loopback::Latest {
            let last = inbox.pop();
            for place in inbox.drain(..) {
                let frame = *self.frames.get(place);
                self.application_statistics[index].overwritten += u64::from(frame.counted);
                self.frames.remove(place);
                observer.message(&self.message(&frame, MessageOutcome::Overwritten));
            }
            match (last, latest, self.publishing > 0) {
                (Some(last), _, _) => inbox.push(last),
                // The latest message is sent again only while something is published. Otherwise the simulation would never end.
                (None, Some(latest), true) => inbox.push(self.frames.insert(latest)),
                (None, _, _) => {}
            }
            let sent = inbox.last().map(|place| *self.frames.get(*place));
            latest = sent.or(latest);
        }
        let way = &self.ways[flow as usize];
        for place in inbox.drain(..) {
            let frame = self.frames.get(place);
            frame.packet = Packet {
                frame: place,
                txtime: departure.txtime,
                ..way.packet
            };
            frame.next = way.first;
            frame.hop = 0;
            frame.hops = way.hops;
            frame.departed = due;
            frame.queued = due;
            self.calendar.push(departure.at, Event::Enqueue(place));
        }
        if let Some(loopback) = &mut self.loopbacks[index] {
            // The empty list goes back with its memory, so that the next cycle allocates none.
            loopback.inbox = inbox;
            loopback.latest = latest;
        }
    }

    pub(super) fn plan_crossing(&mut self, index: usize) {
        let crossing = &mut self.crossings[index];
        let (at, frames) = crossing.generator.next();
        crossing.frames = frames;
        self.calendar.push(at, Event::Generate(number(index)));
    }

    pub(super) fn generate(&mut self, index: usize, observer: &mut impl Observer) {
        let crossing = &mut self.crossings[index];
        // Cross traffic without applications sends as many frames as an application would.
        let alone = self.publishers.is_empty() && crossing.counter < self.options.simulation.cycles;
        if self.options.duration.is_some_and(|end| self.now >= end)
            || (self.publishing == 0 && !alone)
        {
            return;
        }
        let (flow, frames, first) = (crossing.flow, crossing.frames, crossing.counter);
        crossing.counter += u64::from(frames);
        for counter in first..first + u64::from(frames) {
            let way = &self.ways[flow as usize];
            let frame = self.frames.insert(Frame {
                packet: way.packet,
                next: way.first,
                hop: 0,
                hops: way.hops,
                counted: true,
                counter,
                handed_over: self.now,
                published: self.now,
                departed: self.now,
                queued: self.now,
                first_bit: Time::ZERO,
                began: Time::ZERO,
            });
            self.enqueue(frame, observer);
        }
        self.plan_crossing(index);
    }
}
