//! Delays from the first bit on the wire (T2) in shipped scenarios: simulated ones stay below their bounds.

use takt_calculus::{Extended, Rational, Realisation, scenario_bounds_with};
use takt_scenario::{Analysis, BoundsModel, FlowSource, Scenario, ScenarioFile};
use takt_sim::{Loopback, RunOptions, Simulation, Summary, Time};

/// Scenario and the settings of a variant.
const VARIANTS: [(&str, &[(&str, &str)]); 6] = [
    ("d", &[("discipline", "etf")]),
    ("d", &[("discipline", "taprio")]),
    ("d", &[("discipline", "mqprio")]),
    ("e3", &[("discipline", "etf")]),
    (
        "b-etf",
        &[
            ("discipline", "mqprio"),
            ("cross_traffic.iperf3.rate", "590 Mbit/s"),
        ],
    ),
    ("line-taprio-device", &[("topology.hops", "3")]),
];

fn scenario(name: &str, settings: &[(&str, &str)]) -> Scenario {
    let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let file = ScenarioFile::parse(&text, &path).unwrap();
    let settings = settings.iter();
    let settings: Vec<_> = settings
        .map(|(field, value)| ((*field).to_owned(), (*value).to_owned()))
        .collect();
    file.with_settings(&settings).unwrap().scenario().clone()
}

fn picoseconds(bound: &Extended) -> f64 {
    let Extended::Finite(seconds) = bound else {
        return f64::INFINITY;
    };
    (seconds * Rational::from(1_000_000_000_000_u64))
        .to_f64()
        .value()
}

fn longest(of: &Summary) -> f64 {
    of.extremes
        .most()
        .map_or(0.0, |time| time.as_picoseconds() as f64)
}

#[test]
fn simulated_delays_stay_below_their_bounds() {
    for (name, settings) in VARIANTS {
        let scenario = scenario(name, settings);
        let linux = Realisation::Software { driver_queue: 1 };
        let (sound, analyses) = (BoundsModel::Sound, [Analysis::TotalFlowShaped]);
        let bounds = scenario_bounds_with(&scenario, sound, linux, &analyses, &mut |_, _| {});
        let bounds = bounds.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut options = RunOptions::new(&scenario);
        options.simulation.cycles = 2000;
        options.simulation.trim = 0;
        options.loopback = Loopback::Latest;
        let results = Simulation::new(&scenario, options).run(&mut ());
        let application = &results.applications[0];
        let bound = &bounds.flows[0];
        let from_first_bit = bound.from_first_bit.as_ref().unwrap();
        let trip = longest(&application.round_trip_from_first_bit.delay);
        let from_queue = longest(&application.round_trip.delay);
        eprintln!(
            "{name} {settings:?}: {:.3} us from the first bit, bound {:.3} us; {:.3} us from the queue, bound {:.3} us",
            trip / 1e6,
            picoseconds(from_first_bit) / 1e6,
            from_queue / 1e6,
            picoseconds(&bound.from_queue) / 1e6,
        );
        assert!(trip > 0.0 && trip <= from_queue, "{name}");
        assert!(bound.from_queue.finite().is_some(), "{name} has no bound");
        assert!(*from_first_bit <= bound.from_queue, "{name}");
        // Each port rounds up to picoseconds.
        assert!(trip <= picoseconds(from_first_bit) + 100.0, "{name}");
        for (flow, statistics) in scenario.flows().iter().zip(&results.flows) {
            if let FlowSource::Cross(_) = flow.source {
                continue;
            }
            let way = bounds.of_way_from_first_bit(flow.source).unwrap();
            let found = longest(&statistics.one_way_from_first_bit.delay);
            assert!(way.finite().is_some(), "{name}: a way has no bound");
            assert!(found > 0.0 && found <= picoseconds(way) + 100.0, "{name}");
        }
    }
}

/// A message with a launch time leaves the host at that time, so that both kinds of round trip begin then.
#[test]
fn launch_times_are_first_bits() {
    for discipline in ["etf", "taprio"] {
        let scenario = scenario("d", &[("discipline", discipline)]);
        let mut options = RunOptions::new(&scenario);
        options.simulation.cycles = 200;
        let results = Simulation::new(&scenario, options).run(&mut ());
        let trip = &results.applications[0]
            .round_trip_from_first_bit
            .delay
            .extremes;
        let expected = Some(Time::nanoseconds(500_808));
        assert_eq!((trip.least(), trip.most()), (expected, expected));
    }
}
