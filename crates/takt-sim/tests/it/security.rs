//! Security of messages: its bytes on the wire, and the processor time of both ends, by hand.

use takt_calculus::{Extended, Rational, Realisation, ScenarioBounds, scenario_bounds_with};
use takt_scenario::{Analysis, BoundsModel, Scenario};
use takt_sim::{Model, RunOptions, Simulation, Time};

/// A frame has 125 B on the wire with its security: 10 us. Messages are made in a cycle of 1 ms, and sent when it is over; the user thread
/// of the loopback runs 300 us behind the begin of a cycle.
fn scenario(security: &str) -> Scenario {
    let text = format!(
        r#"
        version = 1
        topology = {{ kind = "p2p", rate = "100 Mbit/s" }}
        [[applications]]
        name = "control"
        publisher = "host1"
        loopback = "host2"
        cycle = "1 ms"
        payload = "37 B"
        {security}
        "#
    );
    Scenario::parse(&text, "security.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the longest simulated wire round trip, application round trip and way there in microseconds, and the bounds.
fn simulated(scenario: &Scenario) -> ([i64; 3], ScenarioBounds) {
    let mut options = RunOptions::new(scenario);
    options.model = Model::Ieee;
    options.simulation.cycles = 20;
    let results = Simulation::new(scenario, options).run(&mut ());
    let application = &results.applications[0];
    let longest = [
        &application.round_trip,
        &application.application_round_trip,
        &results.flows[0].one_way,
    ];
    let longest = longest.map(|delays| {
        let longest = delays.delay.extremes.most().unwrap_or(Time::ZERO);
        longest.as_nanoseconds() / 1000
    });
    let (sound, ieee) = (BoundsModel::Sound, Realisation::Ieee);
    let analyses = [Analysis::TotalFlowShaped];
    let bounds = scenario_bounds_with(scenario, sound, ieee, &analyses, &mut |_, _| {});
    (longest, bounds.unwrap())
}

fn microseconds(delay: &Extended) -> f64 {
    let seconds = delay.finite().unwrap();
    (seconds * Rational::from(1_000_000)).to_f64().value()
}

#[test]
fn processor_times_of_both_ends_count() {
    let with = |protect: u32, verify: u32| {
        simulated(&scenario(&format!(
            "security = {{ mode = \"SignAndEncrypt\", protect = \"{protect} us\", verify = \"{verify} us\" }}"
        )))
    };
    // Sent at 1000 us, there at 1010, taken at 1300, sent at 2000, back at 2010: between the subscriber phases, so taken at 2010.
    let (plain, _) = with(0, 0);
    assert_eq!(plain, [1010, 1010, 10]);
    // Both ends send later, so that the wire takes as long; the Publisher has each answer when it is verified.
    let (both, bounds) = with(20, 30);
    assert_eq!(both, [1010, 1040, 10]);
    let bound = &bounds.flows[0];
    // Any phases: a message just misses the user thread. The thread's own lateness is before the first queue.
    assert_eq!(microseconds(&bound.from_queue), 10.0 + 30.0 + 1720.0 + 10.0);
    assert_eq!(microseconds(&bound.delay), 20.0 + 1770.0);
    let way = bounds.of_way(bound.source).unwrap();
    assert_eq!(microseconds(way), 10.0);
    // 1000 + 270 us is 30 us before the user thread: there at 1280, and verified before 1300, or a cycle later.
    assert_eq!(with(270, 19).0[0], 1010);
    let (missed, bounds) = with(270, 21);
    assert_eq!(missed[0], 2010);
    assert!(missed[0] as f64 <= microseconds(&bounds.flows[0].from_queue));
}

#[test]
fn security_makes_frames_longer() {
    for (mode, wire) in [("None", 88), ("Sign", 125), ("SignAndEncrypt", 125)] {
        let scenario = scenario(&format!("security = \"{mode}\""));
        assert!(
            scenario
                .flows()
                .iter()
                .all(|flow| flow.frame.physical() == wire)
        );
    }
}
