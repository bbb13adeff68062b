//! Port of Linux: qdiscs hand frames to the rings of the driver as soon as they may, and the hardware sends the highest class first.
//! With mqprio each class has a qdisc of its own; taprio is one qdisc above those of all classes.

use std::collections::{HashMap, VecDeque};

use crate::clock::Gates;
use crate::observed::Outcomes;
use crate::port::{Frame, Outcome, Port};
use crate::qdisc::{Drops, Qdisc};

struct Class {
    qdisc: Qdisc,
    ring: VecDeque<Frame>,
}

/// Txtimes that taprio gave with txtime-assist.
#[derive(Default)]
struct Slots {
    /// End of the last frame in each entry.
    ends: HashMap<usize, i64>,
}

impl Slots {
    /// Returns the first txtime, not before `earliest`, at which a frame that needs so long fits in an entry behind the others.
    fn choose(&mut self, gates: &Gates, class: usize, needs: i64, earliest: i64) -> i64 {
        let mut begin = earliest - (earliest - gates.base).rem_euclid(gates.cycle);
        for index in (0..gates.entries.len()).cycle() {
            let (open, length) = gates.entries[index];
            let last = self.ends.get(&index).copied();
            let time = begin.max(earliest).max(last.unwrap_or(begin));
            begin += length;
            if open >> class & 1 == 1 && time + needs.max(gates.guard_band) <= begin {
                self.ends.insert(index, time + needs);
                return time;
            }
        }
        panic!("no entry")
    }
}

struct Model<'a> {
    port: &'a Port,
    room: usize,
    classes: Vec<Class>,
    drops: Drops,
    slots: Slots,
    now: i64,
}

impl Model<'_> {
    fn local(&self) -> i64 {
        self.port.clock.shows(self.now)
    }

    /// Lets the qdisc of a class hand frames to the driver; taprio is that of all classes.
    fn run(&mut self, class: usize) {
        if self.port.gates.is_some() && self.port.assist.is_none() {
            while self.take_through_gates() {}
            return;
        }
        while self.classes[class].ring.len() < self.room {
            let local = self.local();
            let Class { qdisc, ring, .. } = &mut self.classes[class];
            match qdisc.dequeue(local, &mut self.drops) {
                Some(frame) => ring.push_back(frame),
                None => return,
            }
        }
    }

    /// Hands one frame to the driver, if a gate lets one pass.
    fn take_through_gates(&mut self) -> bool {
        let local = self.local();
        let Some(gates) = &self.port.gates else {
            return false;
        };
        for (index, class) in self.classes.iter_mut().enumerate() {
            if class.ring.len() == self.room {
                continue;
            }
            let Some(frame) = class.qdisc.peek(local) else {
                continue;
            };
            if gates.admit(index, local, self.port.needs(frame.length)) {
                class
                    .ring
                    .extend(class.qdisc.dequeue(local, &mut self.drops));
                return true;
            }
        }
        false
    }

    /// Removes the next frame of the rings.
    fn send(&mut self) -> Option<Frame> {
        for index in 0..self.classes.len() {
            if let Some(frame) = self.classes[index].ring.pop_front() {
                self.run(index);
                return Some(frame);
            }
        }
        None
    }

    /// Returns the next time at which a timer fires, by the node's clock.
    fn timer(&self) -> Option<i64> {
        let local = self.local();
        let watchdogs = self.classes.iter().filter_map(|class| class.qdisc.watchdog);
        let gates = self
            .port
            .gates
            .iter()
            .filter(|_| self.port.assist.is_none());
        let gates = gates.flat_map(|gates| {
            // Frames that no qdisc keeps wait for the next change of their gate.
            let classes = self.classes.iter().enumerate();
            let waiting = classes.filter(|(_, class)| {
                class.ring.len() < self.room
                    && !class.qdisc.is_empty()
                    && class.qdisc.watchdog.is_none()
            });
            waiting.map(|(index, _)| gates.changes(index, local))
        });
        watchdogs.chain(gates).min()
    }
}

/// Returns the end of each frame, if the driver takes so many frames of each class before the link is free.
pub(crate) fn outcomes(port: &Port, frames: &[Frame], room: usize) -> Outcomes {
    let class = |class: &takt_scenario::TrafficClass| Class {
        qdisc: Qdisc::new(&class.queue, port),
        ring: VecDeque::new(),
    };
    let mut model = Model {
        port,
        room,
        classes: port.discipline.classes.iter().map(class).collect(),
        drops: Drops::new(),
        slots: Slots::default(),
        now: 0,
    };
    let mut outcomes = Outcomes::new();
    let mut arrivals = frames.iter().peekable();
    let mut sending = None;
    loop {
        // The hardware needs no time.
        if sending.is_none()
            && let Some(frame) = model.send()
        {
            let end = model.now + port.needs(frame.wire);
            outcomes.insert(frame.id, Outcome::Sent(end));
            sending = Some(end);
        }
        for (frame, reason) in model.drops.drain(..) {
            outcomes.insert(frame.id, Outcome::Dropped(model.now, reason));
        }
        let timer = model
            .timer()
            .map(|local| port.clock.reaches(local, model.now));
        let arrival = arrivals.peek().map(|frame| frame.arrival);
        let Some(next) = [sending, timer, arrival].into_iter().flatten().min() else {
            return outcomes;
        };
        model.now = next;
        if sending == Some(next) {
            sending = None;
        } else if timer == Some(next) {
            let local = model.local();
            for index in 0..model.classes.len() {
                let fires = model.classes[index].qdisc.watchdog <= Some(local);
                if fires && model.classes[index].qdisc.watchdog.take().is_some() {
                    model.run(index);
                }
            }
            if port.gates.is_some() && port.assist.is_none() {
                model.run(0);
            }
        } else if let Some(frame) = arrivals.next() {
            let local = model.local();
            let mut frame = *frame;
            if let (Some(gates), Some(delay)) = (&port.gates, port.assist) {
                let needs = port.needs(frame.length);
                frame.txtime = Some(model.slots.choose(gates, frame.class, needs, local + delay));
            }
            let qdisc = &mut model.classes[frame.class].qdisc;
            qdisc.enqueue(frame, local, &mut model.drops);
            model.run(frame.class);
        }
    }
}
