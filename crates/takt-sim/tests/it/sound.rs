//! No simulated delay exceeds its proven bound, and the adversary finds the worst case.
//!
//! `TAKT_SIMULATED_SCENARIOS=1500 cargo test --release -p takt-sim --test sound` for the long run of docs/simulation.md.

use takt_calculus::{Extended, LineNetwork, Rational, scenario_bounds};
use takt_scenario::{Analysis, BoundsModel, Frame, LowerPriority, REPEATED_NODE_COUNTS, Scenario};
use takt_sim::{
    Adversary, Choice, KeptPhases, Model, Random, RunOptions, Simulation, Time, search,
};

/// A line with a Credit-Based Shaper at each port, and interfering best effort.
struct Case {
    hops: u64,
    count: u32,
    /// Provisioning in per cent.
    provisioning: u64,
    cycle: u64,
    offset: u64,
    /// Forwarding delay in nanoseconds.
    forwarding: u64,
    best_effort: u64,
    /// Offset in nanoseconds and drift in ppb of the clocks of nodes.
    clocks: Vec<(i64, i64)>,
    /// SendSlope of the shapers in Mbit/s, if it is not the rest of the link's rate.
    send_slope: Option<u64>,
}

impl Case {
    fn scenario(&self) -> Scenario {
        let send_slope = self.send_slope.map_or_else(String::new, |slope| {
            format!(", send_slope = \"{slope} Mbit/s\"")
        });
        // Clocks that are not drawn are right.
        let clock = |node: u64| {
            let (offset, drift) = self
                .clocks
                .get(usize::try_from(node).unwrap())
                .copied()
                .unwrap_or((0, 0));
            format!("clock = {{ offset = \"{offset} ns\", drift = \"{drift} ppb\" }}\n")
        };
        let mut text = format!(
            r#"version = 1
            discipline = "cbs"
            [disciplines.cbs]
            scheduler = "mqprio"
            classes = [
                {{ name = "A", priorities = [3], queue = "cbs", provisioning = "{}%"{send_slope} }},
                {{ name = "best effort" }},
            ]
            [[applications]]
            name = "control"
            publisher = "n0"
            loopback = "n{}"
            cycle = "{} us"
            offset = "{} us"
            repeated_node_count = {}
            pcp = 3
            [[cross_traffic]]
            name = "best effort"
            from = "n0"
            to = "n{}"
            payload = "{} B"
            rate = "100 Mbit/s"
            pattern = "poisson"
            [[nodes]]
            name = "n0"
            {}
            "#,
            self.provisioning,
            self.hops,
            self.cycle,
            self.offset,
            self.count,
            self.hops,
            self.best_effort,
            clock(0),
        );
        for hop in 1..=self.hops {
            text += &format!("[[nodes]]\nname = \"n{hop}\"\n{}", clock(hop));
            if hop < self.hops {
                text += &format!(
                    "kind = \"bridge\"\nforwarding_delay = {{ least = \"0 ns\", most = \"{} ns\" }}\n",
                    self.forwarding
                );
            }
            text += &format!(
                "[[links]]\nends = [\"n{}\", \"n{hop}\"]\nrate = \"1 Gbit/s\"\n",
                hop - 1
            );
        }
        let mut scenario =
            Scenario::parse(&text, "case.toml").unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        scenario.bounds.lower_priority = LowerPriority::AtMost(Frame::LONGEST);
        scenario
    }

    /// Returns the proven bound, in picoseconds.
    fn bound(&self, scenario: &Scenario) -> f64 {
        let drifts = self.clocks.iter().any(|(_, drift)| *drift != 0);
        if drifts || self.send_slope.is_some() {
            let bounds = scenario_bounds(scenario, BoundsModel::Sound, &[Analysis::TotalFlow]);
            return picoseconds(&bounds.unwrap().flows[0].delay);
        }
        let fraction = |number: u64, of: u64| Rational::from_parts(number.into(), of.into());
        let frame = Frame::of_repeated_node_count(self.count).unwrap();
        let line = LineNetwork {
            provisioning: fraction(self.provisioning, 100),
            cycle: fraction(self.cycle, 1_000_000),
            offset: fraction(self.offset, 1_000_000),
            lower_priority: Some(Frame::LONGEST),
            forwarding_delay: fraction(self.forwarding, 1_000_000_000),
            ..LineNetwork::new(
                u32::try_from(self.hops).unwrap(),
                frame,
                takt_calculus::RoundTripModel::SOUND,
            )
        };
        picoseconds(&line.round_trip().unwrap().delay)
    }

    fn random(random: &mut Random) -> Self {
        let mut pick =
            |values: &[u64]| values[usize::try_from(random.below(values.len() as u64)).unwrap()];
        Self {
            hops: pick(&[1, 2, 3, 4]),
            count: u32::try_from(pick(&REPEATED_NODE_COUNTS.map(u64::from))).unwrap(),
            provisioning: pick(&[0, 1, 5, 50]),
            cycle: pick(&[125, 250, 1000]),
            offset: pick(&[0, 50, 150]),
            forwarding: pick(&[0, 700, 5000]),
            best_effort: pick(&[100, 600, 1500]),
            clocks: clocks(random),
            send_slope: match random.below(2) {
                0 => None,
                _ => Some(700 + random.below(1000)),
            },
        }
    }
}

/// Returns clocks that are right, that have offsets, or that drift as well by up to 1000 ppm: each by itself, or all alike.
fn clocks(random: &mut Random) -> Vec<(i64, i64)> {
    let (most, drift, alike) = match random.below(4) {
        0 => (0, 0, true),
        1 => (10_000_000, 0, true),
        2 => (10_000_000, 1_000_000, true),
        _ => (10_000_000, 1_000_000, false),
    };
    let mut within = |most: i64| {
        let value = random.below(2 * most.unsigned_abs() + 1);
        i64::try_from(value).unwrap() - most
    };
    let common = within(drift);
    let mut clock = || {
        let own = within(drift);
        (within(most), if alike { common } else { own })
    };
    (0..5).map(|_| clock()).collect()
}

fn picoseconds(delay: &Extended) -> f64 {
    match delay {
        Extended::Finite(delay) => (delay * Rational::from(1_000_000_000_000u64))
            .to_f64()
            .value(),
        Extended::Infinity => f64::INFINITY,
        Extended::NegativeInfinity => panic!("no delay is that short"),
    }
}

fn options(scenario: &Scenario, random: &mut Random) -> RunOptions {
    let mut options = RunOptions::new(scenario);
    options.simulation.cycles = 30;
    options.simulation.seed = random.bits();
    options.model = Model::Ieee;
    let cycle = scenario.applications[0].cycle.into();
    let choice = |random: &mut Random| match random.below(3) {
        0 => Choice::First(random.below(31)),
        1 => Choice::Later(random.below(31)),
        _ => Choice::Random(random.bits()),
    };
    options.adversary = Some(Adversary {
        publishers: vec![random.between(Time::ZERO, cycle)],
        loopbacks: vec![random.between(Time::ZERO, cycle)],
        gates: Vec::new(),
        cross_traffic: Vec::new(),
        interference: scenario.ports.iter().map(|_| choice(random)).collect(),
        forwarding: scenario.ports.iter().map(|_| choice(random)).collect(),
        late_publishers: vec![choice(random)],
        late_loopbacks: vec![choice(random)],
    });
    options
}

/// Greatest rounding error in picoseconds: times are rounded up at each port.
fn rounding(hops: u64) -> f64 {
    4.0 * hops as f64
}

#[test]
fn no_round_trip_is_longer_than_its_bound() {
    let cases = std::env::var("TAKT_SIMULATED_SCENARIOS");
    let cases: u64 = cases.map_or(250, |cases| cases.parse().unwrap());
    let mut random = Random::new(2026, 0);
    let mut nearest = 0f64;
    for _ in 0..cases {
        let case = Case::random(&mut random);
        let scenario = case.scenario();
        let options = options(&scenario, &mut random);
        let results = Simulation::new(&scenario, options).run(&mut ());
        let delay = results.applications[0].round_trip.delay.extremes;
        assert_eq!(delay.count, 30, "all come back");
        let (delay, bound) = (
            delay.most().unwrap().as_picoseconds() as f64,
            case.bound(&scenario),
        );
        assert!(
            delay <= bound + rounding(case.hops),
            "{delay} ps, bound {bound} ps\n{scenario:?}"
        );
        nearest = nearest.max(delay / bound);
    }
    // A bound counts a frame at the rate of its shaper, which is one cycle too much for each port at which a message need not
    // wait.
    assert!(nearest > 0.5, "{nearest}");
}

#[test]
fn the_adversary_finds_the_worst_case() {
    let case = Case {
        hops: 1,
        count: 32,
        provisioning: 0,
        cycle: 250,
        offset: 150,
        forwarding: 0,
        best_effort: 1500,
        clocks: Vec::new(),
        send_slope: None,
    };
    let scenario = case.scenario();
    let mut options = RunOptions::new(&scenario);
    options.simulation.cycles = 30;
    options.model = Model::Ieee;
    let worst = search(&scenario, &options, &KeptPhases::default(), 600, |_| true);
    let found = worst.round_trips[0].as_ref().unwrap();
    let (delay, bound) = (found.delay.as_picoseconds() as f64, case.bound(&scenario));
    assert!(
        delay <= bound + rounding(case.hops),
        "{delay} ps, bound {bound} ps"
    );
    // The worst case is 1.7 cycles and the offset, and at both ports 371 B behind 1542 B. No message that is alone in its queue
    // is later.
    let worst = 575_000_000.0 + 2.0 * 8000.0 * (371.0 + 1542.0);
    assert!(
        (worst - 500_000.0..=worst).contains(&delay),
        "{delay} ps of {worst} ps"
    );
    // The worst case can be reproduced.
    options.adversary = Some(found.adversary.clone());
    let again = Simulation::new(&scenario, options).run(&mut ());
    assert_eq!(
        again.applications[0].round_trip.delay.extremes.most(),
        Some(found.delay)
    );
}
