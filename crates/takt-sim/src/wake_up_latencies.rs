//! Wake-up latencies of threads: a function of seed, thread and cycle, so that a run in virtual time can have those of a simulation.

use takt_scenario::{Distribution, NodeIndex, Scenario};

use crate::latency::Latency;
use crate::{Random, Time};

/// End of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplicationEnd {
    /// Publisher, to which the messages return.
    Publisher,
    /// Loopback.
    Loopback,
}

/// Thread of an end, or part of the cycle of an end that runs in one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CyclicThread {
    /// Thread that receives, from the phase `subscriber` on.
    Subscriber,
    /// Thread that takes received messages, at the phase `user`.
    User,
    /// Thread that hands messages to the kernel. Its cycle is the one in which the message is made, even if it is handed over in
    /// the next one.
    Publisher,
}

/// Wake-up latencies of one thread.
#[derive(Debug, Clone)]
pub struct WakeUpLatencies {
    latency: Latency,
    /// Seed of the thread: the latency of a cycle is drawn from the stream of this seed with the number of the cycle.
    seed: u64,
}

impl WakeUpLatencies {
    /// Returns the latencies of a thread on a node. `application` is its index in [`Scenario::applications`].
    #[must_use]
    pub fn of(
        scenario: &Scenario,
        node: NodeIndex,
        application: usize,
        (end, thread): (ApplicationEnd, CyclicThread),
        seed: u64,
    ) -> Self {
        let latency = Latency::new(distribution(scenario, node));
        // No other stream of a simulation has one of these numbers.
        let stream = 1 << 62 | (application as u64) << 3 | (end as u64) << 2 | thread as u64;
        Self {
            latency,
            seed: Random::new(seed, stream).bits(),
        }
    }

    /// Returns the latency in a cycle. Cycle 0 begins with the run.
    pub fn in_cycle(&mut self, cycle: i64) -> Time {
        let mut random = Random::new(self.seed, cycle.cast_unsigned());
        self.latency.draw(&mut random)
    }
}

/// Returns the distribution of a node's latencies.
pub(crate) fn distribution(scenario: &Scenario, node: NodeIndex) -> &Distribution {
    const NONE: &Distribution = &Distribution::Constant(takt_scenario::Duration::ZERO);
    let node = scenario.nodes.get(node.0);
    node.map_or(NONE, |node| &node.wake_up_latency)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        version = 1
        topology = { kind = "p2p" }
        [[nodes]]
        name = "host1"
        wake_up_latency = { least = "1 us", most = "101 us" }
        [[nodes]]
        name = "host2"
        [[applications]]
        name = "control"
        publisher = "host1"
        loopback = "host2"
        cycle = "250 us"
        payload = "100 B"
        "#;

    #[test]
    fn latencies_depend_on_seed_thread_and_cycle_only() {
        let scenario = Scenario::parse(SCENARIO, "latencies.toml").unwrap();
        let of = |thread, application, seed| {
            let node = NodeIndex(0);
            WakeUpLatencies::of(&scenario, node, application, thread, seed)
        };
        let thread = (ApplicationEnd::Publisher, CyclicThread::User);
        let draw = |mut latencies: WakeUpLatencies, cycles: &[i64]| -> Vec<i64> {
            let draw = |cycle: &i64| latencies.in_cycle(*cycle).as_picoseconds();
            cycles.iter().map(draw).collect()
        };
        let forwards = draw(of(thread, 0, 1), &[-1, 0, 1, 2]);
        let mut backwards = draw(of(thread, 0, 1), &[2, 1, 0, -1]);
        backwards.reverse();
        assert_eq!(forwards, backwards);
        let others = [
            of(thread, 0, 2),
            of(thread, 1, 1),
            of((ApplicationEnd::Loopback, CyclicThread::User), 0, 1),
            of((ApplicationEnd::Publisher, CyclicThread::Publisher), 0, 1),
        ];
        for other in others {
            assert_ne!(draw(other, &[-1, 0, 1, 2]), forwards);
        }
        let all: Vec<i64> = draw(of(thread, 0, 1), &(0..10_000).collect::<Vec<_>>());
        assert!(all.iter().all(|it| (1_000_000..=101_000_000).contains(it)));
        // The tolerance is five standard deviations of the mean.
        let mean = all.iter().sum::<i64>() / 10_000;
        assert!((mean - 51_000_000).abs() < 1_500_000, "{mean}");
    }
}
