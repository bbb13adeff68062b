//! Inter-frame spacing: its distribution, and the share that is off the cycle.

use serde_json::Map;
use takt_scenario::{ApplicationIndex, Scenario};

use super::curve::{TraceCurve, Traced, application, thinned};
use super::observer::ObservedFrame;

/// Difference from the cycle from which on a spacing is off it, in picoseconds.
const OFF: i64 = 1_000_000;

/// Returns the spacing of the first application's frames, there or back. A frame to several Subscribers passes a port once.
pub(super) fn traced(scenario: &Scenario, frames: &[ObservedFrame]) -> Traced {
    let first = ApplicationIndex(0);
    let arrived = frames.iter();
    let arrived = arrived.filter(|it| it.source.application() == Some(first));
    let arrived: Vec<i64> = arrived.map(|it| it.arrived).collect();
    let pairs = arrived.windows(2);
    let mut spacings: Vec<i64> = pairs.map(|pair| pair[1] - pair[0]).collect();
    spacings.sort_unstable();
    let cycle = scenario.applications.first().map_or(0, |it| it.cycle.0);
    let cycle = i64::try_from(cycle).unwrap_or(i64::MAX);
    let off = spacings
        .iter()
        .filter(|it| (*it - cycle).abs() > OFF)
        .count();
    let count = spacings.len() as f64;
    let mut values = Map::new();
    let name = application(scenario);
    let mut value = |quantity: &str, number: f64| {
        values.insert(format!("{name}.{quantity}"), number.into());
    };
    value("spacing_off.share", off as f64 / count);
    for (quantity, time) in [("min_ns", spacings.first()), ("max_ns", spacings.last())] {
        let time = time.map_or(f64::NAN, |it| *it as f64 / 1e3);
        value(&format!("spacing_trace.{quantity}"), time);
    }
    let points = spacings.iter().enumerate();
    let points = points.map(|(index, it)| (*it as f64 / 1e6, (index + 1) as f64 / count));
    let curve = TraceCurve {
        label: String::new(),
        points: thinned(points.collect()),
    };
    (values, vec![curve])
}
