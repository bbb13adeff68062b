//! What was measured beside one attack, as lines for people and objects for programs.

use serde::{Deserialize, Serialize};

use super::target::Tally;
use crate::measure::Percentiles;

/// The goal: the 99th percentile of the second client's latency beside an attack, in µs.
pub const GOAL: f64 = 10_000.0;

/// One attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub attack: String,
    /// Reads per second of each second client.
    pub rate_hz: u32,
    /// The second clients.
    pub clients: Vec<ClientRow>,
    /// Resident memory of the server before the attack, in bytes.
    pub memory_before: u64,
    /// The most during the attack.
    pub memory_peak: u64,
    /// After it, when the server had recovered, or else 10 s later.
    pub memory_after: u64,
    /// Descriptors of the server before the attack.
    pub descriptors_before: usize,
    /// After it, as for memory.
    pub descriptors_after: usize,
    /// Whether both were as before within 10 s.
    pub recovered: bool,
    /// The longest slice of work that the server counted, in its units, and the limit; left out if the server shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_slice: Option<u64>,
    /// The limit of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_limit: Option<u64>,
    /// What the attackers did.
    pub attackers: Tally,
    /// Why it could not be measured to its end, for example because the server ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One second client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientRow {
    /// `opc.tcp` or `opc.iox2`.
    pub transport: String,
    /// Without attack.
    pub idle: Percentiles,
    /// Beside the attack.
    pub attacked: Percentiles,
    /// Requests that failed.
    pub failures: Vec<String>,
    /// Whether the 99th percentile beside the attack is within the [`GOAL`].
    pub within_goal: bool,
}

/// The head of the table of latencies.
pub(super) const HEAD: [&str; 2] = [
    "                            │        idle (ms)        │    beside attack (ms)     │ p99",
    "attack             client   │  median     p99     max │  median      p99      max │ ≤ 10 ms",
];

/// The head of the table of memory.
pub(super) const USAGE_HEAD: [&str; 2] = [
    "                   │     memory (MiB)      │  descriptors  │          │  longest slice",
    "attack             │ before   peak   after │ before  after │ recovered│  (limit)",
];

/// The lines of an attack in the table of latencies.
pub(super) fn latency_lines(row: &Row) -> Vec<String> {
    let ms = |micros: f64| {
        let ms = micros / 1000.0;
        if ms < 100.0 {
            format!("{ms:.3}")
        } else {
            format!("{ms:.0}")
        }
    };
    let line = |(index, client): (usize, &ClientRow)| {
        let name = if index == 0 { row.attack.as_str() } else { "" };
        let verdict = match (client.failures.is_empty(), client.within_goal) {
            (false, _) => "failed",
            (true, true) => "yes",
            (true, false) => "no",
        };
        format!(
            "{name:<18} {:<8} │ {:>7} {:>7} {:>7} │ {:>7} {:>8} {:>8} │ {verdict}",
            client.transport,
            ms(client.idle.p50),
            ms(client.idle.p99),
            ms(client.idle.max),
            ms(client.attacked.p50),
            ms(client.attacked.p99),
            ms(client.attacked.max),
        )
    };
    row.clients.iter().enumerate().map(line).collect()
}

/// The line of an attack in the table of memory.
pub(super) fn usage_line(row: &Row) -> String {
    let mib = |bytes: u64| bytes >> 20;
    let slice = match (row.longest_slice, row.slice_limit) {
        (Some(longest), Some(limit)) => format!("{longest} ({limit})"),
        _ => "not shown".to_owned(),
    };
    if let Some(error) = &row.error {
        let short: String = error.chars().take(75).collect();
        return format!("{:<18} │ {short}", row.attack);
    }
    format!(
        "{:<18} │ {:>6} {:>6} {:>7} │ {:>6} {:>6} │ {:<8} │  {slice}",
        row.attack,
        mib(row.memory_before),
        mib(row.memory_peak),
        mib(row.memory_after),
        row.descriptors_before,
        row.descriptors_after,
        if row.recovered { "yes" } else { "no" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
            within_goal: false,
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
        let mut lines = latency_lines(&row);
        lines.push(usage_line(&row));
        lines.extend(HEAD.iter().chain(&USAGE_HEAD).map(ToString::to_string));
        for line in lines {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
