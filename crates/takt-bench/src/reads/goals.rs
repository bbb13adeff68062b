//! Goals of the benchmark, and whether a run has met them.

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
    let mut add = |goal: &str, ratio: &Ratio, is_met: bool| {
        let verdict = if is_met { "met" } else { "missed" };
        let Ratio { median, low, high } = ratio;
        lines.push(format!(
            "goal {verdict}: {}: {goal}: {median:.2} ({low:.2}-{high:.2})",
            title(row)
        ));
    };
    if let Some(ratio) = &row.over_open62541 {
        add("as many Reads as open62541", ratio, ratio.high >= 1.0);
    }
    if let Some(ratio) = &row.p99_over_open62541 {
        add("p99 at most that of open62541", ratio, ratio.low <= 1.0);
    }
    let is_bounded =
        row.server == TAKT && row.security != "None" && (row.nodes, row.clients) == (1, 1);
    if let Some(ratio) = row.over_floor.as_ref().filter(|_| is_bounded) {
        let is_met = ratio.low <= MOST_OVER_FLOOR;
        add("p50 at most 1.3 of the floor", ratio, is_met);
    }
    lines
}
