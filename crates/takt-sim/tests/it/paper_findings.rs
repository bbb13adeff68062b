//! Findings of the papers that do not depend on hardware, in the shipped scenarios of their setups: D, E3 and B of "Real-Time
//! Performance of OPC UA", and the line with TAPRIO of "Assessment of OPC UA PubSub at Scale using TSN Infrastructure and Network
//! Calculus".

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
    overwritten: usize,
}

impl Observer for RoundTrips {
    fn passage(&mut self, passage: &Passage) {
        if let FlowSource::Publish(_) = passage.source {
            let left = passage.arrived - FRAME;
            self.left.entry(passage.counter).or_insert(left);
        }
    }

    fn message(&mut self, message: &Message) {
        let is_back = matches!(message.source, FlowSource::Return(_));
        self.overwritten += usize::from(message.outcome == MessageOutcome::Overwritten);
        if is_back && message.outcome == MessageOutcome::Arrived {
            let left = self.left[&message.counter];
            assert_eq!(message.first_bit, left);
            self.all.push(message.ended - left);
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
        let settings = variant.settings.iter().map(|(_, value)| value.as_str());
        (settings.collect::<Vec<_>>().join(", "), round_trips)
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
    // Threads that are often late make these round trips frequent.
    let often_late = |text: &str| {
        let latency = "{ histogram = \"wake-up-e3.csv\" }";
        assert!(text.contains(latency));
        text.replace(latency, "{ least = \"0 us\", most = \"130 us\" }")
    };
    let found = simulate("e3.toml", Model::Linux, often_late);
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

/// Table XI, setup E3: 500 µs with ETF, 250 µs with the others, and 0.01 to 0.1 % lost messages. Almost all threads are on time.
#[test]
fn rarely_late_threads_lose_few_messages() {
    let found = simulate("e3.toml", Model::Linux, str::to_owned);
    for (name, cycles) in [("etf", 2), ("fq_codel", 1), ("mqprio", 1), ("cbs", 1)] {
        let (expected, median) = (CYCLE.times(cycles), found[name].median());
        let tolerance = Time::microseconds(1);
        assert!(
            expected <= median && median < expected + tolerance,
            "{name}: {median:?}"
        );
        let lost = found[name].overwritten as f64 / 4000.0;
        assert!(lost < 0.002, "{name}: {lost}");
    }
}

/// Table XII: with a bridge, ETF at the hosts takes a cycle more than no ETF, and the bridge adds 30 to 47 µs. It does so on the way
/// back: a message that comes to the loopback later waits there for a shorter time.
#[test]
fn a_bridge_adds_its_delay_and_etf_a_cycle() {
    let without_traffic = |text: &str| {
        let sweep = text
            .find("[[sweeps]]\nparameter = \"cross_traffic")
            .unwrap();
        let text = &text[..sweep];
        assert!(text.contains("rate = \"200 Mbit/s\""));
        text.replace("rate = \"200 Mbit/s\"", "rate = \"0 bit/s\"")
    };
    for (name, cycles) in [("b.toml", 1), ("b-etf.toml", 2)] {
        let found = simulate(name, Model::Linux, without_traffic);
        assert_eq!(found.len(), 3);
        for (bridge, round_trips) in found {
            let more = round_trips.median() - CYCLE.times(cycles);
            let range = Time::microseconds(29)..Time::microseconds(50);
            assert!(range.contains(&more), "{name}, {bridge}: {more:?}");
        }
    }
}

/// Fig. 12 and section V-C of "Assessment ...": about 600 µs over seven hops with small payloads, although each port has gates.
#[test]
fn shifted_gates_let_messages_pass_a_line_without_waiting_at_each_hop() {
    let found = simulate("line-taprio.toml", Model::Linux, |text| {
        text.replace("[2, 4, 8, 16, 32, 64, 128, 160]", "[2]")
    });
    assert_eq!(found.len(), 7);
    for (hops, round_trips) in (1..).zip(found.into_values()) {
        let expected = Time::microseconds(400 + 20 * (hops - 1));
        let more = round_trips.median() - expected;
        assert!(
            Time::ZERO < more && more < Time::microseconds(2),
            "{hops} hops: {:?}",
            round_trips.median()
        );
    }
}
