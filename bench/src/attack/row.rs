//! Rows of the measurement, and their tables.

use serde::{Deserialize, Serialize};

use takt_attack::{Attack, Tally};
use takt_figures::number::measured;
use takt_figures::{Column, Table};
use takt_statistics::{GoalVerdict, SortedTimes};

use crate::measure::Percentiles;

/// The goal: the 99th percentile of the second client's latency beside an attack, in µs.
pub const GOAL: f64 = 10_000.0;

/// Result of one attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the attack.
    pub attack: String,
    /// Reads per second of each second client.
    pub rate_hz: u32,
    /// Results of the second clients.
    pub clients: Vec<ClientRow>,
    /// Resident memory of the server before the attack, in bytes.
    pub memory_before: u64,
    /// Largest resident memory of the server during the attack, in bytes.
    pub memory_peak: u64,
    /// Resident memory in bytes after the recovery of the server, or else 10 s after the attack.
    pub memory_after: u64,
    /// Descriptors of the server before the attack.
    pub descriptors_before: usize,
    /// Descriptors of the server at the same time as `memory_after`.
    pub descriptors_after: usize,
    /// True if memory and descriptors recovered within 10 s.
    pub recovered: bool,
    /// Longest slice of work that the server counted, in its units; left out if the server shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_slice: Option<u64>,
    /// Limit of a slice of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_limit: Option<u64>,
    /// Counts of the attackers.
    pub attackers: Tally,
    /// Reason why the measurement is not complete, for example the end of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Row {
    /// Creates the row of an attack that has not begun.
    pub(super) fn new(attack: Attack, rate: u32) -> Self {
        Self {
            attack: attack.name().to_owned(),
            rate_hz: rate,
            clients: Vec::new(),
            memory_before: 0,
            memory_peak: 0,
            memory_after: 0,
            descriptors_before: 0,
            descriptors_after: 0,
            recovered: false,
            longest_slice: None,
            slice_limit: None,
            attackers: Tally::default(),
            error: None,
        }
    }
}

/// Result of one second client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientRow {
    /// `opc.tcp` or `opc.iox2`.
    pub transport: String,
    /// Latency without the attack.
    pub idle: Percentiles,
    /// Latency beside the attack.
    pub attacked: Percentiles,
    /// Messages of failed requests.
    pub failures: Vec<String>,
    /// 99th percentile beside the attack in each round, in µs.
    pub rounds: Vec<f64>,
    /// Verdict of the rounds on the [`GOAL`].
    pub goal: GoalVerdict,
}

/// Returns the verdict of the 99th percentiles of the rounds on the [`GOAL`].
pub(super) fn goal(rounds: &[f64]) -> GoalVerdict {
    let estimate = SortedTimes::new(rounds.to_vec()).median_estimate();
    estimate.map_or(GoalVerdict::Undecided, |estimate| {
        GoalVerdict::at_most(&estimate, GOAL)
    })
}

/// Returns the table of latencies, without rows.
pub(super) fn latencies() -> Table {
    let number = |group: &str, name, width| Column::number(name).group(group).at_least(width);
    Table::new([
        Column::text("attack").at_least(18),
        Column::text("client").at_least(8),
        number("idle (ms)", "median", 7),
        number("idle (ms)", "p99", 7),
        number("idle (ms)", "max", 7),
        number("beside attack (ms)", "median", 7),
        number("beside attack (ms)", "p99", 7),
        number("beside attack (ms)", "max", 7),
        Column::text("p99 ≤ 10 ms").at_least(9),
    ])
}

/// Returns the rows of an attack in the table of latencies.
pub(super) fn latency_cells(row: &Row) -> Vec<Vec<String>> {
    let ms = |micros: f64| measured(micros / 1000.0);
    let cells = |(index, client): (usize, &ClientRow)| {
        let name = if index == 0 { row.attack.as_str() } else { "" };
        let verdict = match client.failures.is_empty() {
            false => "failed",
            true => client.goal.name(),
        };
        vec![
            name.to_owned(),
            client.transport.clone(),
            ms(client.idle.p50),
            ms(client.idle.p99),
            ms(client.idle.max),
            ms(client.attacked.p50),
            ms(client.attacked.p99),
            ms(client.attacked.max),
            verdict.to_owned(),
        ]
    };
    row.clients.iter().enumerate().map(cells).collect()
}

/// Returns the table of memory, descriptors and slices of work.
pub(super) fn usage(rows: &[Row]) -> Table {
    let number = |group: &str, name| Column::number(name).group(group);
    let mut table = Table::new([
        Column::text("attack"),
        number("memory (MiB)", "before"),
        number("memory (MiB)", "peak"),
        number("memory (MiB)", "after"),
        number("descriptors", "before"),
        number("descriptors", "after"),
        Column::text("recovered"),
        Column::text("longest slice (limit)"),
    ]);
    let mib = |bytes: u64| (bytes >> 20).to_string();
    for row in rows {
        let slice = match (row.longest_slice, row.slice_limit) {
            (Some(longest), Some(limit)) => format!("{longest} ({limit})"),
            _ => "not shown".to_owned(),
        };
        if let Some(error) = &row.error {
            table.text(format!("{}: {error}", row.attack));
            continue;
        }
        table.row([
            row.attack.clone(),
            mib(row.memory_before),
            mib(row.memory_peak),
            mib(row.memory_after),
            row.descriptors_before.to_string(),
            row.descriptors_after.to_string(),
            if row.recovered { "yes" } else { "no" }.to_owned(),
            slice,
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_six_rounds_decide_about_the_goal() {
        assert_eq!(goal(&[]), GoalVerdict::Undecided);
        assert_eq!(goal(&[1_000.0; 2]), GoalVerdict::Undecided);
        assert_eq!(goal(&[1_000.0; 6]), GoalVerdict::Shown);
        assert_eq!(goal(&[20_000.0; 6]), GoalVerdict::Refuted);
        let mixed = [1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0, 20_000.0];
        assert_eq!(goal(&mixed), GoalVerdict::Undecided);
    }

    #[test]
    fn lines_fit_a_terminal() {
        let percentiles = Percentiles {
            samples: 1,
            min: 1.0,
            p50: 50_000.0,
            p99: 99_999.0,
            p999: 1.0,
            max: 59_999_999.0,
        };
        let client = ClientRow {
            transport: "opc.iox2".to_owned(),
            idle: percentiles,
            attacked: percentiles,
            failures: vec!["x".to_owned()],
            rounds: Vec::new(),
            goal: GoalVerdict::Undecided,
        };
        let row = Row {
            attack: "abandoned-sessions".to_owned(),
            rate_hz: 100,
            clients: vec![client.clone(), client],
            memory_before: 64 << 30,
            memory_peak: 64 << 30,
            memory_after: 64 << 30,
            descriptors_before: 10_000,
            descriptors_after: 10_000,
            recovered: true,
            longest_slice: Some(1_000_000),
            slice_limit: Some(1_000_000),
            attackers: Tally::default(),
            error: None,
        };
        let layout = latencies().layout(None);
        let mut lines = layout.head();
        lines.extend(
            latency_cells(&row)
                .into_iter()
                .flat_map(|cells| layout.row(cells)),
        );
        lines.extend(usage(&[row]).lines(None));
        for line in lines {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
