//! The subscriber thread of a Publisher with a loopback: trace point T8 of a message.

use takt_scenario::Application;

use crate::{NodeClock, Time, WakeUpLatencies};

/// The cyclic thread that receives the messages that come back.
///
/// In each cycle it begins at the phase `subscriber`, late by the latency of its node, and receives until the phase `user`. A message
/// that comes while it receives is taken at once, any other one when it begins next.
#[derive(Debug)]
pub(crate) struct SubscriberThread {
    cycle: Time,
    begin: Time,
    end: Time,
    clock: NodeClock,
    latencies: WakeUpLatencies,
    /// Number of the run that took the last message.
    run: i64,
    /// Time at which that run began.
    began: Time,
}

impl SubscriberThread {
    pub(crate) fn new(
        application: &Application,
        clock: NodeClock,
        latencies: WakeUpLatencies,
        shift: Time,
    ) -> Self {
        let phase = |phase| Time::from(application.cycle.part(phase)) + shift;
        Self {
            // Times are divided by the cycle.
            cycle: Time::from(application.cycle).max(Time::picoseconds(1)),
            begin: phase(application.phases.subscriber),
            end: phase(application.phases.user),
            clock,
            latencies,
            run: i64::MIN,
            began: Time::ZERO,
        }
    }

    /// Returns the time at which the thread takes a message. Messages come in the order of their arrival.
    pub(crate) fn take(&mut self, arrived: Time) -> Time {
        let since_end = (self.clock.local(arrived) - self.end).as_picoseconds();
        // The message belongs to the first run that ends after its arrival.
        let run = since_end.div_euclid(self.cycle.as_picoseconds()) + 1;
        // A run wakes up once: all messages that it takes share its latency.
        if run > self.run {
            self.run = run;
            let planned = self.clock.global(self.cycle.times(run) + self.begin);
            self.began = planned + self.latencies.in_cycle(run);
        }
        self.began.max(arrived)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use takt_scenario::{NodeIndex, Scenario};

    use super::*;
    use crate::{ApplicationEnd, CyclicThread};

    /// Returns the times, in microseconds, at which a thread with a cycle of 250 µs takes messages. It receives from 0 to 75 µs.
    fn taken(late: u64, arrivals: [i64; 5]) -> [i64; 5] {
        let text = format!(
            r#"
            version = 1
            topology = {{ kind = "p2p" }}
            [[nodes]]
            name = "host1"
            wake_up_latency = "{late} us"
            [[nodes]]
            name = "host2"
            [[applications]]
            name = "control"
            publisher = "host1"
            loopback = "host2"
            cycle = "250 us"
            payload = "59 B"
            "#
        );
        let scenario = Scenario::parse(&text, "late.toml").unwrap();
        let application = &scenario.applications[0];
        let thread = (ApplicationEnd::Publisher, CyclicThread::Subscriber);
        let latencies = WakeUpLatencies::of(&scenario, NodeIndex(0), 0, thread, 1);
        let clock = NodeClock::default();
        let mut thread = SubscriberThread::new(application, clock, latencies, Time::ZERO);
        arrivals.map(|at| thread.take(Time::microseconds(at)).as_nanoseconds() / 1000)
    }

    #[test]
    fn a_message_is_taken_while_the_thread_receives_or_when_it_begins() {
        assert_eq!(taken(0, [0, 74, 75, 249, 300]), [0, 74, 250, 250, 300]);
    }

    #[test]
    fn a_late_thread_takes_messages_later() {
        assert_eq!(taken(80, [0, 74, 75, 249, 335]), [80, 80, 330, 330, 580]);
    }
}
