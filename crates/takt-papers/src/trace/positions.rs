//! Positions of arrivals in a period: a histogram for each flow.

use std::collections::BTreeMap;

use serde_json::Map;
use takt_scenario::{FlowSource, Scenario};

use super::curve::{TraceCurve, Traced};
use super::observer::ObservedFrame;

/// Bins of a period.
const BINS: usize = 100;

/// Returns the positions of each flow in a period of so many nanoseconds.
pub(super) fn traced(scenario: &Scenario, frames: &[ObservedFrame], period: f64) -> Traced {
    let mut positions: BTreeMap<FlowSource, Vec<f64>> = BTreeMap::new();
    for frame in frames {
        let position = (frame.arrived as f64 / 1e3).rem_euclid(period);
        positions.entry(frame.source).or_default().push(position);
    }
    let mut values = Map::new();
    let mut curves = Vec::with_capacity(positions.len());
    for (source, positions) in positions {
        let name = scenario.flow_name(source);
        let least = positions.iter().copied().fold(f64::MAX, f64::min);
        let most = positions.iter().copied().fold(f64::MIN, f64::max);
        values.insert(format!("{name}.position.min_ns"), least.into());
        values.insert(format!("{name}.position.max_ns"), most.into());
        let mut counts = [0u32; BINS];
        for position in positions {
            let bin = (position / period * BINS as f64) as usize;
            if let Some(count) = counts.get_mut(bin.min(BINS - 1)) {
                *count += 1;
            }
        }
        let counts = counts.iter().enumerate();
        let width = period / BINS as f64 / 1e3;
        let points = counts.map(|(bin, count)| (bin as f64 * width, f64::from(*count)));
        curves.push(TraceCurve {
            label: name,
            points: points.collect(),
        });
    }
    (values, curves)
}
