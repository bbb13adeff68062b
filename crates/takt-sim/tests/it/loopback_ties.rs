//! Messages that come to a loopback exactly when its user thread runs: the thread may miss them, and the bounds include that.

use takt_calculus::{Extended, Rational, ScenarioBounds, scenario_bounds};
use takt_scenario::{Analysis, BoundsModel, FlowSource, Scenario, ScenarioFile};
use takt_sim::{Model, Results, RunOptions, Simulation, Time};

/// Time on the wire of a message of 59 B, 101 B with all headers, at 1 Gbit/s.
const FRAME: Time = Time::nanoseconds(808);

/// A round trip of one message in each cycle of 250 µs over one link.
fn two_hosts(discipline: &str, drift: &str, offset: &str, user: &str) -> Scenario {
    let text = format!(
        r#"version = 1
        discipline = "d"
        [topology]
        kind = "p2p"
        rate = "1 Gbit/s"
        [disciplines.d]
        {discipline}
        [[nodes]]
        name = "host1"
        clock = {{ drift = "{drift}" }}
        [[nodes]]
        name = "host2"
        clock = {{ drift = "{drift}" }}
        [[applications]]
        name = "control"
        publisher = "host1"
        loopback = "host2"
        cycle = "250 us"
        offset = "{offset}"
        phases = {{ subscriber = 0.0, user = {user}, publisher = 0.6 }}
        payload = "59 B"
        pcp = 3
        "#
    );
    let file = ScenarioFile::parse(&text, "test.toml");
    let file = file.unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    file.scenario().clone()
}

fn simulate(scenario: &Scenario) -> Results {
    let mut options = RunOptions::new(scenario);
    options.simulation.cycles = 1000;
    options.model = Model::Ieee;
    Simulation::new(scenario, options).run(&mut ())
}

fn bounds(scenario: &Scenario, analysis: Analysis) -> ScenarioBounds {
    scenario_bounds(scenario, BoundsModel::Sound, &[analysis]).unwrap()
}

fn picoseconds(time: Time) -> Rational {
    time.as_picoseconds().into()
}

fn bound_in_picoseconds(bound: &Extended) -> Rational {
    let Extended::Finite(seconds) = bound else {
        panic!("{bound:?}")
    };
    seconds * Rational::from(1_000_000_000_000u64)
}

/// The window opens 75 µs after the message is sent, so that it comes at 75.808 µs of the loopback's cycle.
#[test]
fn a_message_that_comes_when_the_thread_runs_waits_for_the_next_one() {
    let windows = r#"scheduler = "taprio"
        classes = [{ name = "A", priorities = [3] }, { name = "rest" }]
        entries = [
            { gates = ["rest"], interval = "75 us" },
            { gates = ["A"], interval = "50 us" },
            { gates = ["rest"], interval = "125 us" },
        ]"#;
    // The thread runs 1 ns before the message comes, at the same time, and 1 ns later.
    for (user, cycles) in [("0.303228", 2), ("0.303232", 2), ("0.303236", 1)] {
        let scenario = two_hosts(windows, "0 ppm", "0 us", user);
        let results = simulate(&scenario);
        let found = results.applications[0].round_trip.delay.extremes;
        let back = Time::microseconds(75) + FRAME;
        let expected = Time::microseconds(250).times(cycles) + back;
        assert_eq!(found.most(), Some(expected), "user thread at {user}");
        let bounds = bounds(&scenario, Analysis::Schedule);
        let bound = bound_in_picoseconds(&bounds.flows[0].from_queue);
        assert_eq!(bound, picoseconds(expected), "user thread at {user}");
    }
}

/// The cycles of clocks that drift are no whole number of picoseconds. With times rounded to picoseconds, a message that comes less
/// than one of them before the user thread is taken in some cycles and missed in others. Two then leave together.
#[test]
fn clocks_that_drift_alike_round_each_cycle_in_another_way() {
    let fifo = "scheduler = \"mqprio\"\nclasses = [{ name = \"all\" }]";
    // Sent at 75 µs, and on the wire for 808 ns, which are 808.081608 ns by this clock. The thread runs at 75.808082 µs.
    let scenario = two_hosts(fifo, "101 ppm", "75 us", "0.303232328");
    let results = simulate(&scenario);
    let flows = scenario.flows().iter().zip(&results.flows);
    let mut longest = Vec::new();
    let bounds = bounds(&scenario, Analysis::TotalFlowShaped);
    for (flow, found) in flows {
        let found = found.one_way.delay.extremes.most().unwrap();
        let bound = bound_in_picoseconds(bounds.of_way(flow.source).unwrap());
        assert!(picoseconds(found) <= bound, "{:?}: {found:?}", flow.source);
        if matches!(flow.source, FlowSource::Return(_)) {
            longest.push(found);
        }
    }
    assert_eq!(longest, [FRAME.times(2)]);
}
