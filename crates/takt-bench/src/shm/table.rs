//! The paper's Tables 1 and 2, a line for each subject instead of a column, and sweeps over the payload.

use super::row::{Row, Series};
use super::sizes;

/// What a table is about: rows that have these in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scope<'a> {
    pub(super) placement: &'a str,
    /// `None`: all.
    pub(super) payload_bytes: Option<usize>,
}

impl Scope<'_> {
    fn rows<'r>(&self, rows: &'r [Row], service: &str) -> Vec<&'r Row> {
        let wanted = |row: &&Row| {
            row.placement == self.placement
                && row.service == service
                && self
                    .payload_bytes
                    .is_none_or(|bytes| row.payload_bytes == bytes)
        };
        rows.iter().filter(wanted).collect()
    }

    fn cores(&self) -> &'static str {
        match self.placement {
            "same" => "client and server on one core",
            _ => "client and server on different cores",
        }
    }
}

/// The paper's names of Read and Write.
const OPERATIONS: [(&str, &str); 2] = [("Read", "GetValue()"), ("Write", "SetValue()")];

/// A statistic, and how to get it.
type Metric = (&'static str, fn(&Series) -> f64);
const METRICS: [Metric; 4] = [
    ("Min", |series| series.min),
    ("Median", |series| series.median),
    ("Mean", |series| series.mean),
    ("Max", |series| series.max),
];

/// What every line begins with.
fn begin(operation: &str, row: Option<&Row>) -> String {
    let (subject, wait, access) = row.map_or_else(
        || ("subject".to_owned(), "wait", "value"),
        |row| (row.subject(), row.wait.as_str(), row.access.as_str()),
    );
    format!("{operation:<10} {subject:<26} {wait:<8} {access:<8}")
}

/// A table of one payload: a line for each subject.
pub(super) fn latency(rows: &[Row], scope: Scope<'_>, number: usize) -> Vec<String> {
    let series = rows.iter().map(|row| row.series.len()).max().unwrap_or(0);
    let payload = sizes::text(scope.payload_bytes.unwrap_or(0));
    let mut metrics = begin("", None).replace(|c: char| c != ' ', " ");
    let mut head = begin("operation", None);
    for (metric, _) in METRICS {
        metrics.push_str(&format!(" │{metric:^width$}", width = series * 9));
        head.push_str(" │");
        for number in 1..=series {
            head.push_str(&format!("{:>9}", format!("M{number}")));
        }
    }
    let title = format!(
        "Table {number}: latency (µs) of GetValue() and SetValue() with {payload} payload, {}",
        scope.cores()
    );
    let mut lines = vec![String::new(), title, metrics.trim_end().to_owned(), head];
    for (service, operation) in OPERATIONS {
        for row in scope.rows(rows, service) {
            let mut line = begin(operation, Some(row));
            for (_, metric) in METRICS {
                line.push_str(" │");
                for series in &row.series {
                    line.push_str(&format!(" {:>8}", micros(metric(series))));
                }
            }
            lines.push(line);
        }
    }
    lines
}

/// The medians of a sweep: a line for each subject, a column for each payload.
pub(super) fn sweep(rows: &[Row], placement: &str) -> Vec<String> {
    let scope = Scope {
        placement,
        payload_bytes: None,
    };
    let mut payloads: Vec<usize> = rows.iter().map(|row| row.payload_bytes).collect();
    payloads.sort_unstable();
    payloads.dedup();
    let title = format!("Median latency (µs) over payload, {}", scope.cores());
    let mut head = begin("operation", None);
    for bytes in &payloads {
        head.push_str(&format!(" {:>8}", sizes::text(*bytes)));
    }
    let mut lines = vec![String::new(), title, head];
    for (service, operation) in OPERATIONS {
        let rows = scope.rows(rows, service);
        let mut begun: Vec<String> = Vec::new();
        for row in &rows {
            let begin = begin(operation, Some(row));
            if begun.contains(&begin) {
                continue;
            }
            let mut line = begin.clone();
            for bytes in &payloads {
                let same = |other: &&&Row| {
                    other.payload_bytes == *bytes && self::begin(operation, Some(other)) == begin
                };
                let median = rows.iter().find(same).map(|row| micros(row.median));
                line.push_str(&format!(" {:>8}", median.unwrap_or_default()));
            }
            begun.push(begin);
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

/// As many digits as mean something.
fn micros(value: f64) -> String {
    match value {
        value if value < 100.0 => format!("{value:.3}"),
        value => format!("{value:.1}"),
    }
}
