//! A port: its queueing discipline, the frames in its driver, and the link.

use std::collections::VecDeque;

use crate::choice::Chooser;
use crate::discipline::{Drops, Packet, QueueingDiscipline, Release};
use crate::driver::Driver;
use crate::{LineRate, NodeClock, Time};

/// Interfering frames of lower priority from an adversary.
#[derive(Debug)]
pub(crate) struct Interference {
    /// Duration of the longest frame. It is below all classes.
    pub(crate) longest: Time,
    pub(crate) chooser: Chooser,
}

/// Qdisc that hands frames of some classes to the driver.
#[derive(Debug)]
struct Qdisc {
    /// Classes of the qdisc; bit 0 is the highest class.
    classes: u16,
    /// Time of its watchdog.
    watchdog: Time,
    /// True if it runs when the port acts next.
    is_due: bool,
    /// Frames that it has released and that the driver has not taken yet: nothing else leaves it before (`gso_skb` of the kernel).
    released: VecDeque<(Packet, u16)>,
    /// Frame of another class that it released with them: the next one (`skb_bad_txq` of the kernel).
    of_other_class: Option<(Packet, u16)>,
}

/// Number of frames of one class that a qdisc of several classes releases together, besides the first one
/// (`try_bulk_dequeue_skb_slow`).
const TOGETHER: usize = 8;

#[derive(Debug)]
pub(crate) struct Port {
    discipline: QueueingDiscipline,
    rate: LineRate,
    pub(crate) propagation: Time,
    clock: NodeClock,
    /// Frames that were handed to the driver; `None` if frames are chosen when the link is free.
    driver: Option<Driver>,
    /// Qdiscs that hand frames to the driver: one for each class, or one for all.
    qdiscs: Vec<Qdisc>,
    waiting: usize,
    busy_until: Time,
    planned: Time,
    pub(crate) interference: Option<Interference>,
    /// Time at which the last frame from here was in the next bridge's queue: frames keep their order.
    pub(crate) forwarded: Time,
}

/// Next action of a port.
#[derive(Debug, Default)]
pub(crate) struct Action {
    /// Frame that the port begins to send, and the time at which it is sent.
    pub(crate) sent: Option<(u32, Time)>,
    /// Time at which the port must act again.
    pub(crate) ask: Option<Time>,
}

impl Port {
    /// Makes a port whose classes hand frames to a driver before the link is free, if there is one.
    pub(crate) fn new(
        discipline: QueueingDiscipline,
        rate: LineRate,
        propagation: Time,
        clock: NodeClock,
        driver: Option<Driver>,
    ) -> Self {
        let classes = match &driver {
            Some(_) => discipline.classes(),
            None => 0,
        };
        let all = (0..classes).fold(0u16, |all, class| all | 1 << class);
        let groups: Vec<u16> = match discipline.has_classes_apart() {
            true => (0..classes).map(|class| 1 << class).collect(),
            false => vec![all],
        };
        let qdiscs = groups.into_iter().map(|classes| Qdisc {
            classes,
            watchdog: Time::MAX,
            is_due: false,
            released: VecDeque::new(),
            of_other_class: None,
        });
        Self {
            qdiscs: qdiscs.collect(),
            discipline,
            rate,
            propagation,
            clock,
            driver,
            waiting: 0,
            busy_until: Time::ZERO,
            planned: Time::MAX,
            interference: None,
            forwarded: Time::ZERO,
        }
    }

    /// Adds a frame.
    pub(crate) fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        // No frame waited when the link became free, so no event was planned then. The discipline learns of it now.
        if self.driver.is_none() && self.waiting == 0 && self.busy_until <= now {
            self.discipline
                .found_empty(self.clock.local(self.busy_until));
        }
        let dropped = drops.len();
        self.waiting += 1;
        let class = self.discipline.class_of(packet.priority);
        for qdisc in &mut self.qdiscs {
            qdisc.is_due |= qdisc.classes >> class & 1 == 1;
        }
        if self.driver.is_some()
            && self.discipline.is_bypassed_when_empty()
            && let [qdisc] = self.qdiscs.as_mut_slice()
            && qdisc.released.is_empty()
        {
            qdisc.released.push_back((packet, class.into()));
            return;
        }
        self.discipline
            .enqueue(packet, self.clock.local(now), drops);
        // Each dropped packet was counted when it came, this one included.
        self.waiting -= drops.len() - dropped;
    }

    /// Returns true if the port requested to act now.
    pub(crate) fn is_asked(&mut self, now: Time) -> bool {
        // An earlier request has been replaced. Its event stays in the calendar, and does nothing.
        if self.planned != now {
            return false;
        }
        self.planned = Time::MAX;
        for qdisc in &mut self.qdiscs {
            qdisc.is_due |= qdisc.watchdog <= now;
        }
        true
    }

    /// Acts, and returns the action.
    pub(crate) fn act(&mut self, now: Time, drops: &mut Drops) -> Action {
        let dropped = drops.len();
        let (packet, wake) = match self.driver.take() {
            None => self.choose(now, drops),
            Some(mut driver) => {
                let taken = self.take_from_driver(&mut driver, now, drops);
                self.driver = Some(driver);
                taken
            }
        };
        self.waiting -= drops.len() - dropped;
        let mut action = Action::default();
        if let Some(packet) = packet {
            self.waiting -= 1;
            self.busy_until = now + self.rate.duration(packet.wire);
            action.sent = Some((packet.frame, self.busy_until));
        }
        // Without a waiting frame no event is needed: the next frame that comes lets the port act.
        let when_free = if self.waiting > 0 && self.busy_until > now {
            self.busy_until
        } else {
            Time::MAX
        };
        // A request replaces the one before: that was for a frame that is no longer the next.
        let ask = wake.min(when_free);
        if ask != self.planned {
            self.planned = ask;
            action.ask = (ask < Time::MAX).then_some(ask);
        }
        action
    }

    /// Selects the frame to transmit at the moment at which the link becomes free.
    fn choose(&mut self, now: Time, drops: &mut Drops) -> (Option<Packet>, Time) {
        if now < self.busy_until || self.waiting == 0 {
            return (None, Time::MAX);
        }
        let local = self.clock.local(now);
        if let Some(interference) = &mut self.interference
            && now > self.busy_until
            && self.discipline.is_ready(local, drops)
        {
            // The link became free a moment ago, and interference took that moment.
            let blocked = interference.chooser.part(interference.longest);
            if blocked > Time::ZERO {
                // `act` asks again for that time, since a frame waits.
                self.busy_until = now + blocked;
                return (None, Time::MAX);
            }
        }
        match self.discipline.dequeue(local, u16::MAX, drops) {
            Release::Packet(packet, _) => (Some(packet), Time::MAX),
            Release::At(time) => (None, self.clock.global(time)),
            Release::Nothing => (None, Time::MAX),
        }
    }

    /// Lets qdiscs that are due hand frames to the driver while that has room. The hardware sends the highest class that may send first.
    fn take_from_driver(
        &mut self,
        driver: &mut Driver,
        now: Time,
        drops: &mut Drops,
    ) -> (Option<Packet>, Time) {
        self.run_qdiscs(driver, now, drops);
        let (mut sent, mut wake) = (None, Time::MAX);
        if now >= self.busy_until {
            match driver.ready(self.clock.local(now)) {
                Ok(class) => {
                    sent = driver.take(class);
                    // The ring has room again, and the driver wakes its qdisc.
                    for qdisc in &mut self.qdiscs {
                        qdisc.is_due |= qdisc.classes >> class & 1 == 1;
                    }
                    self.run_qdiscs(driver, now, drops);
                }
                Err(Time::MAX) => {}
                Err(time) => wake = self.clock.global(time),
            }
        }
        let watchdogs = self.qdiscs.iter().map(|qdisc| qdisc.watchdog);
        (sent, watchdogs.fold(wake, Time::min))
    }

    fn run_qdiscs(&mut self, driver: &mut Driver, now: Time, drops: &mut Drops) {
        for index in 0..self.qdiscs.len() {
            if std::mem::take(&mut self.qdiscs[index].is_due) {
                self.qdiscs[index].watchdog = self.fill_rings(driver, index, now, drops);
            }
        }
    }

    /// Hands frames of a qdisc to the driver. Returns the time at which to continue, if nothing happens before.
    fn fill_rings(
        &mut self,
        driver: &mut Driver,
        index: usize,
        now: Time,
        drops: &mut Drops,
    ) -> Time {
        let local = self.clock.local(now);
        let qdisc = &mut self.qdiscs[index];
        let is_alone = qdisc.classes.is_power_of_two();
        loop {
            while let Some((packet, class)) = qdisc.released.pop_front() {
                if driver.is_full(class.into()) {
                    // No timer is needed: the qdisc runs again when the hardware has taken a frame from this ring.
                    qdisc.released.push_front((packet, class));
                    return Time::MAX;
                }
                driver.push(class.into(), packet, local, drops);
            }
            // The qdisc of one class looks whether the driver has room. That of several classes does not: the kernel learns of it when
            // it hands the frame over.
            let watched = match qdisc.of_other_class {
                Some((_, class)) => Some(usize::from(class)),
                None => is_alone.then(|| qdisc.classes.trailing_zeros() as usize),
            };
            if watched.is_some_and(|class| driver.is_full(class)) {
                return Time::MAX;
            }
            let first = match qdisc.of_other_class.take() {
                Some(first) => first,
                None => match self.discipline.dequeue(local, qdisc.classes, drops) {
                    Release::Packet(packet, class) => (packet, class.into()),
                    Release::At(time) => return self.clock.global(time),
                    Release::Nothing => return Time::MAX,
                },
            };
            let class = first.1;
            qdisc.released.push_back(first);
            for _ in 0..if is_alone { 0 } else { TOGETHER } {
                let Release::Packet(packet, other) =
                    self.discipline.dequeue(local, qdisc.classes, drops)
                else {
                    break;
                };
                let other = u16::from(other);
                if other != class {
                    qdisc.of_other_class = Some((packet, other));
                    break;
                }
                qdisc.released.push_back((packet, other));
            }
        }
    }
}
