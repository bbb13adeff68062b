//! The paper's Tables 1 and 2, with a row for each subject instead of a column, and sweeps over the payload.

use takt_figures::number::measured;
use takt_figures::{Column, Table};

use super::row::{Row, Series};
use super::sizes;

/// Properties that the rows of a table have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scope<'a> {
    pub(super) placement: &'a str,
    /// Bytes of the value; `None` for all sizes.
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

/// Names of Read and Write in the paper.
const OPERATIONS: [(&str, &str); 2] = [("Read", "GetValue()"), ("Write", "SetValue()")];

/// A statistic and the function that returns it.
type Metric = (&'static str, fn(&Series) -> f64);
const METRICS: [Metric; 4] = [
    ("Min", |series| series.min),
    ("Median", |series| series.median),
    ("Mean", |series| series.mean),
    ("Max", |series| series.max),
];

/// Returns the columns that each table begins with.
fn begin() -> Vec<Column> {
    let names = ["operation", "subject", "wait", "value"];
    names.map(Column::text).to_vec()
}

/// Returns the cells of the columns that each table begins with.
fn first(operation: &str, row: &Row) -> Vec<String> {
    vec![
        operation.to_owned(),
        row.subject(),
        row.wait.clone(),
        row.access.clone(),
    ]
}

/// Returns title and table of one payload, with a row for each subject.
pub(super) fn latency(rows: &[Row], scope: Scope<'_>, number: usize) -> (String, Table) {
    let series = rows.iter().map(|row| row.series.len()).max().unwrap_or(0);
    let payload = sizes::text(scope.payload_bytes.unwrap_or(0));
    let title = format!(
        "Table {number}: latency (µs) of GetValue() and SetValue() with {payload} payload, {}",
        scope.cores()
    );
    let mut columns = begin();
    for (metric, _) in METRICS {
        let numbers = (1..=series).map(|number| format!("M{number}"));
        columns.extend(numbers.map(|name| Column::number(name).group(metric)));
    }
    let mut table = Table::new(columns);
    for (service, operation) in OPERATIONS {
        for row in scope.rows(rows, service) {
            let mut cells = first(operation, row);
            for (_, metric) in METRICS {
                let missing = series - row.series.len();
                cells.extend(row.series.iter().map(|series| measured(metric(series))));
                cells.extend(std::iter::repeat_n(String::new(), missing));
            }
            table.row(cells);
        }
    }
    (title, table)
}

/// Returns title and table of the medians of a sweep: a row for each subject, a column for each payload.
pub(super) fn sweep(rows: &[Row], placement: &str) -> (String, Table) {
    let scope = Scope {
        placement,
        payload_bytes: None,
    };
    let mut payloads: Vec<usize> = rows.iter().map(|row| row.payload_bytes).collect();
    payloads.sort_unstable();
    payloads.dedup();
    let title = format!("Median latency (µs) over payload, {}", scope.cores());
    let sizes = payloads.iter().map(|bytes| sizes::text(*bytes));
    let mut table = Table::new(begin().into_iter().chain(sizes.map(Column::number)));
    for (service, operation) in OPERATIONS {
        let rows = scope.rows(rows, service);
        let mut begun: Vec<Vec<String>> = Vec::new();
        for row in &rows {
            let begin = first(operation, row);
            if begun.contains(&begin) {
                continue;
            }
            let median = |bytes: &usize| {
                let same = |other: &&&Row| {
                    other.payload_bytes == *bytes && first(operation, other) == begin
                };
                let found = rows.iter().find(same);
                found.map_or(String::new(), |row| measured(row.median))
            };
            let medians: Vec<String> = payloads.iter().map(median).collect();
            table.row([begin.clone(), medians].concat());
            begun.push(begin);
        }
    }
    (title, table)
}
