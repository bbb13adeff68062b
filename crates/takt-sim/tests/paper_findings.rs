//! Findings of "Real-Time Performance of OPC UA" that do not depend on hardware, in the shipped scenarios of its setups D and E3.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;

use takt_scenario::{FlowSource, ScenarioFile};
use takt_sim::{
    Loopback, Message, MessageOutcome, Model, Observer, Passage, RunOptions, Simulation, Time,
};

const CYCLE: Time = Time::microseconds(250);
/// Time of a frame on the wire.
const FRAME: Time = Time::nanoseconds(808);

/// Round trips on the wire as in the paper: from the first bit that leaves the Publisher to the last bit that is back.
#[derive(Debug, Default)]
struct RoundTrips {
    left: BTreeMap<u64, Time>,
    all: Vec<Time>,
}

impl Observer for RoundTrips {
    fn passage(&mut self, passage: &Passage) {
        if let FlowSource::Publish(_) = passage.source {
            self.left.insert(passage.counter, passage.arrived - FRAME);
        }
    }

    fn message(&mut self, message: &Message) {
        let is_back = matches!(message.source, FlowSource::Return(_));
        if is_back && message.outcome == MessageOutcome::Arrived {
            self.all.push(message.ended - self.left[&message.counter]);
        }
    }
}

impl RoundTrips {
    fn median(&self) -> Time {
        let mut sorted = self.all.clone();
        sorted.sort();
        sorted[sorted.len() / 2]
    }

    /// Returns the mean difference between one round trip and the next, in microseconds.
    fn jitter(&self) -> f64 {
        let differences = self.all.windows(2);
        let differences = differences.map(|pair| (pair[1] - pair[0]).as_picoseconds().abs());
        differences.sum::<i64>() as f64 / 1e6 / (self.all.len() - 1) as f64
    }
}

/// Simulates a shipped scenario with 4000 cycles, and returns the round trips by each discipline.
fn simulate(
    name: &str,
    model: Model,
    edit: impl Fn(&str) -> String,
) -> BTreeMap<String, RoundTrips> {
    let path = format!("{}/../../scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = edit(&std::fs::read_to_string(&path).unwrap());
    let file = ScenarioFile::parse(&text, &path).unwrap_or_else(|error| panic!("{error:?}"));
    let variants = file.variants().unwrap();
    let round_trips = variants.iter().map(|variant| {
        let scenario = &variant.scenario;
        let mut options = RunOptions::new(scenario);
        options.simulation.cycles = 4000;
        options.model = model;
        options.loopback = Loopback::Latest;
        let mut round_trips = RoundTrips::default();
        Simulation::new(scenario, options).run(&mut round_trips);
        (scenario.ports[0].discipline.name.clone(), round_trips)
    });
    round_trips.collect()
}

/// Table XI, setup D: 250 or 251 µs, and 500 µs with ETF and TAPRIO.
#[test]
fn etf_and_taprio_take_a_cycle_more_than_the_others() {
    let found = simulate("d.toml", Model::Linux, str::to_owned);
    for (name, cycles) in [
        ("fq_codel", 1),
        ("mqprio", 1),
        ("cbs", 1),
        ("etf", 2),
        ("taprio", 2),
    ] {
        let (expected, median) = (CYCLE.times(cycles), found[name].median());
        let tolerance = Time::microseconds(1);
        assert!(
            expected - tolerance < median && median < expected + tolerance,
            "{name}: {median:?}"
        );
    }
}

/// Table XI, setup D: 0.2 µs with ETF and TAPRIO, 8.9 to 13 µs with the others.
#[test]
fn etf_and_taprio_have_the_least_jitter() {
    let found = simulate("d.toml", Model::Linux, str::to_owned);
    for (name, round_trips) in found {
        let is_timed = ["etf", "taprio"].contains(&name.as_str());
        let (least, most) = if is_timed { (0.0, 1.0) } else { (5.0, 50.0) };
        let jitter = round_trips.jitter();
        assert!(least <= jitter && jitter < most, "{name}: {jitter} us");
    }
}

/// A loopback that is late takes a message a cycle later, and its txtime makes that a whole cycle. A frame can wait for the one
/// before.
#[test]
fn round_trips_with_etf_come_in_steps_of_the_cycle() {
    let found = simulate("e3.toml", Model::Linux, str::to_owned);
    let off_a_step = |name: &str| {
        let all = found[name].all.iter();
        let off = |time: &&Time| {
            let rest = (**time - FRAME).as_picoseconds() % CYCLE.as_picoseconds();
            ![Time::ZERO, FRAME].contains(&Time::picoseconds(rest))
        };
        all.filter(off).count()
    };
    assert_eq!(off_a_step("etf"), 0);
    assert!(off_a_step("mqprio") > 3000);
    let later = found["etf"]
        .all
        .iter()
        .filter(|time| **time > CYCLE.times(3));
    assert!(later.count() > 0);
}

/// Table IX: with 80 % of the rate that a flow of one frame in each cycle needs, its round trips stay as they are. The kernel does
/// not count the 24 bytes of a frame that are only on the wire. A shaper of the standard holds frames back.
#[test]
fn cbs_of_linux_does_not_police_at_80_percent() {
    let edit = |text: &str| {
        assert!(text.contains("provisioning = \"10%\""));
        text.replace("provisioning = \"10%\"", "provisioning = \"-20%\"")
    };
    let median = |model, name: &str| simulate("d.toml", model, edit)[name].median();
    let difference = median(Model::Linux, "cbs") - median(Model::Linux, "mqprio");
    assert!(difference < Time::microseconds(10), "{difference:?}");
    let held = median(Model::Ieee, "cbs");
    assert!(held > CYCLE.times(2), "{held:?}");
}
