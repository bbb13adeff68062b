//! Bounds of random scenarios are near the longest delays that a search finds.
//!
//! `TAKT_TIGHTNESS_SCENARIOS=500 cargo test --release -p takt-sim --test tightness -- --nocapture` for the long run, which prints
//! the medians.

use std::collections::BTreeMap;

use crate::generator::{Drifts, Kind, is_gated, kept, kind, scenario};
use takt_calculus::{Extended, Rational, Realisation, ScenarioBoundsError, scenario_bounds_with};
use takt_scenario::{Analysis, BoundsModel, FlowSource, Scenario};
use takt_sim::{Model, Random, RunOptions, Time, Worst, search};

/// Seed of the scenarios, and of the searches.
const SEED: u64 = 500;
/// Number of simulations for each round trip, each way and each flow.
const TRIES: u64 = 60;
/// Number of scenarios of the usual run: two of each kind.
const SCENARIOS: u64 = 18;

/// Bounds divided by the longest delays that were found.
#[derive(Debug, Default)]
struct Ratios {
    ways: Vec<f64>,
    round_trips: Vec<f64>,
}

impl Ratios {
    fn extend(&mut self, other: Self) {
        self.ways.extend(other.ways);
        self.round_trips.extend(other.round_trips);
    }

    fn all(self) -> Vec<f64> {
        [self.ways, self.round_trips].concat()
    }
}

/// Returns each bound divided by the longest delay that was found. Without a bound or a message there is none.
fn ratios(scenario: &Scenario, bounds: &takt_calculus::ScenarioBounds, worst: &Worst) -> Ratios {
    let mut ratios = Ratios::default();
    let add = |ratios: &mut Vec<f64>, bound: Option<&Extended>, found: Option<Time>| {
        if let (Some(Extended::Finite(bound)), Some(found)) = (bound, found) {
            let picoseconds = bound * Rational::from(1_000_000_000_000u64);
            let ratio = picoseconds.to_f64().value() / found.as_picoseconds().max(1) as f64;
            // Times are rounded up to picoseconds at each port.
            assert!(ratio > 0.999_999, "{ratio}\n{scenario:?}");
            ratios.push(ratio);
        }
    };
    for (flow, found) in scenario.flows().iter().zip(&worst.flows) {
        let found = found.as_ref().map(|found| found.delay);
        add(&mut ratios.ways, bounds.of_way(flow.source), found);
    }
    for bound in bounds.flows.iter().filter(|bound| bound.round_trip) {
        let FlowSource::Publish(id) = bound.source else {
            continue;
        };
        let found = worst.round_trip(id).map(|found| found.delay);
        add(&mut ratios.round_trips, Some(&bound.from_queue), found);
    }
    ratios
}

fn median(ratios: &mut [f64]) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
}

#[test]
fn half_of_the_bounds_are_near_the_longest_delays() {
    let cases = std::env::var("TAKT_TIGHTNESS_SCENARIOS");
    let cases: u64 = cases.map_or(SCENARIOS, |cases| cases.parse().unwrap());
    let mut random = Random::new(SEED, 0);
    let mut found: BTreeMap<(Kind, bool), Ratios> = BTreeMap::new();
    let mut compared = 0;
    while compared < cases {
        let (kind, etf) = kind(compared);
        let text = scenario(kind, etf, Drifts::Own, &mut random);
        // A scenario that is refused is replaced by another one.
        let Ok(scenario) = Scenario::parse(&text, "random.toml") else {
            continue;
        };
        // Separate Flow Analysis takes long where gates make many steps.
        let analyses = match is_gated(&scenario) {
            true => vec![Analysis::TotalFlowShaped, Analysis::Schedule],
            false => vec![Analysis::TotalFlowShaped, Analysis::SeparateFlow],
        };
        let (sound, ieee) = (BoundsModel::Sound, Realisation::Ieee);
        let bounds = scenario_bounds_with(&scenario, sound, ieee, &analyses, &mut |_, _| {});
        let bounds = match bounds {
            Ok(bounds) => bounds,
            Err(ScenarioBoundsError::NotModelled { .. }) if etf => continue,
            Err(error) => panic!("{error}\n{text}"),
        };
        compared += 1;
        let mut options = RunOptions::new(&scenario);
        options.simulation.cycles = 20;
        options.simulation.seed = random.bits();
        options.model = Model::Ieee;
        let aims = scenario.flows().len() + scenario.applications.len();
        let kept = kept(&scenario, &bounds);
        let worst = search(&scenario, &options, &kept, TRIES * aims as u64, |_| true);
        let ratios = ratios(&scenario, &bounds, &worst);
        found.entry((kind, etf)).or_default().extend(ratios);
    }
    let mut all = Vec::new();
    for (kind, mut ratios) in found {
        let (ways, round_trips) = (median(&mut ratios.ways), median(&mut ratios.round_trips));
        let mut of_kind = ratios.all();
        eprintln!(
            "{kind:?}: {} bounds, median {:.3}; one way {ways:.3}, round trip {round_trips:.3}",
            of_kind.len(),
            median(&mut of_kind)
        );
        all.extend(of_kind);
    }
    let (number, middle) = (all.len(), median(&mut all));
    let below_two = all.iter().filter(|ratio| **ratio < 2.0).count();
    eprintln!("{cases} scenarios, {number} bounds, median {middle:.3}; {below_two} below 2");
    assert!(number as u64 >= cases, "{number}");
    // Of 500 scenarios, the median is 1.11.
    assert!(middle < 1.3, "{middle}");
}
