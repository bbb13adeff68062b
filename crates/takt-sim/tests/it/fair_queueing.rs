//! FQ_CoDel with quanta from less than a frame up to many frames, bursts and overload: no simulated delay exceeds the
//! bound of its flow.
//!
//! `TAKT_SIMULATED_SCENARIOS=2000 cargo test --release -p takt-sim --test fair_queueing -- --nocapture` for a long run.

use std::fmt::Write;

use crate::generator::{kept, pick};
use takt_calculus::{Extended, Rational, Realisation, ScenarioBounds, scenario_bounds_with};
use takt_scenario::{Analysis, BoundsModel, FlowSource, Scenario};
use takt_sim::{Model, Random, RunOptions, Time, search};

/// Seed of the scenarios, and of the searches.
const SEED: u64 = 8290;
/// Number of simulations for each flow.
const TRIES: u64 = 40;
/// Number of scenarios of the usual run.
const SCENARIOS: u64 = 12;

/// Returns one or two bridges with hosts. `flows` is the number of queues of each port.
fn scenario(flows: u64, random: &mut Random) -> String {
    let mut text = String::new();
    let quantum = pick(random, &[80, 200, 300, 700, 1514, 1514, 3000, 9000]);
    writeln!(
        text,
        "version = 1\ndiscipline = \"fq\"\n[disciplines.fq]\nscheduler = \"fq_codel\"\nflows = {flows}\nquantum = \"{quantum} B\""
    )
    .unwrap();
    if random.below(2) == 0 {
        text += "[bounds]\nlower_priority = \"1542 B\"\n";
    }
    let bridges = 1 + random.below(2);
    for bridge in 0..bridges {
        let most = pick(random, &[0, 2000, 40_000]);
        writeln!(text, "[[nodes]]\nname = \"b{bridge}\"\nkind = \"bridge\"\nforwarding_delay = {{ least = \"0 ns\", most = \"{most} ns\" }}").unwrap();
        if bridge > 0 {
            writeln!(
                text,
                "[[links]]\nends = [\"b0\", \"b1\"]\nrate = \"1 Gbit/s\""
            )
            .unwrap();
        }
    }
    let hosts = 2 + random.below(2);
    for host in 0..hosts {
        let (bridge, late) = (random.below(bridges), pick(random, &[0, 20, 90]));
        let rate = pick(random, &[1000, 1000, 100]);
        writeln!(text, "[[nodes]]\nname = \"h{host}\"\nwake_up_latency = {{ least = \"0 us\", most = \"{late} us\" }}").unwrap();
        writeln!(
            text,
            "[[links]]\nends = [\"h{host}\", \"b{bridge}\"]\nrate = \"{rate} Mbit/s\""
        )
        .unwrap();
    }
    // Most flows share the port of the first host.
    let pair = |random: &mut Random| {
        let from = match random.below(4) {
            0 => random.below(hosts),
            _ => 0,
        };
        (from, (from + 1 + random.below(hosts - 1)) % hosts)
    };
    for application in 0..1 + random.below(3) {
        let (from, to) = pair(random);
        let receiver = pick(random, &["loopback", "subscriber", "subscriber"]);
        let (cycle, payload) = (
            pick(random, &[100, 250, 500]),
            pick(random, &[30, 59, 300, 1400]),
        );
        writeln!(text, "[[applications]]\nname = \"a{application}\"\npublisher = \"h{from}\"\n{receiver} = \"h{to}\"\ncycle = \"{cycle} us\"\noffset = \"0 us\"\npayload = \"{payload} B\"").unwrap();
    }
    for traffic in 0..1 + random.below(3) {
        let (from, to) = pair(random);
        let pattern = pick(
            random,
            &[
                "\"constant\"",
                "{ burst = 3 }",
                "{ burst = 8 }",
                "{ burst = 25 }",
            ],
        );
        let (payload, rate) = (
            pick(random, &[46, 150, 700, 1500]),
            pick(random, &[20, 60, 200, 700]),
        );
        writeln!(text, "[[cross_traffic]]\nname = \"x{traffic}\"\nfrom = \"h{from}\"\nto = \"h{to}\"\npayload = \"{payload} B\"\nrate = \"{rate} Mbit/s\"\npattern = {pattern}").unwrap();
    }
    text
}

fn bounds(scenario: &Scenario, realisation: Realisation) -> ScenarioBounds {
    let (sound, analyses) = (BoundsModel::Sound, [Analysis::TotalFlowShaped]);
    scenario_bounds_with(scenario, sound, realisation, &analyses, &mut |_, _| {}).unwrap()
}

/// Returns options of a search for this realisation.
fn options(scenario: &Scenario, realisation: Realisation) -> RunOptions {
    let mut options = RunOptions::new(scenario);
    match realisation {
        Realisation::Ieee => options.model = Model::Ieee,
        Realisation::Linux { driver_queue } | Realisation::Software { driver_queue } => {
            options.model = Model::Linux;
            options.driver_queue = driver_queue as usize;
        }
    }
    options
}

/// Returns a delay in picoseconds, if it is finite.
fn picoseconds(delay: Option<&Extended>) -> Option<f64> {
    let Some(Extended::Finite(delay)) = delay else {
        return None;
    };
    let picoseconds = delay * Rational::from(1_000_000_000_000u64);
    Some(picoseconds.to_f64().value())
}

#[test]
fn no_frame_is_later_than_the_bound_of_its_flow() {
    attack(Realisation::Ieee);
}

#[test]
fn no_frame_of_linux_is_later_than_the_bound_of_its_flow() {
    attack(Realisation::Linux { driver_queue: 1 });
    attack(Realisation::Linux { driver_queue: 4 });
}

/// Two frames of a burst pass FQ_CoDel by, and the frame of `control` is behind both.
#[test]
fn the_bound_is_attained_behind_frames_that_pass_fq_codel() {
    let text = r#"
version = 1
[topology]
kind = "p2p"
rate = "100 Mbit/s"
[[applications]]
name = "control"
publisher = "host1"
subscriber = "host2"
cycle = "10 ms"
payload = "59 B"
[[cross_traffic]]
name = "x"
from = "host1"
to = "host2"
payload = "1500 B"
interval = "5 ms"
pattern = { burst = 2 }
"#;
    let scenario = Scenario::parse(text, "bypass.toml").unwrap();
    let found = |realisation| {
        let mut options = options(&scenario, realisation);
        options.simulation.cycles = 48;
        let worst = search(&scenario, &options, &Default::default(), 400, |_| true);
        let bounds = bounds(&scenario, realisation);
        let bound = picoseconds(bounds.of_way(scenario.flows()[0].source)).unwrap();
        let found = worst.flows[0].as_ref().unwrap().delay.as_picoseconds();
        (found, bound)
    };
    // Frames of 1542 B take 123.36 us, and that of 101 B takes 8.08 us.
    let linux = Realisation::Linux { driver_queue: 1 };
    for (realisation, expected) in [(Realisation::Ieee, 131_440_000), (linux, 254_800_000)] {
        let (found, bound) = found(realisation);
        assert_eq!(bound, f64::from(expected), "{realisation:?}");
        // The adversary chooses phases in picoseconds.
        assert!(
            (expected - 10..=expected).contains(&i32::try_from(found).unwrap()),
            "{found}"
        );
    }
}

fn attack(realisation: Realisation) {
    let cases = std::env::var("TAKT_SIMULATED_SCENARIOS");
    let cases: u64 = cases.map_or(SCENARIOS, |cases| cases.parse().unwrap());
    let mut random = Random::new(SEED, 0);
    let (mut compared, mut lower) = (0, 0);
    let mut ratios = Vec::new();
    for case in 0..cases {
        // With the same random numbers, the same network comes again with one queue for all flows.
        let mut again = random.clone();
        let text = scenario(1024, &mut random);
        let network =
            Scenario::parse(&text, "random.toml").unwrap_or_else(|e| panic!("{e}\n{text}"));
        let bounds = bounds(&network, realisation);
        // Flows that share a queue have the bound for any order.
        let shared = Scenario::parse(&scenario(1, &mut again), "shared.toml").unwrap();
        let of_all = self::bounds(&shared, realisation);
        let mut options = options(&network, realisation);
        options.simulation.cycles = 15;
        options.simulation.seed = random.bits();
        let kept = kept(&network, &bounds);
        let tries = TRIES * network.flows().len() as u64;
        let worst = search(&network, &options, &kept, tries, |_| true);
        let mut compare =
            |bound: Option<&Extended>, any: Option<&Extended>, found: Option<Time>| {
                if let (Some(bound), Some(found)) = (picoseconds(bound), found) {
                    let ratio = bound / found.as_picoseconds().max(1) as f64;
                    // Times are rounded up to picoseconds at each port.
                    assert!(ratio > 0.999_999, "case {case}: {ratio}\n{text}");
                    compared += 1;
                    lower += u64::from(picoseconds(any).is_none_or(|any| any > bound));
                    ratios.push(ratio);
                }
            };
        for (flow, found) in network.flows().iter().zip(&worst.flows) {
            let found = found.as_ref().map(|found| found.delay);
            compare(
                bounds.of_way(flow.source),
                of_all.of_way(flow.source),
                found,
            );
        }
        let both = bounds.flows.iter().zip(&of_all.flows);
        for (bound, any) in both.filter(|(bound, _)| bound.round_trip) {
            let FlowSource::Publish(id) = bound.source else {
                continue;
            };
            let found = worst.round_trip(id).map(|found| found.delay);
            compare(Some(&bound.from_queue), Some(&any.from_queue), found);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let (median, least) = (ratios[ratios.len() / 2], ratios[0]);
    eprintln!(
        "{realisation:?}: {compared} bounds, {lower} below those for any order, median {median:.3}, least {least:.6}"
    );
    assert!(compared >= cases, "{compared}");
    assert!(lower * 5 > compared, "{lower} of {compared}");
}
