//! Publishers, loopbacks and cross traffic, with the times at which each sends.
//!
//! The applications are those of open62541's example ("Real-Time Performance of OPC UA", II-A, Fig. 3): in each cycle c the user
//! thread takes received messages at 0.3c, the publisher thread runs at 0.6c, and its message is sent when the cycle is over,
//! plus the offset o.

use takt_scenario::{Application, CrossTraffic, Pattern};

use crate::latency::Latency;
use crate::{NodeClock, Random, Time, WakeUpLatencies};

/// The cyclic threads of an application on one node.
#[derive(Debug)]
pub(crate) struct Cycles {
    cycle: Time,
    user: Time,
    publisher: Time,
    /// Time from a cycle's begin until the messages published in it are sent.
    sending: Time,
    /// Time before that at which frames are given to the kernel, with their txtime.
    txtime: Option<Time>,
    /// Time for which a message is protected before it is handed on.
    protect: Time,
    /// Shift of the cycles by an adversary.
    shift: Time,
    clock: NodeClock,
    user_thread: WakeUpLatencies,
    publisher_thread: WakeUpLatencies,
    /// Latencies of both threads that an adversary chooses, one after the other.
    chosen: Option<Latency>,
    /// Number of the next cycle.
    next: i64,
    last: Time,
}

/// Handing over of a frame to the kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Departure {
    /// Time of the handing over.
    pub(crate) at: Time,
    /// Time at which it shall be sent, by the node's clock.
    pub(crate) txtime: Option<Time>,
}

impl Cycles {
    pub(crate) fn new(
        application: &Application,
        clock: NodeClock,
        [user_thread, publisher_thread]: [WakeUpLatencies; 2],
        shift: Time,
    ) -> Self {
        // Times are divided by the cycle.
        let cycle = Time::from(application.cycle).max(Time::picoseconds(1));
        // Cycles begin at 0 of the node's clock; the first one is the first that is not in the past.
        let begin = clock.local(Time::ZERO) - shift;
        // The two negations round the quotient up.
        let next = -(-begin.as_picoseconds()).div_euclid(cycle.as_picoseconds());
        Self {
            cycle,
            user: application.cycle.part(application.phases.user).into(),
            publisher: application.cycle.part(application.phases.publisher).into(),
            sending: application.sending_time().into(),
            txtime: application.txtime.map(Time::from),
            protect: application.security.protect.into(),
            shift,
            clock,
            user_thread,
            publisher_thread,
            chosen: None,
            next,
            last: Time::ZERO,
        }
    }

    /// Replaces the latencies of both threads.
    pub(crate) fn with_chosen(mut self, chosen: Option<Latency>) -> Self {
        self.chosen = chosen;
        self
    }

    /// Advances to the next cycle, and returns the time at which its message is given to the kernel.
    pub(crate) fn publish(&mut self) -> Departure {
        let departure = self.departure(self.next);
        self.next += 1;
        departure
    }

    /// Advances to the next cycle, and returns the time at which its user thread runs.
    pub(crate) fn user_thread(&mut self) -> Time {
        let cycle = self.next;
        let local = self.cycle.times(cycle) + self.user + self.shift;
        self.next += 1;
        self.clock.global(local) + latency(&mut self.chosen, &mut self.user_thread, cycle)
    }

    /// Returns the time at which messages that the user thread takes now are given to the kernel. If the publisher thread has
    /// already run, it is a cycle later.
    pub(crate) fn answer(&mut self, now: Time) -> Departure {
        // `user_thread` counted on when it planned the run that takes these messages.
        let mut cycle = self.next - 1;
        while self
            .clock
            .global(self.cycle.times(cycle) + self.publisher + self.shift)
            < now
        {
            cycle += 1;
        }
        self.departure(cycle)
    }

    fn departure(&mut self, cycle: i64) -> Departure {
        let sending = self.cycle.times(cycle) + self.sending + self.shift;
        let thread = sending - self.txtime.unwrap_or_default();
        let at = self.clock.global(thread)
            + latency(&mut self.chosen, &mut self.publisher_thread, cycle)
            + self.protect;
        // A thread does one thing after the other.
        self.last = self.last.max(at);
        Departure {
            at: self.last,
            txtime: self.txtime.map(|_| sending),
        }
    }

    /// Converts a time of the node's clock to the true time.
    pub(crate) fn global(&self, local: Time) -> Time {
        self.clock.global(local)
    }
}

fn latency(chosen: &mut Option<Latency>, thread: &mut WakeUpLatencies, cycle: i64) -> Time {
    match chosen {
        // A chosen latency has its random numbers in its choice, and does not use these.
        Some(chosen) => chosen.draw(&mut Random::new(0, 0)),
        None => thread.in_cycle(cycle),
    }
}

/// Source of cross traffic.
#[derive(Debug)]
pub(crate) struct Generator {
    interval: Time,
    pattern: Pattern,
    clock: NodeClock,
    random: Random,
    /// Time of the next frames, by the node's clock.
    next: Time,
}

impl Generator {
    /// Makes a source whose first frame comes at `phase`, or within an interval if that is `None`.
    pub(crate) fn new(
        traffic: &CrossTraffic,
        clock: NodeClock,
        mut random: Random,
        phase: Option<Time>,
    ) -> Self {
        let interval = Time::from(traffic.interval).max(Time::picoseconds(1));
        // The phase is drawn even if one is given, so that the random numbers after it stay the same.
        let anywhere = random.between(Time::ZERO, interval);
        Self {
            interval,
            pattern: traffic.pattern,
            clock,
            random,
            next: clock.local(Time::ZERO) + phase.unwrap_or(anywhere),
        }
    }

    /// Returns the time and the number of the next frames.
    pub(crate) fn next(&mut self) -> (Time, u32) {
        let at = self.next;
        let (until_next, frames) = match self.pattern {
            Pattern::Constant => (self.interval, 1),
            Pattern::Poisson => (self.random.exponential(self.interval), 1),
            // The mean rate stays one frame in each interval.
            Pattern::Burst(frames) => (self.interval.times(frames.into()), frames),
        };
        self.next += until_next;
        (self.clock.global(at), frames)
    }
}
