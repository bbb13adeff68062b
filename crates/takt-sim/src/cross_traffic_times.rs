//! Times of cross traffic, for runs that shall have the same ones as a simulation.

use takt_scenario::Scenario;

use crate::Time;
use crate::application::Generator;
use crate::build::generator;
use crate::options::RunOptions;

/// Times of the frames of a flow of cross traffic, after the beginning of the simulation: those of [`Simulation`](crate::Simulation)
/// with the same seed. It never ends.
#[derive(Debug)]
pub struct CrossTrafficTimes(Generator);

impl CrossTrafficTimes {
    /// Returns the times of the flow with this index in [`Scenario::cross_traffic`]. `None` if there is no such flow.
    #[must_use]
    pub fn of(scenario: &Scenario, index: usize, seed: u64) -> Option<Self> {
        let traffic = scenario.cross_traffic.get(index)?;
        let mut options = RunOptions::new(scenario);
        options.simulation.seed = seed;
        Some(Self(generator(scenario, &options, index, traffic)))
    }

    /// Returns the time of the next frames, and their number.
    pub fn next_frames(&mut self) -> (Time, u32) {
        self.0.next()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use takt_scenario::PortIndex;

    use super::*;
    use crate::{Message, Observer, Passage, Simulation};

    const SCENARIO: &str = r#"
        version = 1
        topology = { kind = "p2p" }
        [[applications]]
        name = "control"
        publisher = "host1"
        loopback = "host2"
        cycle = "1 ms"
        payload = "100 B"
        [[cross_traffic]]
        name = "load"
        from = "host1"
        to = "host2"
        payload = "100 B"
        interval = "100 us"
        pattern = "poisson"
        [simulation]
        cycles = 50
        "#;

    /// Observer of the times at which frames of cross traffic come to the first port.
    struct Arrivals(Vec<Time>);

    impl Observer for Arrivals {
        fn message(&mut self, _: &Message) {}

        fn passage(&mut self, passage: &Passage) {
            let is_cross = matches!(passage.source, takt_scenario::FlowSource::Cross(_));
            if is_cross && passage.port == PortIndex(0) {
                self.0.push(passage.queued);
            }
        }
    }

    #[test]
    fn times_are_those_of_the_simulation() {
        let scenario = Scenario::parse(SCENARIO, "load.toml").unwrap();
        for seed in [1, 8] {
            let mut options = RunOptions::new(&scenario);
            options.simulation.seed = seed;
            let mut arrivals = Arrivals(Vec::new());
            Simulation::new(&scenario, options).run(&mut arrivals);
            let mut times = CrossTrafficTimes::of(&scenario, 0, seed).unwrap();
            let expected = arrivals.0.iter().map(|_| times.next_frames().0);
            let expected: Vec<Time> = expected.collect();
            assert!(arrivals.0.len() > 300, "{}", arrivals.0.len());
            assert_eq!(arrivals.0, expected);
        }
        assert!(CrossTrafficTimes::of(&scenario, 1, 1).is_none());
    }
}
