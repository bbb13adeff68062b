//! A port: its queueing discipline, what its driver was given, and the link.

use std::collections::VecDeque;

use crate::choice::Chooser;
use crate::discipline::{Discipline, Drops, Packet, Release};
use crate::{NodeClock, LineRate, Time};

/// Frames of lower priority that an adversary puts in the way.
#[derive(Debug)]
pub(crate) struct Interference {
    /// How long the longest takes. It is below all classes.
    pub(crate) longest: Time,
    pub(crate) chooser: Chooser,
}

#[derive(Debug)]
pub(crate) struct Port {
    discipline: Discipline,
    rate: LineRate,
    pub(crate) propagation: Time,
    clock: NodeClock,
    /// What each class has handed to the driver; none if frames are chosen when the link is free.
    rings: Vec<VecDeque<Packet>>,
    ring_size: usize,
    waiting: usize,
    busy_until: Time,
    planned: Time,
    pub(crate) interference: Option<Interference>,
    /// When the last frame from here was in the next bridge's queue: frames keep their order.
    pub(crate) forwarded: Time,
}

/// What a port does next.
#[derive(Debug, Default)]
pub(crate) struct Action {
    /// It begins to send this frame, and has sent it then.
    pub(crate) sent: Option<(u32, Time)>,
    /// It wants to be asked again then.
    pub(crate) ask: Option<Time>,
}

impl Port {
    /// A port whose classes hand so many frames each to the driver before the link is free; 0: none.
    pub(crate) fn new(
        discipline: Discipline,
        rate: LineRate,
        propagation: Time,
        clock: NodeClock,
        ring_size: usize,
    ) -> Self {
        let classes = if ring_size == 0 {
            0
        } else {
            discipline.classes()
        };
        Self {
            discipline,
            rate,
            propagation,
            clock,
            rings: (0..classes)
                .map(|_| VecDeque::with_capacity(ring_size))
                .collect(),
            ring_size,
            waiting: 0,
            busy_until: Time::ZERO,
            planned: Time::MAX,
            interference: None,
            forwarded: Time::ZERO,
        }
    }

    /// A frame comes.
    pub(crate) fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        let dropped = drops.len();
        self.waiting += 1;
        self.discipline
            .enqueue(packet, self.clock.local(now), drops);
        self.waiting -= drops.len() - dropped;
    }

    /// Whether it asked to be asked now.
    pub(crate) fn is_asked(&mut self, now: Time) -> bool {
        let asked = self.planned == now;
        if asked {
            self.planned = Time::MAX;
        }
        asked
    }

    /// What it does now.
    pub(crate) fn act(&mut self, now: Time, drops: &mut Drops) -> Action {
        let dropped = drops.len();
        let (packet, wake) = if self.ring_size == 0 {
            self.choose(now, drops)
        } else {
            self.take_from_rings(now, drops)
        };
        self.waiting -= drops.len() - dropped;
        let mut action = Action::default();
        if let Some(packet) = packet {
            self.waiting -= 1;
            self.busy_until = now + self.rate.duration(packet.wire);
            action.sent = Some((packet.frame, self.busy_until));
        }
        let when_free = if self.waiting > 0 && self.busy_until > now {
            self.busy_until
        } else {
            Time::MAX
        };
        let ask = wake.min(when_free);
        if ask < self.planned {
            self.planned = ask;
            action.ask = Some(ask);
        }
        action
    }

    /// Transmission selection at the moment at which the link is free.
    fn choose(&mut self, now: Time, drops: &mut Drops) -> (Option<Packet>, Time) {
        if now < self.busy_until || self.waiting == 0 {
            return (None, Time::MAX);
        }
        let local = self.clock.local(now);
        if let Some(interference) = &mut self.interference
            && now > self.busy_until
            && let Release::Packet(..) = self.discipline.select(local, drops)
        {
            // The link was free a moment ago, and something else had that moment.
            let blocked = interference.chooser.part(interference.longest);
            if blocked > Time::ZERO {
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

    /// The discipline hands frames to the driver while that has room; the hardware sends the highest class first.
    fn take_from_rings(&mut self, now: Time, drops: &mut Drops) -> (Option<Packet>, Time) {
        let mut wake = self.fill_rings(now, drops);
        let mut sent = None;
        if now >= self.busy_until
            && let Some(ring) = self.rings.iter_mut().find(|ring| !ring.is_empty())
        {
            sent = ring.pop_front();
            wake = self.fill_rings(now, drops);
        }
        (sent, wake)
    }

    fn fill_rings(&mut self, now: Time, drops: &mut Drops) -> Time {
        let local = self.clock.local(now);
        loop {
            let mut room = 0u16;
            for (class, ring) in self.rings.iter().enumerate() {
                room |= u16::from(ring.len() < self.ring_size) << class;
            }
            if room == 0 {
                return Time::MAX;
            }
            match self.discipline.dequeue(local, room, drops) {
                Release::Packet(packet, class) => match self.rings.get_mut(usize::from(class)) {
                    Some(ring) => ring.push_back(packet),
                    None => return Time::MAX,
                },
                Release::At(time) => return self.clock.global(time),
                Release::Nothing => return Time::MAX,
            }
        }
    }
}
