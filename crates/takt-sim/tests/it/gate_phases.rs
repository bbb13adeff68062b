//! The search shifts applications and gates where bounds hold for any phase, and keeps their phases where the analysis `schedule`
//! needs them.

use takt_calculus::{Extended, Rational, ScenarioBounds, scenario_bounds};
use takt_scenario::{Analysis, ApplicationIndex, BoundsModel, Scenario};
use takt_sim::{KeptPhases, Model, RunOptions, Simulation, Time, Worst, search};

/// A message in each cycle of the gates, sent when its windows begin.
const TEXT: &str = r#"
version = 1
discipline = "gates"
[disciplines.gates]
scheduler = "taprio"
classes = [{ name = "A", priorities = [3] }, { name = "rest" }]
entries = [{ gates = ["A"], interval = "50 us" }, { gates = ["rest"], interval = "200 us" }]
[[nodes]]
name = "a"
[[nodes]]
name = "b"
kind = "bridge"
[[nodes]]
name = "c"
[[links]]
ends = ["a", "b"]
rate = "1 Gbit/s"
[[links]]
ends = ["b", "c"]
rate = "1 Gbit/s"
[[applications]]
name = "control"
publisher = "a"
loopback = "c"
cycle = "250 us"
payload = "59 B"
pcp = 3
"#;

/// Number of simulations for each delay.
const TRIES: u64 = 100;

fn bounds(scenario: &Scenario, analyses: &[Analysis]) -> ScenarioBounds {
    scenario_bounds(scenario, BoundsModel::Sound, analyses).unwrap()
}

fn worst(scenario: &Scenario, kept: &KeptPhases) -> Worst {
    let mut options = RunOptions::new(scenario);
    options.simulation.cycles = 20;
    options.simulation.trim = 0;
    options.model = Model::Ieee;
    search(scenario, &options, kept, 3 * TRIES, |_| true)
}

/// Returns the round trip and its ways as parts of their bounds.
fn parts(scenario: &Scenario, bounds: &ScenarioBounds, worst: &Worst) -> Vec<f64> {
    let part = |found: Time, bound: &Extended| {
        let Extended::Finite(bound) = bound else {
            panic!("{bound:?}");
        };
        let picoseconds = bound * Rational::from(1_000_000_000_000u64);
        found.as_picoseconds() as f64 / picoseconds.to_f64().value()
    };
    let round_trip = worst.round_trip(ApplicationIndex(0)).unwrap();
    let mut parts = vec![part(round_trip.delay, &bounds.flows[0].from_queue)];
    for (flow, found) in scenario.flows().iter().zip(&worst.flows) {
        let bound = bounds.of_way(flow.source).unwrap();
        parts.push(part(found.as_ref().unwrap().delay, bound));
    }
    parts
}

#[test]
fn bounds_for_any_phase_are_reached_by_shifts() {
    let scenario = Scenario::parse(TEXT, "gates.toml").unwrap();
    let bounds = bounds(
        &scenario,
        &[Analysis::TotalFlowShaped, Analysis::SeparateFlow],
    );
    let kept = crate::generator::kept(&scenario, &bounds);
    assert!(kept.round_trips.is_empty() && kept.flows.is_empty());
    let worst = worst(&scenario, &kept);
    let shifted = parts(&scenario, &bounds, &worst);
    assert!(shifted.iter().all(|part| *part <= 1.0), "{shifted:?}");
    // A round trip needs four gates and the loopback at their worst in one try.
    assert!(shifted[0] > 0.85, "{shifted:?}");
    assert!(shifted[1] > 0.99 && shifted[2] > 0.99, "{shifted:?}");
    // With the phases of the scenario, windows are open when messages come.
    let unshifted = KeptPhases {
        round_trips: vec![ApplicationIndex(0)],
        flows: scenario.flows().iter().map(|flow| flow.source).collect(),
    };
    let unshifted = parts(&scenario, &bounds, &self::worst(&scenario, &unshifted));
    assert!(
        unshifted[1..].iter().all(|part| *part < 0.1),
        "{unshifted:?}"
    );
    // Gates of both ports close just before the message.
    let found = worst.flows[0].as_ref().unwrap();
    assert!(found.delay > Time::microseconds(400), "{found:?}");
    // The worst case can be reproduced.
    let mut options = RunOptions::new(&scenario);
    options.simulation.cycles = 20;
    options.simulation.trim = 0;
    options.model = Model::Ieee;
    options.adversary = Some(found.adversary.clone());
    let again = Simulation::new(&scenario, options).run(&mut ());
    assert_eq!(
        again.flows[0].one_way.delay.extremes.most(),
        Some(found.delay)
    );
}

#[test]
fn bounds_of_the_schedule_keep_the_phases() {
    let scenario = Scenario::parse(TEXT, "gates.toml").unwrap();
    let bounds = bounds(&scenario, &[Analysis::TotalFlowShaped, Analysis::Schedule]);
    let kept = crate::generator::kept(&scenario, &bounds);
    assert_eq!(kept.round_trips, [ApplicationIndex(0)]);
    assert_eq!(kept.flows.len(), 2);
    let parts = parts(&scenario, &bounds, &worst(&scenario, &kept));
    assert!(
        parts.iter().all(|part| (0.9..=1.0).contains(part)),
        "{parts:?}"
    );
}
