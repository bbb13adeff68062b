//! Positions of arrivals in a period: a histogram for each flow.

use std::collections::BTreeMap;

use serde_json::Map;
use takt_scenario::{ApplicationIndex, FlowSource, PortIndex, Scenario};

use super::curve::{TraceCurve, Traced};
use super::observer::ObservedFrame;

/// Bins of a period.
const BINS: usize = 100;

/// Returns the positions of each flow at a port, in a period of so many nanoseconds.
pub(super) fn traced(
    scenario: &Scenario,
    port: PortIndex,
    frames: &[ObservedFrame],
    period: f64,
) -> Traced {
    let mut positions: BTreeMap<FlowSource, Vec<f64>> = BTreeMap::new();
    for frame in frames {
        let position = (frame.arrived as f64 / 1e3).rem_euclid(period);
        for source in carried(scenario, port, frame.source) {
            positions.entry(source).or_default().push(position);
        }
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

/// Returns the flows whose frame this is at a port: one frame carries the messages to all Subscribers behind the port, and the simulator
/// reports the first of their flows.
fn carried(
    scenario: &Scenario,
    port: PortIndex,
    source: FlowSource,
) -> impl Iterator<Item = FlowSource> {
    let application = published(source);
    let flows = scenario.flows().iter();
    let carried = flows.filter(move |flow| match application {
        Some(_) => published(flow.source) == application && flow.ports.contains(&port),
        None => flow.source == source,
    });
    carried.map(|flow| flow.source)
}

/// Returns the application of a flow from its Publisher.
fn published(source: FlowSource) -> Option<ApplicationIndex> {
    match source {
        FlowSource::Publish(id) | FlowSource::Branch(id, _) => Some(id),
        FlowSource::Return(_) | FlowSource::Cross(_) => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_frame_to_several_subscribers_has_a_position_in_each_flow() {
        let text = r#"version = 1
nodes = [{ name = "host1" }, { name = "host2" }, { name = "host3" }, { name = "b", kind = "bridge" }]
links = [{ ends = ["host1", "b"] }, { ends = ["b", "host2"] }, { ends = ["b", "host3"] }]
[[applications]]
name = "state"
publisher = "host1"
subscribers = ["host2", "host3"]
cycle = "1 ms"
payload = "59 B"
"#;
        let scenario = Scenario::parse(text, "state.toml").unwrap();
        let id = ApplicationIndex(0);
        let at = |port: &str, source| {
            let mut ports = (0..scenario.ports.len()).map(PortIndex);
            let port = ports.find(|it| scenario.port_name(*it) == port).unwrap();
            let frame = ObservedFrame {
                source,
                queued: 0,
                arrived: 5_000_000,
            };
            let (values, _) = traced(&scenario, port, &[frame], 1e6);
            values.keys().cloned().collect::<Vec<String>>()
        };
        let names = |hosts: &[&str]| {
            let ends = hosts.iter().flat_map(|host| {
                ["min_ns", "max_ns"].map(|end| format!("state \u{2192} {host}.position.{end}"))
            });
            ends.collect::<Vec<String>>()
        };
        let shared = at("host1 \u{2192} b", FlowSource::Publish(id));
        assert_eq!(shared, names(&["host2", "host3"]));
        let own = at("b \u{2192} host3", FlowSource::Branch(id, 1));
        assert_eq!(own, names(&["host3"]));
    }
}
