//! Names of times and of their statistics.

use serde_json::Value;
use takt_scenario::Scenario;

use crate::row::Quantities;

/// Names of the statistics of times, besides their number.
const STATISTICS: [&str; 6] = [
    "min_ns",
    "mean_ns",
    "median_ns",
    "p99_ns",
    "p99_9_ns",
    "max_ns",
];

/// Adds the cycle of each application: some requirements count in cycles.
pub(super) fn add_cycles(quantities: &mut Quantities, scenario: &Scenario) {
    for application in &scenario.applications {
        let nanos = application.cycle.0 as f64 / 1000.0;
        quantities.insert(format!("{}.cycle_ns", application.name), nanos.into());
    }
}

/// Adds the number of times, and their statistics: least, mean, median, 99 % and 99.9 % quantile, greatest.
pub(super) fn add(
    quantities: &mut Quantities,
    name: &str,
    kind: &str,
    count: u64,
    times: [Value; 6],
) {
    quantities.insert(format!("{name}.{kind}.count"), count.into());
    for (statistic, time) in STATISTICS.iter().zip(times) {
        quantities.insert(format!("{name}.{kind}.{statistic}"), time);
    }
}
