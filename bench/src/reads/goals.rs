//! Goals of the benchmark, and whether a run shows or refutes them.

use takt_statistics::GoalVerdict;

use super::subjects::TAKT;
use super::table::{Ratio, Row, title};

/// Largest median of a secured Read of one node beside the floor.
const MOST_OVER_FLOOR: f64 = 1.3;

/// Returns a line for each goal of each row of Takt.
pub(super) fn verdicts(rows: &[Row]) -> Vec<String> {
    rows.iter().flat_map(of_row).collect()
}

fn of_row(row: &Row) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |goal: &str, ratio: &Ratio, verdict: GoalVerdict| {
        lines.push(format!("goal {verdict}: {}: {goal}: {ratio}", title(row)));
    };
    if let Some(ratio) = &row.over_open62541 {
        add("as many Reads as open62541", ratio, ratio.is_at_least(1.0));
    }
    if let Some(ratio) = &row.p99_over_open62541 {
        add(
            "p99 at most that of open62541",
            ratio,
            ratio.is_at_most(1.0),
        );
    }
    let is_bounded =
        row.server == TAKT && row.security != "None" && (row.nodes, row.clients) == (1, 1);
    if let Some(ratio) = row.over_floor.as_ref().filter(|_| is_bounded) {
        add(
            "p50 at most 1.3 of the floor",
            ratio,
            ratio.is_at_most(MOST_OVER_FLOOR),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Samples;

    fn ratio(low: f64, high: f64) -> Option<Ratio> {
        Some(Ratio {
            median: f64::midpoint(low, high),
            low,
            high,
            rounds: 20,
        })
    }

    #[test]
    fn the_whole_interval_shows_or_refutes_a_goal() {
        let row = |over_floor, speed, tail| Row {
            security: "Basic256Sha256",
            nodes: 1,
            clients: 1,
            server: TAKT,
            reads_per_second: 1.0,
            latency_us: Samples::nanos().percentiles(),
            over_floor,
            over_open62541: speed,
            p99_over_open62541: tail,
        };
        let shown = row(ratio(1.2, 1.3), ratio(1.0, 1.1), ratio(0.9, 1.0));
        let undecided = row(ratio(1.2, 1.4), ratio(0.9, 1.1), ratio(0.9, 1.1));
        let refuted = row(ratio(1.4, 1.5), ratio(0.8, 0.9), ratio(1.1, 1.2));
        for (row, verdict) in [
            (shown, "goal shown: "),
            (undecided, "goal undecided: "),
            (refuted, "goal refuted: "),
        ] {
            let lines = verdicts(&[row]);
            assert_eq!(lines.len(), 3);
            assert!(
                lines.iter().all(|line| line.starts_with(verdict)),
                "{lines:?}"
            );
        }
    }
}
