//! Rows of the comparison.

use serde::{Deserialize, Serialize};
use takt_figures::{Column, Table};

/// Resources and times of an architecture with a number of Providers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `sr-server`, `forwarded` or `classical`.
    pub architecture: String,
    /// Number of Providers.
    pub providers: usize,
    /// Number of Consumers at the same time.
    pub consumers: usize,
    /// Connections before the first Consumer starts.
    pub connections_before: usize,
    /// Connections after the discovery by all Consumers.
    pub connections_discovered: usize,
    /// Connections after all Consumers have read one Variable of each Provider.
    pub connections_read: usize,
    /// Bytes of messages in both directions until all Providers are ready.
    pub bytes_before: u64,
    /// Bytes of messages in both directions from then on until the Consumers have read.
    pub bytes_consumers: u64,
    /// Number of requests from then on.
    pub requests_consumers: u64,
    /// Time from the start of the first process until all Providers are ready, in ms.
    pub start_ms: f64,
    /// Time from a Consumer's first connection until it has discovered everything, in ms; the slowest Consumer counts.
    pub discover_ms: f64,
    /// Time from a Consumer's first connection until it has read one Variable of each Provider, in ms; the slowest Consumer
    /// counts.
    pub read_ms: f64,
    /// Median time of one Read, in µs; the slowest Consumer counts.
    pub read_us: f64,
    /// Reads per second of a Consumer that sends several before their responses arrive; the slowest Consumer counts.
    pub reads_per_second: f64,
    /// Proportional set size of all processes together, in MiB.
    pub pss_mib: f64,
    /// Proportional set size of the Consumers, in MiB; part of `pss_mib`.
    pub consumers_pss_mib: f64,
    /// Sum of the resident set sizes of all processes, in MiB. Shared memory counts for each process.
    pub rss_mib: f64,
}

/// Returns the table of all rows.
pub(super) fn table() -> Table {
    let number = |group: &str, name, width| Column::number(name).group(group).at_least(width);
    Table::new([
        Column::number("providers"),
        Column::text("architecture").at_least(9),
        number("connections", "before", 6),
        number("connections", "found", 6),
        number("connections", "read", 6),
        number("messages (KiB)", "before", 8),
        number("messages (KiB)", "then", 9),
        number("time (ms)", "start", 6),
        number("time (ms)", "found", 7),
        number("time (ms)", "read", 7),
        number("a Read", "µs", 7),
        number("a Read", "1/s", 7),
        number("memory (MiB)", "PSS", 7),
        number("memory (MiB)", "Consumers", 7),
        number("memory (MiB)", "RSS", 7),
    ])
}

impl Row {
    /// Returns the cells of the row.
    pub(super) fn cells(&self) -> [String; 15] {
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let kib = |bytes: u64| format!("{:.1}", bytes as f64 / 1024.0);
        let tenths = |value: f64| format!("{value:.1}");
        [
            self.providers.to_string(),
            self.architecture.clone(),
            self.connections_before.to_string(),
            self.connections_discovered.to_string(),
            self.connections_read.to_string(),
            kib(self.bytes_before),
            kib(self.bytes_consumers),
            format!("{:.0}", self.start_ms),
            tenths(self.discover_ms),
            tenths(self.read_ms),
            tenths(self.read_us),
            format!("{:.0}", self.reads_per_second),
            tenths(self.pss_mib),
            tenths(self.consumers_pss_mib),
            tenths(self.rss_mib),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_their_heads() {
        let row = Row {
            architecture: "classical".to_owned(),
            providers: 500,
            consumers: 2,
            connections_before: 0,
            connections_discovered: 1000,
            connections_read: 1000,
            bytes_before: 0,
            bytes_consumers: 10_240_000,
            requests_consumers: 5000,
            start_ms: 12345.0,
            discover_ms: 1111.5,
            read_ms: 1250.0,
            read_us: 123.4,
            reads_per_second: 123_456.0,
            pss_mib: 1234.5,
            consumers_pss_mib: 20.0,
            rss_mib: 2345.6,
        };
        let layout = table().layout(None);
        let head = layout.head();
        let line = layout.row(row.cells()).concat();
        let end = |text: &str, word: &str| {
            let end = text.find(word).unwrap() + word.len();
            text.get(..end).unwrap().chars().count()
        };
        for (name, value) in [
            ("providers", "500"),
            ("RSS", "2345.6"),
            ("PSS", "1234.5"),
            ("start", "12345"),
        ] {
            let head = head.last().unwrap();
            assert_eq!(end(head, name), end(&line, value), "{name}\n{head}\n{line}");
        }
    }
}
