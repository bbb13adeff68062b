//! Ratios of the figures. Within one run they hold, whatever the machine.
//!
//! Each ratio is taken within a series, because both parts were measured one soon after the other. The median of the ratios
//! counts: a disturbance of one series affects one ratio.

use serde::{Deserialize, Serialize};
use takt_figures::{Column, Table};
use takt_statistics::{GoalVerdict, SortedTimes};

use super::row::Row;

/// Comparison of two measurements of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Dividend and divisor.
    pub ratio: String,
    /// `same` or `diff`, as in the rows.
    pub placement: String,
    /// Median of the ratios of the series; `None` if there is none.
    pub value: Option<f64>,
    /// Ratios of the medians in each series, in ascending order. A series is left out if its divisor, a difference, is lost in
    /// noise and not above zero.
    pub series: Vec<f64>,
    /// Goal: the largest ratio that reaches it.
    pub at_most: f64,
}

impl Ratio {
    fn new(ratio: String, placement: &str, above: &[f64], below: &[f64], at_most: f64) -> Self {
        let pairs = above.iter().zip(below);
        let ratios = pairs
            .filter(|(_, below)| **below > 0.0)
            .map(|(above, below)| above / below);
        let series = SortedTimes::new(ratios.collect());
        Self {
            ratio,
            placement: placement.to_owned(),
            value: series.median(),
            series: series.values().to_vec(),
            at_most,
        }
    }

    /// Returns what the series say about the goal. `None` without a ratio.
    #[must_use]
    pub fn verdict(&self) -> Option<GoalVerdict> {
        let estimate = SortedTimes::new(self.series.clone()).median_estimate()?;
        Some(GoalVerdict::at_most(&estimate, self.at_most))
    }
}

/// Returns a table of ratios.
pub(super) fn table(ratios: &[Ratio]) -> Table {
    let mut table = Table::new([
        Column::text("ratio of medians"),
        Column::text("cores"),
        Column::number("median"),
        Column::number("of the series"),
        Column::number("at most"),
        Column::text("goal"),
    ]);
    for ratio in ratios {
        let range = match (ratio.series.first(), ratio.series.last()) {
            (Some(least), Some(most)) => format!("{least:.3}..{most:.3}"),
            _ => String::new(),
        };
        let goal = ratio.verdict().unwrap_or(GoalVerdict::Undecided);
        table.row([
            ratio.ratio.clone(),
            ratio.placement.clone(),
            ratio
                .value
                .map_or("noise".to_owned(), |value| format!("{value:.3}")),
            range,
            format!("{:.2}", ratio.at_most),
            goal.to_string(),
        ]);
    }
    table
}

/// Rows of one placement.
struct Rows<'a> {
    rows: &'a [Row],
    placement: &'a str,
}

impl Rows<'_> {
    /// Returns the medians of a Read, one of each series.
    fn read(&self, transport: &str, wait: &str, access: &str, bytes: usize) -> Option<Vec<f64>> {
        self.read_beside(0, transport, wait, access, bytes)
    }

    /// Returns the same medians beside idle Consumers.
    fn read_beside(
        &self,
        idle_consumers: usize,
        transport: &str,
        wait: &str,
        access: &str,
        bytes: usize,
    ) -> Option<Vec<f64>> {
        let found = self.rows.iter().find(|row| {
            row.placement == self.placement
                && row.service == "Read"
                && row.idle_consumers == idle_consumers
                && row.peer != OPEN62541
                && (row.transport.as_str(), row.wait.as_str()) == (transport, wait)
                && (row.access.as_str(), row.payload_bytes) == (access, bytes)
        });
        found.map(medians)
    }

    /// Returns the medians of open62541's Read.
    fn open62541(&self, bytes: usize) -> Option<Vec<f64>> {
        let found = self.rows.iter().find(|row| {
            row.placement == self.placement
                && row.service == "Read"
                && row.peer == OPEN62541
                && row.payload_bytes == bytes
        });
        found.map(medians)
    }
}

fn medians(row: &Row) -> Vec<f64> {
    row.series.iter().map(|series| series.median).collect()
}

const OPEN62541: &str = "open62541";
const SMALL: usize = 4;
const LARGE: usize = 4096;

/// Returns all ratios whose parts were measured.
pub(super) fn list(rows: &[Row], idle_consumers: usize) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for placement in ["diff", "same"] {
        let rows = Rows { rows, placement };
        let mut add = |ratio: String, parts: Option<(Vec<f64>, Vec<f64>)>, at_most| {
            if let Some((above, below)) = parts {
                ratios.push(Ratio::new(ratio, placement, &above, &below, at_most));
            }
        };
        let in_place = |bytes| rows.read("opc.iox2", "spin", "in place", bytes);
        add(
            "Read 4 B in place, spin / iceoryx2 request-response of the same size".to_owned(),
            in_place(SMALL).zip(rows.read("iceoryx2 req-res", "spin", "bytes", SMALL)),
            1.5,
        );
        add(
            "Read 4096 B / Read 4 B, in place, spin".to_owned(),
            in_place(LARGE).zip(in_place(SMALL)),
            1.15,
        );
        let extra = |transport, access| {
            let large = rows.read(transport, "spin", access, LARGE)?;
            let small = rows.read(transport, "spin", access, SMALL)?;
            let extra = large.iter().zip(&small).map(|(large, small)| large - small);
            Some(extra.collect::<Vec<_>>())
        };
        add(
            "extra of 4096 B over 4 B, copied, spin / extra of a bare spinning exchange".to_owned(),
            extra("opc.iox2", "copied").zip(extra("shared memory echo", "bytes")),
            1.5,
        );
        for bytes in [SMALL, LARGE] {
            for (wait, at_most) in [("spin", 0.1), ("sleep", 0.65)] {
                let read = rows.read("opc.iox2", wait, "copied", bytes);
                add(
                    format!("Read {bytes} B, {wait} / open62541 Read over TCP"),
                    read.zip(rows.open62541(bytes)),
                    at_most,
                );
            }
        }
        for wait in ["spin", "sleep"] {
            let read = |idle| rows.read_beside(idle, "opc.iox2", wait, "copied", SMALL);
            if idle_consumers > 0 {
                add(
                    format!("Read 4 B, {wait}, with {idle_consumers} idle Consumers / with none"),
                    read(idle_consumers).zip(read(0)),
                    1.1,
                );
            }
        }
    }
    ratios
}

#[cfg(test)]
mod tests {
    use super::super::row::Series;
    use super::*;

    fn row(
        peer: &str,
        transport: &str,
        wait: &str,
        access: &str,
        bytes: usize,
        median: f64,
    ) -> Row {
        Row {
            peer: peer.to_owned(),
            transport: transport.to_owned(),
            service: "Read".to_owned(),
            access: access.to_owned(),
            payload_bytes: bytes,
            placement: "diff".to_owned(),
            wait: wait.to_owned(),
            idle_consumers: 0,
            rate_hz: None,
            scheduling: "SCHED_FIFO 50".to_owned(),
            iterations: 1000,
            series: vec![
                Series {
                    min: median,
                    median,
                    mean: median,
                    max: median,
                };
                6
            ],
            median,
            p99: median,
        }
    }

    fn rows() -> Vec<Row> {
        vec![
            row("takt", "opc.iox2", "spin", "in place", 4, 1.5),
            row("takt", "opc.iox2", "spin", "in place", 4096, 1.8),
            row("takt", "opc.iox2", "spin", "copied", 4, 1.6),
            row("takt", "opc.iox2", "spin", "copied", 4096, 2.6),
            row("takt", "opc.iox2", "sleep", "copied", 4, 10.0),
            row("takt", "opc.tcp", "blocking", "copied", 4, 30.0),
            row("open62541", "opc.tcp", "blocking", "copied", 4, 20.0),
            row("floor", "iceoryx2 req-res", "spin", "bytes", 4, 1.0),
            row("floor", "shared memory echo", "spin", "bytes", 4, 0.2),
            row("floor", "shared memory echo", "spin", "bytes", 4096, 0.7),
        ]
    }

    #[test]
    fn ratios_are_those_of_the_rows() {
        let ratios = list(&rows(), 0);
        let expected = [1.5, 1.2, 2.0, 0.08, 0.5];
        use GoalVerdict::{Refuted, Shown};
        let verdicts = [Shown, Refuted, Refuted, Shown, Shown];
        assert_eq!(ratios.len(), expected.len(), "{ratios:?}");
        for ((ratio, expected), verdict) in ratios.iter().zip(expected).zip(verdicts) {
            let value = ratio.value.unwrap();
            assert!((value - expected).abs() < 1e-9, "{ratio:?} {expected}");
            assert_eq!(ratio.verdict(), Some(verdict), "{ratio:?}");
        }
    }

    #[test]
    fn idle_consumers_are_compared_with_none() {
        let mut rows = rows();
        let mut beside = Row {
            idle_consumers: 255,
            ..rows[4].clone()
        };
        for series in &mut beside.series {
            series.median = 12.0;
        }
        rows.push(beside);
        let ratios = list(&rows, 255);
        let found = ratios.iter().find(|ratio| ratio.ratio.contains("255 idle"));
        assert!((found.unwrap().value.unwrap() - 1.2).abs() < 1e-9);
    }

    #[test]
    fn a_disturbed_series_is_one_of_several() {
        let ratio = |above: &[f64], below: &[f64]| {
            Ratio::new("a / b".to_owned(), "diff", above, below, 1.0)
        };
        let disturbed = ratio(&[1.0, 90.0, 2.0], &[2.0, 2.0, 2.0]);
        assert_eq!(disturbed.value, Some(1.0));
        let line = table(&[disturbed]).lines(None).join(" ");
        assert!(line.contains("0.500..45.000"), "{line}");
        assert_eq!(ratio(&[1.0, 3.0], &[1.0, 1.0]).value, Some(2.0));
        assert_eq!(ratio(&[1.0, 3.0], &[0.0, 1.0]).value, Some(3.0));
        assert_eq!(ratio(&[], &[]).value, None);
    }

    #[test]
    fn a_difference_below_zero_is_noise() {
        let mut rows = rows();
        rows.retain(|row| row.transport != "shared memory echo");
        rows.push(row("floor", "shared memory echo", "spin", "bytes", 4, 0.7));
        rows.push(row(
            "floor",
            "shared memory echo",
            "spin",
            "bytes",
            4096,
            0.7,
        ));
        let ratios = list(&rows, 0);
        let extra = ratios.iter().find(|ratio| ratio.ratio.starts_with("extra"));
        let extra = extra.unwrap();
        assert_eq!(extra.value, None);
        let line = table(std::slice::from_ref(extra)).lines(None).join(" ");
        assert!(
            extra.verdict().is_none() && line.contains("noise"),
            "{line}"
        );
    }
}
