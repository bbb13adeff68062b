//! Random networks with random adversaries: no simulated delay exceeds the bounds of `takt bounds`.
//!
//! `TAKT_SIMULATED_SCENARIOS=1500 cargo test --release -p takt-sim --test random_networks` for the long run of docs/simulation.md.

use std::collections::BTreeMap;

use crate::generator::{Drifts, KINDS, Kind, is_gated, kept, kind, multicast, scenario};
use takt_calculus::{
    Extended, Rational, Realisation, ScenarioBounds, ScenarioBoundsError, scenario_bounds_with,
};
use takt_scenario::{Analysis, BoundsModel, Scenario};
use takt_sim::{Adversary, Choice, Model, Random, RunOptions, Simulation, Time};

/// Analyses that finish quickly, and the one for gates.
const ANALYSES: [Analysis; 3] = [
    Analysis::TotalFlow,
    Analysis::TotalFlowShaped,
    Analysis::Schedule,
];

/// Returns random choices. Applications and gates have the phases of the scenario if they are `kept`.
fn adversary(
    scenario: &Scenario,
    is_kept: bool,
    random: &mut Random,
    of_gates: &mut Random,
) -> Adversary {
    let ms = Time::microseconds(1000);
    let mut times = |count: usize| {
        (0..count)
            .map(|_| random.between(Time::ZERO, ms))
            .collect::<Vec<_>>()
    };
    let (publishers, loopbacks) = (
        times(scenario.applications.len()),
        times(scenario.applications.len()),
    );
    let cross_traffic = times(scenario.cross_traffic.len());
    let ports = scenario.ports.iter();
    let gates = ports.map(|_| of_gates.between(Time::ZERO, ms)).collect();
    let (publishers, loopbacks, gates) = if is_kept {
        (Vec::new(), Vec::new(), Vec::new())
    } else {
        (publishers, loopbacks, gates)
    };
    let mut choices = |number: usize| {
        let choice = |_| match random.below(3) {
            0 => Choice::First(random.below(100)),
            1 => Choice::Later(random.below(100)),
            _ => Choice::Random(random.bits()),
        };
        (0..number).map(choice).collect::<Vec<_>>()
    };
    Adversary {
        publishers,
        loopbacks,
        gates,
        cross_traffic,
        interference: choices(scenario.ports.len()),
        forwarding: choices(scenario.ports.len()),
        late_publishers: choices(scenario.applications.len()),
        late_loopbacks: choices(scenario.applications.len()),
    }
}

#[test]
fn no_frame_is_later_than_its_bound() {
    let seen = attack(Realisation::Ieee, 7, Receivers::One);
    assert!(seen.nearest_application > 0.8, "{seen:?}");
    assert!(seen.scheduled > 0);
    // There are eight kinds, and hosts of three of them may have ETF.
    assert_eq!(seen.found.len(), 11);
    for (kind, (_, nearest)) in seen.found {
        assert!(nearest > 0.3, "{kind:?}: {nearest}");
    }
}

/// Gates and shapers of Linux in software have bounds of their own, where they have any.
#[test]
fn no_frame_of_software_is_later_than_its_bound() {
    for driver_queue in [1, 3] {
        let seen = attack(Realisation::Software { driver_queue }, 9, Receivers::One);
        let nearest = |kind| seen.found.get(&(kind, false)).map_or(0.0, |it| it.1);
        // Bounds exist for the highest shaped class, and for a class that is alone in its windows.
        assert!(nearest(Kind::Cbs) > 0.3, "{seen:?}");
        assert!(nearest(Kind::Mqprio) > 0.3, "{seen:?}");
    }
}

/// Linux hands frames to the driver before the link is free, lets frames pass FQ_CoDel, and counts other lengths.
#[test]
fn no_frame_of_linux_is_later_than_its_bound() {
    for driver_queue in [1, 3] {
        let seen = attack(Realisation::Linux { driver_queue }, 8, Receivers::One);
        assert_eq!(seen.found.len(), 11);
    }
}

/// The same with several subscribers, in all models.
#[test]
fn no_frame_to_several_subscribers_is_later_than_its_bound() {
    let software = Realisation::Software { driver_queue: 1 };
    let linux = Realisation::Linux { driver_queue: 3 };
    for (realisation, seed) in [(Realisation::Ieee, 21), (software, 22), (linux, 23)] {
        let seen = attack(realisation, seed, Receivers::Several);
        assert!(seen.branches > 30, "{realisation:?}: {}", seen.branches);
    }
}

/// Receivers of the applications of random scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receivers {
    One,
    Several,
}

/// Results of an attack.
#[derive(Debug, Default)]
struct Seen {
    nearest_application: f64,
    scheduled: u64,
    /// Number of bounds on ways that share their beginning with another one.
    branches: u64,
    /// Number of scenarios of each kind, and the greatest ratio of a delay to its bound.
    found: BTreeMap<(Kind, bool), (u64, f64)>,
}

fn bounds_of(
    scenario: &Scenario,
    realisation: Realisation,
    analyses: &[Analysis],
) -> Result<ScenarioBounds, ScenarioBoundsError> {
    let sound = BoundsModel::Sound;
    scenario_bounds_with(scenario, sound, realisation, analyses, &mut |_, _| {})
}

/// Compares random scenarios with random adversaries, simulated as this realisation, with their bounds.
fn attack(realisation: Realisation, seed: u64, receivers: Receivers) -> Seen {
    let cases = std::env::var("TAKT_SIMULATED_SCENARIOS");
    // Scenarios with several subscribers have more flows, so that fewer of them suffice.
    let usual = match receivers {
        Receivers::One => 100,
        Receivers::Several => 36,
    };
    let cases: u64 = cases.map_or(usual, |cases| cases.parse().unwrap());
    let mut random = Random::new(seed, 0);
    let mut of_gates = Random::new(seed, 1);
    let mut of_receivers = Random::new(seed, 2);
    let mut branches = 0;
    let (mut compared, mut refused, mut scheduled) = (0u64, 0u64, 0u64);
    let mut nearest_application = 0f64;
    // Number of delays of each kind, and the greatest ratio of a delay to its bound.
    let mut found: BTreeMap<(Kind, bool), (u64, f64)> = BTreeMap::new();
    while compared < cases {
        let (kind, etf) = kind(compared);
        let drifts = match (compared / KINDS.len() as u64) % 2 {
            0 => Drifts::Own,
            _ => Drifts::Alike,
        };
        let mut text = scenario(kind, etf, drifts, &mut random);
        if receivers == Receivers::Several {
            text = multicast(&text, &mut of_receivers);
        }
        // A scenario that is refused is replaced by another one.
        let Ok(scenario) = Scenario::parse(&text, "random.toml") else {
            refused += 1;
            assert!(refused < 50 + cases, "{text}");
            continue;
        };
        // Separate Flow Analysis takes long where gates make many steps.
        let analyses = match is_gated(&scenario) {
            true => ANALYSES.to_vec(),
            false => [&ANALYSES[..], &[Analysis::SeparateFlow]].concat(),
        };
        let bounds = match bounds_of(&scenario, realisation, &analyses) {
            Ok(bounds) => bounds,
            // The reason is late threads, or txtimes of applications below txtime-assist.
            Err(ScenarioBoundsError::NotModelled { .. }) if etf => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{error}\n{text}"),
        };
        let mut options = RunOptions::new(&scenario);
        options.simulation.cycles = 20;
        options.simulation.seed = random.bits();
        match realisation {
            Realisation::Ieee => options.model = Model::Ieee,
            Realisation::Linux { driver_queue } | Realisation::Software { driver_queue } => {
                options.model = Model::Linux;
                options.driver_queue = driver_queue as usize;
            }
        }
        let kept = kept(&scenario, &bounds);
        let is_kept = !kept.round_trips.is_empty() || !kept.flows.is_empty();
        options.adversary = Some(adversary(&scenario, is_kept, &mut random, &mut of_gates));
        let results = Simulation::new(&scenario, options).run(&mut ());
        compared += 1;
        let (count, nearest) = found.entry((kind, etf)).or_default();
        *count += 1;
        for (flow, seen) in scenario.flows().iter().zip(&results.flows) {
            let bound = bounds.of_way(flow.source);
            if let (Some(Extended::Finite(bound)), Some(delay)) =
                (bound, seen.one_way.delay.extremes.most())
            {
                branches += u64::from(flow.fork.is_some());
                // Times are whole picoseconds, rounded up at each port.
                let rounding = Rational::from(4 * flow.ports.len() as u64);
                let picoseconds = bound * Rational::from(1_000_000_000_000u64) + rounding;
                assert!(
                    Rational::from(delay.as_picoseconds()) <= picoseconds,
                    "{:?}: {delay:?}, bound {} ps\n{text}",
                    flow.source,
                    picoseconds.to_f64().value()
                );
            }
        }
        for bound in &bounds.flows {
            if let takt_scenario::FlowSource::Publish(id) = bound.source
                && let Some(Extended::Finite(seconds)) = &bound.application_round_trip
                && let Some(found) = results.applications[id.0]
                    .application_round_trip
                    .delay
                    .extremes
                    .most()
            {
                let picoseconds = seconds * Rational::from(1_000_000_000_000u64);
                let rounding = Rational::from(4 * bound.queues.len() as u64);
                let ratio = found.as_picoseconds() as f64 / picoseconds.to_f64().value();
                assert!(
                    Rational::from(found.as_picoseconds()) <= picoseconds + rounding,
                    "{}: from T1 to T8 {found:?}, ratio {ratio}\n{text}",
                    bound.name
                );
                nearest_application = nearest_application.max(ratio);
            }
            // Delays are simulated from the first port's queue on.
            let Extended::Finite(seconds) = &bound.from_queue else {
                continue;
            };
            let flow = scenario
                .flows()
                .iter()
                .position(|flow| flow.source == bound.source)
                .unwrap();
            let delays = match bound.source {
                takt_scenario::FlowSource::Publish(id) if bound.round_trip => {
                    &results.applications[id.0].round_trip
                }
                _ => &results.flows[flow].one_way,
            };
            let Some(delay) = delays.delay.extremes.most() else {
                continue;
            };
            let known = |(name, answer): &(Analysis, Result<Extended, String>)| {
                *name == Analysis::Schedule && answer.is_ok()
            };
            scheduled += u64::from(bound.answers.iter().any(known));
            // Times are whole picoseconds, rounded up at each port.
            let rounding = 4 * bound.queues.len() as u64;
            let picoseconds =
                seconds * Rational::from(1_000_000_000_000u64) + Rational::from(rounding);
            let found = Rational::from(delay.as_picoseconds());
            assert!(
                found <= picoseconds,
                "{}: {delay:?}, bound {} ps\n{text}",
                bound.name,
                picoseconds.to_f64().value()
            );
            *nearest = nearest.max(delay.as_picoseconds() as f64 / picoseconds.to_f64().value());
        }
    }
    eprintln!(
        "{realisation:?}: {found:?}, application {nearest_application}, {refused} refused, {scheduled} scheduled"
    );
    Seen {
        nearest_application,
        scheduled,
        branches,
        found,
    }
}
