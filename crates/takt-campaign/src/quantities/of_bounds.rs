//! Quantities of bounds. They have the names of the simulated ones, with `bound_ns` at the end.

use serde_json::Value;
use takt_calculus::{Extended, Rational, ScenarioBounds};
use takt_scenario::{BoundsModel, Scenario};

use crate::row::Quantities;

/// Picoseconds in a second.
const PICOSECONDS: u64 = 1_000_000_000_000;

/// Returns the bounds of all round trips, and of all ways.
pub(crate) fn of_bounds(scenario: &Scenario, bounds: &ScenarioBounds) -> Quantities {
    let model = scenario.bounds.model;
    let mut quantities = Quantities::new();
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
        for (source, time) in bounds.ways.iter().filter(|_| round_trip) {
            if scenario.flow_name(*source) == flow.name {
                bound(name, "one_way", time);
            }
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
