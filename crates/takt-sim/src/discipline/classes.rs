//! Traffic classes with strict priority: MQPRIO, and TAPRIO with gates or with txtime-assist.

use takt_scenario::Discipline;

use super::{
    ClassQueue, DropReason, Drops, Gates, Next, Packet, Release, TxTimeAssist, Window,
    WindowBudgets,
};
use crate::options::Model;
use crate::{LineRate, NodeClock, Time};

/// Lengths of frames that must fit in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lengths {
    /// L2 frames without their check sequence, as in Linux; behind gates all bytes on the wire.
    Kernel,
    /// All bytes of a frame on the wire.
    Wire,
}

/// Traffic classes, the highest first.
#[derive(Debug)]
pub struct Classes {
    classes: Vec<ClassQueue>,
    /// Class of each priority.
    map: [u8; 16],
    gates: Option<Gates>,
    assist: Option<TxTimeAssist>,
    /// Bytes that classes may still send in the present window. Of Linux only.
    budgets: Option<Box<WindowBudgets>>,
    rate: LineRate,
    lengths: Lengths,
}

impl Classes {
    /// Makes the classes of MQPRIO: each priority is mapped to a class. Indices beyond the last class mean the last class.
    pub fn new(classes: Vec<ClassQueue>, map: [u8; 16], rate: LineRate, lengths: Lengths) -> Self {
        Self {
            classes,
            map,
            gates: None,
            assist: None,
            budgets: None,
            rate,
            lengths,
        }
    }

    /// Makes the classes of a port.
    pub(super) fn of_port(
        written: &Discipline,
        rate: LineRate,
        clock: NodeClock,
        model: Model,
    ) -> Self {
        // Linux computes the duration of frames from the link's rate. By the standard a frame ends before its gate closes, by any
        // clock.
        let (lengths, by_clock) = match model {
            Model::Linux => (Lengths::Kernel, rate),
            Model::Ieee => (Lengths::Wire, rate.by(clock)),
        };
        let classes = written.classes.iter();
        let queues = classes.map(|class| ClassQueue::new(&class.queue, rate, model));
        let mut map = [0; 16];
        for (priority, class) in (0u8..).zip(&mut map) {
            // `class_of` limits the class to the last one.
            *class = u8::try_from(written.class_of(priority)).unwrap_or(u8::MAX);
        }
        Self::new(queues.collect(), map, by_clock, lengths)
    }

    /// Adds the gates of TAPRIO: classes send while their gates are open, and only frames that end before the gates close.
    #[must_use]
    pub fn with_gates(mut self, gates: Gates) -> Self {
        let gates = match self.lengths {
            Lengths::Kernel => gates.closing_early(),
            Lengths::Wire => gates,
        };
        // IEEE 802.1Q, 8.6.8.2: credit stands still while the gate is closed. `sch_cbs` knows no gates.
        for (number, queue) in (0u8..).zip(&mut self.classes) {
            if let ClassQueue::CbsIeee(shaper) = queue {
                shaper.behind(Some((gates.clone(), number)));
            }
        }
        self.budgets = (self.lengths == Lengths::Kernel)
            .then(|| Box::new(WindowBudgets::new(&gates, self.classes.len(), self.rate)));
        self.gates = Some(gates);
        self
    }

    /// Adds txtime-assist of TAPRIO: packets get a txtime from the gates that were set before, and gates have no other effect.
    #[must_use]
    pub fn with_txtime_assist(mut self, delay: Time) -> Self {
        for queue in &mut self.classes {
            if let ClassQueue::CbsIeee(shaper) = queue {
                // No gate closes, so credit is always gained.
                shaper.behind(None);
            }
        }
        let entries = self
            .gates
            .as_ref()
            .map_or(0, |gates| gates.schedule().1.len());
        self.assist = Some(TxTimeAssist::new(delay, entries));
        self
    }

    /// Returns the number of classes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Returns true if packets of each class are requested separately. Below MQPRIO each class has a qdisc and a watchdog of its
    /// own, which run when a packet comes to that class, when the driver has room for it, or when its time has come. TAPRIO in
    /// software is one qdisc with all classes.
    pub fn are_apart(&self) -> bool {
        self.gates.is_none()
    }

    /// Returns true if there are no classes.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Returns the class of a priority.
    pub fn class_of(&self, priority: u8) -> u8 {
        let last = u8::try_from(self.classes.len().saturating_sub(1)).unwrap_or(u8::MAX);
        // As in the kernel (`TC_BITMASK`), only four bits of a priority count.
        self.map[usize::from(priority & 15)].min(last)
    }

    /// Adds a packet to its class.
    ///
    /// Takt configures TAPRIO with a size table, so the kernel counts the bytes on the wire there, also in the classes below.
    pub fn enqueue(&mut self, mut packet: Packet, now: Time, drops: &mut Drops) {
        if self.gates.is_some() && self.lengths == Lengths::Kernel {
            packet.length = packet.wire;
        }
        let class = self.class_of(packet.priority);
        if let Some(gates) = &self.gates {
            let duration = duration(self.rate, self.lengths, &packet);
            let is_linux = self.lengths == Lengths::Kernel;
            let accepted = match (packet.txtime, &mut self.assist) {
                // Gates of the standard know no txtimes.
                (Some(_), None) if !is_linux => true,
                (Some(txtime), _) => {
                    TxTimeAssist::accepts(gates, class, duration, txtime, is_linux)
                }
                (None, Some(assist)) => {
                    packet.txtime = assist.choose(gates, class, duration, now);
                    packet.txtime.is_some()
                }
                (None, None) => true,
            };
            if !accepted {
                drops.push((packet, DropReason::NoWindow));
                return;
            }
        }
        match self.classes.get_mut(usize::from(class)) {
            Some(class) => class.enqueue(packet, now, drops),
            // The class is limited to the last one, so only a port without classes comes here.
            None => drops.push((packet, DropReason::QueueFull)),
        }
    }

    /// Removes and returns the next packet of one of these classes: bit 0 is the highest.
    pub fn dequeue(&mut self, now: Time, from: u16, drops: &mut Drops) -> Release {
        let selected = self.select(now, from, drops);
        if let Release::Packet(_, class) = selected
            && let Some(queue) = self.classes.get_mut(usize::from(class))
        {
            // `select` has returned a copy of this packet.
            let _ = queue.take(now);
        }
        selected
    }

    /// Returns the result of [`Self::dequeue`] without removing a packet.
    pub fn select(&mut self, now: Time, from: u16, drops: &mut Drops) -> Release {
        let mut wake = Time::MAX;
        let mut waits = false;
        for (number, queue) in (0u8..).zip(&mut self.classes) {
            if from >> number & 1 == 0 || queue.is_idle() {
                continue;
            }
            waits = true;
            let packet = match queue.next(now, drops) {
                Next::Empty => continue,
                Next::At(time) => {
                    // A shaper without credit, or ETF before a txtime, holds back its own class only.
                    wake = wake.min(time);
                    continue;
                }
                Next::Now(packet) => packet,
            };
            let change = match (&self.gates, &self.assist) {
                (Some(gates), None) => {
                    let duration = duration(self.rate, self.lengths, &packet);
                    // A frame pays from the budget even if it is only selected. None pays twice: `is_ready` is asked only at ports of the
                    // IEEE model, which have no budgets.
                    let budgets = self.budgets.as_mut();
                    // The kernel wants a frame to end before the window does, not with it.
                    let margin = Time::picoseconds(budgets.is_some().into());
                    shut(gates, number, duration + margin, now)
                        .or_else(|| budgets?.take(gates, number, packet.length, now))
                }
                _ => None,
            };
            match change {
                Some(change) => wake = wake.min(change),
                None => return Release::Packet(packet, number),
            }
        }
        if let (Some(gates), Some(_), None) = (&self.gates, &self.budgets, &self.assist)
            && waits
        {
            // The kernel runs the qdisc at the end of each entry.
            wake = wake.min(gates.entry(now).2);
        }
        if wake == Time::MAX {
            Release::Nothing
        } else {
            Release::At(wake)
        }
    }
}

/// Returns the time of the gate's next change, unless a frame of this duration may begin now.
fn shut(gates: &Gates, class: u8, duration: Time, now: Time) -> Option<Time> {
    match gates.window(class, now) {
        Window::Open(Time::MAX) => None,
        Window::Open(closes) => {
            let fits = now + gates.room(duration) <= closes;
            (!fits).then_some(closes)
        }
        Window::Closed(opens) => Some(opens),
    }
}

fn duration(rate: LineRate, lengths: Lengths, packet: &Packet) -> Time {
    rate.duration(match lengths {
        Lengths::Kernel => packet.length,
        Lengths::Wire => packet.wire,
    })
}

#[cfg(test)]
mod tests {
    use takt_scenario::{CbsParameters, Credit, Limit, Rate};

    use super::super::gates::tests::schedule;
    use super::super::test::packet;
    use super::super::{CbsIeee, Etf, EtfMode, Fifo};
    use super::*;

    const fn us(microseconds: i64) -> Time {
        Time::microseconds(microseconds)
    }

    const ALL: u16 = u16::MAX;

    fn fifo() -> ClassQueue {
        ClassQueue::Fifo(Fifo::new(Limit::Frames(100)))
    }

    fn of(priority: u8, frame: u32, length: u32) -> Packet {
        Packet {
            priority,
            ..packet(frame, length)
        }
    }

    /// Maps priority 3 to class 0, priority 2 to class 1, the others to class 2.
    fn map() -> [u8; 16] {
        let mut map = [2; 16];
        map[3] = 0;
        map[2] = 1;
        map
    }

    /// Returns a rate of 1 B/ns: a frame of 1226 B for the kernel takes 10 µs on the wire.
    fn rate() -> LineRate {
        LineRate::new(1_000_000_000)
    }

    fn taken(classes: &mut Classes, now: Time, from: u16) -> Option<u32> {
        match classes.dequeue(now, from, &mut Drops::new()) {
            Release::Packet(packet, _) => Some(packet.frame),
            Release::Nothing | Release::At(_) => None,
        }
    }

    #[test]
    fn mqprio_takes_the_highest() {
        let mut classes = Classes::new(vec![fifo(), fifo(), fifo()], map(), rate(), Lengths::Wire);
        let mut drops = Drops::new();
        for (frame, priority) in [0, 2, 3, 7, 3].into_iter().enumerate() {
            classes.enqueue(of(priority, frame as u32, 100), us(0), &mut drops);
        }
        assert_eq!(taken(&mut classes, us(0), ALL), Some(2));
        assert_eq!(taken(&mut classes, us(0), 0b110), Some(1));
        assert_eq!(taken(&mut classes, us(0), ALL), Some(4));
        assert_eq!(taken(&mut classes, us(0), ALL), Some(0));
        assert_eq!(taken(&mut classes, us(0), ALL), Some(3));
        assert_eq!(classes.dequeue(us(0), ALL, &mut drops), Release::Nothing);
        assert!(drops.is_empty());
    }

    #[test]
    fn a_class_without_credit_lets_others_go() {
        let (idle, send) = (Rate(100_000_000), Rate(900_000_000));
        let (high, low) = (Credit(i64::MAX), Credit(i64::MIN));
        let shaper = CbsParameters::given(idle, send, high, low, Limit::Frames(10));
        let cbs = ClassQueue::CbsIeee(CbsIeee::new(&shaper, rate()));
        let mut classes = Classes::new(vec![cbs, fifo()], [0; 16], rate(), Lengths::Wire);
        classes.map[0] = 1;
        let mut drops = Drops::new();
        for frame in 0..2 {
            classes.enqueue(of(3, frame, 1226), us(0), &mut drops);
            classes.enqueue(of(0, 10 + frame, 1226), us(0), &mut drops);
        }
        assert_eq!(taken(&mut classes, us(0), ALL), Some(0));
        assert_eq!(taken(&mut classes, us(10), ALL), Some(10));
        assert_eq!(taken(&mut classes, us(20), ALL), Some(11));
        assert_eq!(
            classes.dequeue(us(30), ALL, &mut drops),
            Release::At(us(100))
        );
        assert_eq!(taken(&mut classes, us(100), ALL), Some(1));
    }

    fn gated(lengths: Lengths) -> Classes {
        Classes::new(vec![fifo(), fifo(), fifo()], map(), rate(), lengths)
            .with_gates(Gates::new(&schedule(0, &[(0b001, 50), (0b110, 50)])))
    }

    #[test]
    fn taprio_waits_for_windows_and_room_in_them() {
        let mut classes = gated(Lengths::Wire);
        let mut drops = Drops::new();
        classes.enqueue(of(3, 0, 1226), us(40), &mut drops);
        classes.enqueue(of(3, 1, 1226), us(40), &mut drops);
        classes.enqueue(of(0, 2, 1226), us(40), &mut drops);
        assert_eq!(taken(&mut classes, us(40), ALL), Some(0));
        assert_eq!(
            classes.dequeue(us(41), ALL, &mut drops),
            Release::At(us(50))
        );
        assert_eq!(taken(&mut classes, us(50), ALL), Some(2));
        assert_eq!(
            classes.dequeue(us(60), ALL, &mut drops),
            Release::At(us(100))
        );
        assert_eq!(taken(&mut classes, us(100), ALL), Some(1));
    }

    #[test]
    fn a_frame_ends_in_its_window_with_all_bytes_on_the_wire() {
        // The window has 9.9 or 10 µs left; 1226 B take 9.808 µs, the 1250 B on the wire 10. The kernel wants more than that.
        for (lengths, fits) in [(Lengths::Kernel, false), (Lengths::Wire, true)] {
            for (now, frame) in [
                (40_100, None),
                (40_000, fits.then_some(0)),
                (39_999, Some(0)),
            ] {
                let mut classes = gated(lengths);
                classes.enqueue(of(3, 0, 1226), us(0), &mut Drops::new());
                assert_eq!(taken(&mut classes, Time::nanoseconds(now), ALL), frame);
            }
        }
    }

    #[test]
    fn no_frame_begins_in_the_guard_band() {
        let mut taprio = schedule(0, &[(0b001, 50), (0b110, 50)]);
        taprio.guard_band = takt_scenario::Duration(30_000_000);
        let fifos = vec![fifo(), fifo(), fifo()];
        let mut classes =
            Classes::new(fifos, map(), rate(), Lengths::Wire).with_gates(Gates::new(&taprio));
        let mut drops = Drops::new();
        for frame in 0..3 {
            classes.enqueue(of(3, frame, 1226), us(0), &mut drops);
        }
        assert_eq!(taken(&mut classes, us(10), ALL), Some(0));
        // The window has 30 µs left, which is enough, and then less.
        assert_eq!(taken(&mut classes, us(20), ALL), Some(1));
        assert_eq!(
            classes.dequeue(us(21), ALL, &mut drops),
            Release::At(us(50))
        );
        assert_eq!(taken(&mut classes, us(100), ALL), Some(2));
    }

    #[test]
    fn txtime_assist_and_etf() {
        let etf = |limit| ClassQueue::Etf(Etf::new(limit, us(5), EtfMode::Software));
        let mut classes = Classes::new(vec![etf(10), etf(10)], [0; 16], rate(), Lengths::Kernel)
            .with_gates(Gates::new(&schedule(0, &[(0b01, 50), (0b10, 50)])))
            .with_txtime_assist(us(20));
        let mut drops = Drops::new();
        for frame in 0..3 {
            // 1250 B on the wire.
            classes.enqueue(of(3, frame, 1226), us(10), &mut drops);
        }
        // Frames are sent at 30 and 40; at 50 there is no room.
        assert_eq!(
            classes.dequeue(us(10), ALL, &mut drops),
            Release::At(us(25))
        );
        assert_eq!(taken(&mut classes, us(25), ALL), Some(0));
        assert_eq!(taken(&mut classes, us(35), ALL), Some(1));
        assert_eq!(
            classes.dequeue(us(35), ALL, &mut drops),
            Release::At(us(95))
        );
        let own = |txtime| Packet {
            txtime: Some(us(txtime)),
            ..of(3, 3, 1226)
        };
        classes.enqueue(own(160), us(35), &mut drops);
        assert_eq!(drops.len(), 1);
        assert_eq!(drops[0].1, DropReason::NoWindow);
        classes.enqueue(own(120), us(35), &mut drops);
        assert_eq!(drops.len(), 1);
    }
}
