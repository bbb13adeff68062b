//! Quantities of bounds. They have the names of the simulated ones, with `bound_ns` at the end.

use serde_json::Value;
use takt_calculus::{Extended, Rational, ScenarioBounds};
use takt_scenario::{BoundsModel, FlowSource, Scenario};

use super::times;
use crate::row::Quantities;

/// Picoseconds in a second.
const PICOSECONDS: u64 = 1_000_000_000_000;

/// Returns the bounds of all round trips, and of all ways.
pub(crate) fn of_bounds(scenario: &Scenario, bounds: &ScenarioBounds) -> Quantities {
    let model = scenario.bounds.model;
    let mut quantities = Quantities::new();
    times::add_cycles(&mut quantities, scenario);
    let mut bound = |name: &str, kind: &str, time: &Extended| {
        let name = format!("{name}.{kind}.bound_ns");
        quantities.insert(name, nanoseconds(time, model));
    };
    for flow in &bounds.flows {
        let (name, round_trip) = (flow.name.as_str(), flow.round_trip);
        let kind = if round_trip { "round_trip" } else { "one_way" };
        bound(name, kind, &flow.delay);
        bound(name, &format!("{kind}_jitter"), &flow.jitter);
        if let Some(time) = &flow.from_first_bit {
            bound(name, &format!("{kind}_from_first_bit"), time);
        }
        if let Some(time) = &flow.application_round_trip {
            bound(name, "application_round_trip", time);
        }
    }
    // The ways of round trips; those of other flows are above.
    for (source, _) in &bounds.ways {
        let flow = scenario.flow_name(*source);
        let ways = [
            ("one_way", bounds.of_way(*source)),
            (
                "one_way_from_first_bit",
                bounds.of_way_from_first_bit(*source),
            ),
        ];
        for (kind, time) in ways {
            // Nobody stamps the first bit of other traffic.
            let is_cross = matches!(source, FlowSource::Cross(_));
            let Some(time) = time.filter(|_| !is_cross || kind == "one_way") else {
                continue;
            };
            quantities
                .entry(format!("{flow}.{kind}.bound_ns"))
                .or_insert_with(|| nanoseconds(time, model));
        }
    }
    quantities
}

/// Returns nanoseconds with three decimals; null if infinite. The model `sound` rounds up, so that the written bound holds as well.
/// The model of the paper truncates.
fn nanoseconds(time: &Extended, model: BoundsModel) -> Value {
    let Some(time) = time.finite() else {
        return Value::Null;
    };
    let picoseconds = time * Rational::from(PICOSECONDS);
    let picoseconds = match model {
        BoundsModel::Sound => picoseconds.ceil(),
        BoundsModel::Paper => picoseconds.floor(),
    };
    match i64::try_from(picoseconds) {
        Ok(picoseconds) => (picoseconds as f64 / 1000.0).into(),
        // Longer than three months.
        Err(_) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::tests::folder::SCENARIO;
    use takt_calculus::scenario_bounds;

    #[test]
    fn each_way_of_a_round_trip_has_a_bound_of_its_own() {
        let scenario = Scenario::parse(SCENARIO, "plant.toml").unwrap();
        let bounds =
            scenario_bounds(&scenario, BoundsModel::Sound, &scenario.bounds.analyses).unwrap();
        let quantities = of_bounds(&scenario, &bounds);
        let round_trips: Vec<&String> = quantities
            .keys()
            .filter(|name| name.ends_with(".round_trip.bound_ns"))
            .collect();
        assert!(!round_trips.is_empty());
        for round_trip in round_trips {
            let name = round_trip.trim_end_matches(".round_trip.bound_ns");
            let time = |name: String| quantities[&name].as_f64().unwrap();
            let both = time(round_trip.clone());
            for way in [name.to_owned(), format!("{name} (return)")] {
                let way = time(format!("{way}.one_way.bound_ns"));
                assert!(way > 0.0 && way < both, "{name}: {way} {both}");
            }
        }
    }
}
