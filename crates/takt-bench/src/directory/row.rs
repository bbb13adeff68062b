//! One architecture with so many Providers.

use serde::{Deserialize, Serialize};

/// What an architecture takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `sr-server` or `classical`.
    pub architecture: String,
    /// Providers.
    pub providers: usize,
    /// Consumers, at the same time.
    pub consumers: usize,
    /// Connections while no Consumer is there.
    pub connections_before: usize,
    /// Connections once the Consumers have discovered everything.
    pub connections_discovered: usize,
    /// Connections once they have read one Variable of each Provider.
    pub connections_read: usize,
    /// Bytes of messages, both ways, until all Providers are ready.
    pub bytes_before: u64,
    /// Bytes of messages, both ways, from then on until the Consumers have read.
    pub bytes_consumers: u64,
    /// Requests from then on.
    pub requests_consumers: u64,
    /// From the first process until all Providers are ready, in ms.
    pub start_ms: f64,
    /// From a Consumer's first connection until it has discovered everything, in ms: the slowest one.
    pub discover_ms: f64,
    /// The same until it has read one Variable of each Provider.
    pub read_ms: f64,
    /// Proportional set size of all processes together, in MiB.
    pub pss_mib: f64,
    /// Of that, the Consumers'.
    pub consumers_pss_mib: f64,
    /// Resident set sizes of all processes added up, in MiB: what they share counts for each.
    pub rss_mib: f64,
}

impl Row {
    /// The table's head.
    pub(super) fn head() -> [String; 2] {
        [
            format!(
                "{:>9}  {:<11} {:^31}  {:^19}  {:^26}  {:^25}",
                "", "", "connections", "KiB of messages", "ms", "MiB"
            ),
            format!(
                "{:>9}  {:<11} {:>9} {:>12} {:>8}  {:>9} {:>9}  {:>8} {:>10} {:>6}  {:>7} {:>9} {:>7}",
                "providers",
                "",
                "before",
                "discovered",
                "read",
                "before",
                "consumers",
                "start",
                "discovered",
                "read",
                "PSS",
                "Consumers",
                "RSS"
            ),
        ]
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let kib = |bytes: u64| bytes as f64 / 1024.0;
        write!(
            f,
            "{:>9}  {:<11} {:>9} {:>12} {:>8}  {:>9.1} {:>9.1}  {:>8.0} {:>10.1} {:>6.1}  {:>7.1} {:>9.1} {:>7.1}",
            self.providers,
            self.architecture,
            self.connections_before,
            self.connections_discovered,
            self.connections_read,
            kib(self.bytes_before),
            kib(self.bytes_consumers),
            self.start_ms,
            self.discover_ms,
            self.read_ms,
            self.pss_mib,
            self.consumers_pss_mib,
            self.rss_mib
        )
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
            pss_mib: 1234.5,
            consumers_pss_mib: 20.0,
            rss_mib: 2345.6,
        };
        let [_, head] = Row::head();
        let line = row.to_string();
        let end = |text: &str, word: &str| text.find(word).unwrap() + word.len();
        for (name, value) in [
            ("providers", "500"),
            ("RSS", "2345.6"),
            ("PSS", "1234.5"),
            ("start", "12345"),
        ] {
            assert_eq!(
                end(&head, name),
                end(&line, value),
                "{name}\n{head}\n{line}"
            );
        }
    }
}
