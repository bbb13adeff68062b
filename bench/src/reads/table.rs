//! Rows and the table of the benchmark.

use std::fmt;

use serde::Serialize;
use takt_figures::number::measured;
use takt_figures::{Column, Table};
use takt_statistics::{Estimate, GoalVerdict, SortedTimes};

use super::series::{Round, Series};
use super::subjects::Subject;
use crate::measure::Percentiles;

/// A ratio of two series: the median of the ratios of their rounds, with a 95 % confidence interval of order statistics.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Ratio {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) rounds: usize,
}

impl Ratio {
    fn estimate(&self) -> Estimate {
        Estimate {
            value: self.median,
            low: self.low,
            high: self.high,
            count: self.rounds,
        }
    }

    pub(super) fn is_at_most(&self, limit: f64) -> GoalVerdict {
        GoalVerdict::at_most(&self.estimate(), limit)
    }

    pub(super) fn is_at_least(&self, limit: f64) -> GoalVerdict {
        GoalVerdict::at_least(&self.estimate(), limit)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            median, low, high, ..
        } = self;
        write!(formatter, "{median:.2} ({low:.2}-{high:.2})")
    }
}

/// Result of one server.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) security: &'static str,
    pub(super) nodes: u32,
    pub(super) clients: u32,
    pub(super) server: &'static str,
    pub(super) reads_per_second: f64,
    pub(super) latency_us: Percentiles,
    /// Median beside that of the floor.
    pub(super) over_floor: Option<Ratio>,
    /// Reads per second beside those of open62541.
    pub(super) over_open62541: Option<Ratio>,
    /// 99th percentile beside that of open62541.
    pub(super) p99_over_open62541: Option<Ratio>,
}

/// Returns the rows of all series.
pub(super) fn rows(all: &[Series]) -> Vec<Row> {
    all.iter().map(|series| row(series, all)).collect()
}

fn row(series: &Series, all: &[Series]) -> Row {
    let other = |subject| {
        all.iter().find(|other| {
            other.subject == subject
                && series.subject != subject
                && other.case == series.case
                && other.security == series.security
        })
    };
    let floor = other(Subject::Floor);
    let foreign = other(Subject::Open62541).filter(|_| series.subject == Subject::Takt);
    let speeds = series.rounds.iter().map(|round| round.reads_per_second);
    let speeds = SortedTimes::new(speeds.collect());
    Row {
        security: series.security.name(),
        nodes: series.case.nodes,
        clients: series.case.clients,
        server: series.subject.name(series.security),
        reads_per_second: speeds.median().unwrap_or_default(),
        latency_us: series.durations.percentiles(),
        over_floor: floor.and_then(|floor| ratio(series, floor, |round| round.p50)),
        over_open62541: foreign
            .and_then(|foreign| ratio(series, foreign, |round| round.reads_per_second)),
        p99_over_open62541: foreign.and_then(|foreign| ratio(series, foreign, |round| round.p99)),
    }
}

/// Returns the ratio of a quantity of each round.
fn ratio(series: &Series, other: &Series, quantity: impl Fn(&Round) -> f64) -> Option<Ratio> {
    let rounds = series.rounds.iter().zip(&other.rounds);
    let ratios = rounds
        .map(|(own, other)| quantity(own) / quantity(other))
        .filter(|ratio| ratio.is_finite());
    let estimate = SortedTimes::new(ratios.collect()).median_estimate()?;
    Some(Ratio {
        median: estimate.value,
        low: estimate.low,
        high: estimate.high,
        rounds: estimate.count,
    })
}

/// Returns the table, with a section for each SecurityPolicy and case.
pub(super) fn table(rows: &[Row]) -> Table {
    let time = |name| Column::number(name).unit("µs");
    let mut table = Table::new([
        Column::text("server"),
        Column::number("Reads").unit("1/s"),
        time("p50"),
        time("p99"),
        Column::number("p50 / floor"),
        Column::number("1/s / open62541"),
        Column::number("p99 / open62541"),
    ]);
    let mut section = None;
    for row in rows {
        let now = (row.security, row.nodes, row.clients);
        if section != Some(now) {
            if section.is_some() {
                table.text("");
            }
            table.text(title(row));
            section = Some(now);
        }
        let ratio = |ratio: Option<Ratio>| ratio.map_or_else(String::new, |it| it.to_string());
        let latency = &row.latency_us;
        table.row([
            row.server.to_owned(),
            format!("{:.0}", row.reads_per_second),
            measured(latency.p50),
            measured(latency.p99),
            ratio(row.over_floor),
            ratio(row.over_open62541),
            ratio(row.p99_over_open62541),
        ]);
    }
    table
}

/// Returns the case of a row, in words.
pub(super) fn title(row: &Row) -> String {
    let Row {
        security,
        nodes,
        clients,
        ..
    } = row;
    let nodes = match nodes {
        1 => "1 node".to_owned(),
        nodes => format!("{nodes} nodes"),
    };
    match clients {
        1 => format!("{security}: Reads of {nodes}"),
        clients => format!("{security}: Reads of {nodes} by {clients} clients at once"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use super::super::subjects::Security;
    use super::*;
    use crate::measure::Samples;

    fn series(subject: Subject, rounds: &[(f64, f64)]) -> Series {
        let rounds = rounds.iter().map(|&(p50, reads_per_second)| Round {
            p50,
            p99: 2.0 * p50,
            reads_per_second,
        });
        Series {
            security: Security(None),
            case: Case {
                nodes: 1,
                clients: 1,
            },
            subject,
            durations: Samples::nanos(),
            rounds: rounds.collect(),
        }
    }

    #[test]
    fn ratios_are_those_of_rounds() {
        let all = [
            series(Subject::Floor, &[(10.0, 100.0), (20.0, 50.0)]),
            series(Subject::Takt, &[(12.0, 90.0), (22.0, 45.0)]),
            series(Subject::Open62541, &[(24.0, 45.0), (22.0, 45.0)]),
        ];
        let [floor, takt, foreign] = &rows(&all)[..] else {
            panic!("three rows");
        };
        assert_eq!((floor.over_floor, floor.over_open62541), (None, None));
        let over = takt.over_floor.unwrap();
        assert!((over.median - 1.15).abs() < 1e-9 && (over.high - 1.2).abs() < 1e-9);
        let faster = takt.over_open62541.unwrap();
        assert!((faster.median - 1.5).abs() < 1e-9 && (faster.low - 1.0).abs() < 1e-9);
        let tail = takt.p99_over_open62541.unwrap();
        assert!((tail.median - 0.75).abs() < 1e-9);
        assert_eq!(tail.to_string(), "0.75 (0.50-1.00)");
        assert!(foreign.over_floor.is_some() && foreign.over_open62541.is_none());
        assert_eq!(table(&rows(&all)).lines(Some(120)).len(), 6);
    }
}
