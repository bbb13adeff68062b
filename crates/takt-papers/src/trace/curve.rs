//! Curves and quantities of traces.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use takt_scenario::Scenario;

/// Most points of a curve.
const MOST_POINTS: usize = 400;

/// A curve of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceCurve {
    /// Name of its flow; empty if there is one.
    pub label: String,
    /// Points: microseconds, and a share, a number of frames, or a credit in bits.
    pub points: Vec<(f64, f64)>,
}

/// Values and curves of a trace.
pub(super) type Traced = (Map<String, Value>, Vec<TraceCurve>);

/// Returns the name of the first application.
pub(super) fn application(scenario: &Scenario) -> &str {
    let first = scenario.applications.first();
    first.map_or("", |it| it.name.as_str())
}

/// Returns every so many points of a long list, with both ends.
pub(super) fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.into_iter().enumerate();
    let kept = kept.filter(|(index, _)| index % step == 0 || *index == last);
    kept.map(|(_, point)| point).collect()
}
