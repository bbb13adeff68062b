//! Port of Linux: qdiscs hand frames to the rings of the driver as soon as they may, and the hardware sends the highest class first.
//! With mqprio each class has a qdisc of its own; taprio is one qdisc above those of all classes, which learns only from the driver that a
//! ring is full. Without rings, as with
//! `--model ieee`, the link asks the qdiscs of all classes when it is free, and frames count as long as they are on it.
//!
//! At one time, the link becomes free and timers fire before the next frame is chosen, and that happens before frames arrive.

use std::collections::VecDeque;

use takt_sim::discipline::DropReason;

use crate::port_models::assist::{Slots, accepts};
use crate::port_models::clock::Gates;
use crate::port_models::observed::Outcomes;
use crate::port_models::port::{Frame, Outcome, Port};
use crate::port_models::qdisc::{Drops, Qdisc};

struct Class {
    qdisc: Qdisc,
    ring: VecDeque<Frame>,
    /// Room of the ring.
    room: usize,
    /// True if the device keeps launch times: frames wait for them in the ring, in their order.
    launches: bool,
}

/// Room of the ring of a class whose etf has offload, whatever its mode.
const LAUNCH_ROOM: usize = 64;
/// Picoseconds after its launch time at which the driver takes a frame.
const GRACE: i64 = 1_000_000;

struct Model<'a> {
    port: &'a Port,
    /// Room of each ring; 0 if there are none.
    room: usize,
    classes: Vec<Class>,
    /// Frames that taprio has released, of one class. Nothing else leaves it before they are in the ring.
    released: VecDeque<(usize, Frame)>,
    /// Frame of another class that taprio released with them.
    other: Option<(usize, Frame)>,
    /// End of the entry whose budgets these are, and the bytes that each class may still send in it.
    budgets: (i64, Vec<i64>),
    drops: Drops,
    slots: Slots,
    now: i64,
    /// End of the frame that is being sent.
    sending: Option<i64>,
}

impl<'a> Model<'a> {
    fn local(&self) -> i64 {
        self.port.clock.shows(self.now)
    }

    /// Returns the gates of the discipline.
    fn gates(&self) -> Option<&'a Gates> {
        self.port.gates_of_discipline(self.room > 0)
    }

    /// Returns true if gates of the discipline open and close.
    fn is_gated(&self) -> bool {
        self.gates().is_some() && self.port.assist.is_none()
    }

    /// Puts a frame into its ring, unless it is too late for its launch time, or too long for all windows of the device.
    fn push(&mut self, class: usize, frame: Frame) {
        let launches = self.classes[class].launches;
        let launch = frame.txtime.filter(|_| launches);
        let device = self.port.gates_of_device(self.room > 0);
        // Each window begins with an entry of some cycle; all cycles are alike.
        let fits = |gates: &Gates| {
            let mut begin = gates.base;
            (0..gates.entries.len()).any(|_| {
                let closes = gates.closes(class, begin);
                let length = closes.saturating_sub(begin);
                begin = gates.entry(begin).1;
                length >= gates.room(self.port.needs(frame.wire), true)
            })
        };
        if launch.is_some_and(|launch| launch + GRACE < self.local()) {
            self.drops.push((frame, DropReason::TxTimeMissed));
        } else if device.is_some_and(|gates| !fits(gates)) {
            self.drops.push((frame, DropReason::NoWindow));
        } else {
            self.classes[class].ring.push_back(frame);
        }
    }

    /// Returns the time from which the device may begin the first frame of a ring: now, its launch time, or the next change of its gate.
    fn begins(&self, class: usize) -> Option<i64> {
        let local = self.local();
        let frame = self.classes[class].ring.front()?;
        let launch = frame.txtime.filter(|_| self.classes[class].launches);
        if let Some(launch) = launch.filter(|launch| *launch > local) {
            return Some(launch);
        }
        let Some(gates) = self.port.gates_of_device(self.room > 0) else {
            return Some(local);
        };
        Some(
            match gates.admit(class, local, self.port.needs(frame.wire), true) {
                true => local,
                false => gates.changes(class, local),
            },
        )
    }

    /// Returns the time that a frame must have until its gate closes: by the length that the kernel knows and the rate of the link, or
    /// the time for which it is on the link, by the node's clock.
    fn needs(&self, frame: &Frame) -> i64 {
        match self.room {
            0 => self.port.clock.counts(self.port.needs(frame.wire)),
            // The kernel wants a frame to end before its gate closes, not then.
            _ => self.port.needs(frame.length) + i64::from(self.is_gated()),
        }
    }

    /// Returns true if the class may still send so many bytes in the present entry, and counts them for all classes.
    fn has_budget(&mut self, class: usize, length: u32, local: i64) -> bool {
        let Some(gates) = self.gates().filter(|_| self.room > 0) else {
            return true;
        };
        let (_, end) = gates.entry(local);
        if self.budgets.0 != end {
            let classes = 0..self.classes.len();
            let begin = gates.begin(local);
            // As in `sch_taprio`: whole picoseconds for a byte at whole Mbit/s, at least TAPRIO_PICOS_PER_BYTE_MIN.
            let picoseconds = 8_000_000 / (self.port.rate / 1_000_000).max(1);
            let bytes = |class| match gates.closes(class, begin) {
                i64::MAX => i64::MAX,
                closes => (closes - begin - gates.guard_band).max(0) / picoseconds.max(17),
            };
            self.budgets = (end, classes.map(bytes).collect());
        }
        for budget in &mut self.budgets.1 {
            if *budget != i64::MAX {
                *budget -= i64::from(length);
            }
        }
        self.budgets.1[class] >= 0
    }

    /// Removes and returns the next frame of one of these classes, if there is one that may leave now.
    fn dequeue(&mut self, classes: &[usize]) -> Option<(usize, Frame)> {
        let local = self.local();
        for index in classes {
            let qdisc = &mut self.classes[*index].qdisc;
            let Some(frame) = qdisc.next(local, &mut self.drops) else {
                continue;
            };
            let gates = self.gates().filter(|_| self.is_gated());
            let is_gated = gates.is_some();
            let (needs, is_kernel) = (self.needs(&frame), self.room > 0);
            if gates.is_none_or(|gates| gates.admit(*index, local, needs, is_kernel))
                && (!is_gated || self.has_budget(*index, frame.length, local))
            {
                self.classes[*index].qdisc.take(local);
                return Some((*index, frame));
            }
        }
        None
    }

    /// Lets the qdisc of a class hand frames to the driver; taprio is that of all classes, and does not look at the rings before it
    /// releases a frame.
    fn run(&mut self, class: usize) {
        if self.room == 0 {
            return;
        }
        let is_shared = self.gates().is_some();
        let classes: Vec<usize> = match is_shared {
            true => (0..self.classes.len()).collect(),
            false => vec![class],
        };
        let is_full = |model: &Self, class: usize| {
            model.classes[class].ring.len() >= model.classes[class].room
        };
        loop {
            while let Some((class, frame)) = self.released.front().copied() {
                if is_full(self, class) {
                    return;
                }
                self.released.pop_front();
                self.push(class, frame);
            }
            if let Some((other, frame)) = self.other {
                if is_full(self, other) {
                    return;
                }
                self.other = None;
                self.released.push_back((other, frame));
            } else {
                if !is_shared && is_full(self, class) {
                    return;
                }
                let Some(first) = self.dequeue(&classes) else {
                    return;
                };
                self.released.push_back(first);
            }
            // The kernel takes up to eight more frames of this class at once, and learns by the next one that its class is another.
            while is_shared && self.released.len() < 9 && self.other.is_none() {
                match self.dequeue(&classes) {
                    Some(next) if next.0 == self.released[0].0 => self.released.push_back(next),
                    Some(next) => self.other = Some(next),
                    None => break,
                }
            }
        }
    }

    /// Removes the next frame of the rings, or of the qdiscs if there are none.
    fn send(&mut self) -> Option<Frame> {
        if self.room == 0 {
            let all: Vec<usize> = (0..self.classes.len()).collect();
            return self.dequeue(&all).map(|(_, frame)| frame);
        }
        for index in 0..self.classes.len() {
            if self
                .begins(index)
                .is_none_or(|begins| begins > self.local())
            {
                continue;
            }
            // The full ring had stopped the qdisc, so it runs when there is room again.
            if let Some(frame) = self.classes[index].ring.pop_front() {
                self.run(index);
                return Some(frame);
            }
        }
        None
    }

    /// Returns true if the driver, or the free link, would take a frame of a class.
    fn has_room(&self, class: usize) -> bool {
        match self.room {
            0 => self.sending.is_none(),
            _ if self.gates().is_some() => self.released.is_empty() && self.other.is_none(),
            _ => self.classes[class].ring.len() < self.classes[class].room,
        }
    }

    /// Returns the next time at which a timer fires, by the node's clock.
    fn timer(&self) -> Option<i64> {
        let local = self.local();
        let watchdogs = self.classes.iter().filter_map(|class| class.qdisc.watchdog);
        let gates = self.gates().into_iter().filter(|_| self.is_gated());
        let changes = gates.flat_map(|gates| {
            // Frames that no qdisc keeps wait for the next change of their gate. The kernel runs taprio at the end of each entry.
            let classes = self.classes.iter().enumerate();
            let waiting = classes.filter(|(index, class)| {
                let qdisc = &class.qdisc;
                let waits = match self.room {
                    0 => !qdisc.is_empty() && qdisc.watchdog.is_none(),
                    _ => !qdisc.is_empty() || qdisc.watchdog.is_some(),
                };
                waits && self.has_room(*index)
            });
            waiting.map(|(index, _)| match self.room {
                0 => gates.changes(index, local),
                _ => gates.entry(local).1,
            })
        });
        // While a frame is sent, its end is the next time at which the device looks at the rings.
        let rings = 0..if self.sending.is_none() {
            self.classes.len()
        } else {
            0
        };
        let begins = rings.filter_map(|index| self.begins(index));
        watchdogs.chain(changes).chain(begins).min()
    }

    /// Runs the qdiscs whose timer has come.
    fn fire(&mut self) {
        let local = self.local();
        let is_shared = self.gates().is_some();
        for index in 0..self.classes.len() {
            let watchdog = &mut self.classes[index].qdisc.watchdog;
            if watchdog.take_if(|time| *time <= local).is_some() && !is_shared {
                self.run(index);
            }
        }
        if is_shared {
            self.run(0);
        }
    }

    fn arrive(&mut self, mut frame: Frame) {
        let (local, needs) = (self.local(), self.needs(&frame));
        let is_kernel = self.room > 0;
        if let Some(gates) = self.gates()
            && (is_kernel || self.port.assist.is_some())
        {
            let needs = match is_kernel {
                true => self.port.needs(frame.length),
                false => needs,
            };
            let fits = |txtime| accepts(gates, frame.class, needs, txtime, is_kernel);
            if frame.txtime.is_some_and(|txtime| !fits(txtime)) {
                self.drops.push((frame, DropReason::NoWindow));
                // The kernel runs the qdisc behind each frame, also behind one that it refuses.
                self.run(frame.class);
                return;
            }
        }
        if let (Some(gates), Some(delay)) = (self.gates(), self.port.assist) {
            let slots = &mut self.slots;
            let chosen = || slots.choose(gates, frame.class, needs, local + delay, is_kernel);
            frame.txtime = Some(frame.txtime.unwrap_or_else(chosen));
        }
        let qdisc = &mut self.classes[frame.class].qdisc;
        qdisc.enqueue(frame, local, &mut self.drops);
        self.run(frame.class);
    }
}

/// Returns the end of each frame, if the driver takes so many frames of each class before the link is free.
pub(crate) fn outcomes(port: &Port, frames: &[Frame], room: usize) -> Outcomes {
    let class = |class: &takt_scenario::TrafficClass| {
        let etf = class.queue.launch();
        let etf = etf.filter(|etf| room > 0 && etf.offload);
        Class {
            qdisc: Qdisc::new(&class.queue, port, room > 0),
            ring: VecDeque::new(),
            room: etf.map_or(room, |_| LAUNCH_ROOM),
            launches: etf.is_some_and(|etf| !etf.deadline_mode),
        }
    };
    let mut model = Model {
        port,
        room,
        classes: port.discipline.classes.iter().map(class).collect(),
        released: VecDeque::new(),
        other: None,
        budgets: (i64::MIN, Vec::new()),
        drops: Drops::new(),
        slots: Slots::default(),
        now: 0,
        sending: None,
    };
    let mut outcomes = Outcomes::new();
    let mut arrivals = frames.iter().peekable();
    loop {
        // The hardware needs no time.
        if model.sending.is_none()
            && let Some(frame) = model.send()
        {
            let end = model.now + port.needs(frame.wire);
            outcomes.insert(frame.id, Outcome::Sent(end));
            model.sending = Some(end);
        }
        for (frame, reason) in model.drops.drain(..) {
            outcomes.insert(frame.id, Outcome::Dropped(model.now, reason));
        }
        let timer = model.timer();
        let timer = timer.map(|local| port.clock.reaches(local, model.now));
        let arrival = arrivals.peek().map(|frame| frame.arrival);
        let Some(next) = [model.sending, timer, arrival].into_iter().flatten().min() else {
            return outcomes;
        };
        model.now = next;
        let is_free = model.sending.take_if(|end| *end == next).is_some();
        if timer == Some(next) {
            model.fire();
        } else if !is_free && let Some(frame) = arrivals.next() {
            model.arrive(*frame);
        }
    }
}
