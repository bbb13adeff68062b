//! Tables of handling and of round trips.

use takt_figures::number::measured;
use takt_figures::{Column, Table};

use super::row::Row;

/// Returns a table of handled requests and their floors.
pub(super) fn handling(rows: &[Row]) -> Table {
    let mut table = Table::new(
        begin()
            .into_iter()
            .chain([Column::number("malloc calls")])
            .chain(end()),
    );
    for row in rows {
        let allocations = row.allocations.map(|count| format!("{count:.2}"));
        let cells = [first(row), vec![allocations.unwrap_or_default()], last(row)];
        table.row(cells.concat());
    }
    table
}

/// Returns a table of operations of a Provider.
pub(super) fn operations(rows: &[Row]) -> Table {
    let mut table = Table::new(begin().into_iter().chain(end()));
    for row in rows {
        table.row([first(row), last(row)].concat());
    }
    table
}

/// Returns a table of round trips, with a section for each placement and waiting method. A pair is below its floor.
pub(super) fn round_trips(rows: &[Row]) -> Table {
    let mut table = Table::new(begin().into_iter().chain(end()));
    let mut section = String::new();
    for row in rows {
        let cores = match row.placement.as_str() {
            "same" => "same core (same)",
            _ => "different cores (diff)",
        };
        let title = format!("{cores}, {}", row.wait);
        if title != section {
            if !section.is_empty() {
                table.text("");
            }
            table.text(title.clone());
            section = title;
        }
        table.row([first(row), last(row)].concat());
    }
    table
}

fn begin() -> [Column; 5] {
    let percentile = |name| Column::number(name).unit("µs");
    [
        Column::text("subject"),
        Column::number("value").unit("B"),
        percentile("p50"),
        percentile("p99"),
        percentile("p99.9"),
    ]
}

fn end() -> [Column; 3] {
    [
        Column::number("max").unit("µs"),
        Column::number("p50 / floor"),
        Column::text("floor"),
    ]
}

fn first(row: &Row) -> Vec<String> {
    let percentiles = &row.percentiles;
    let times = [percentiles.p50, percentiles.p99, percentiles.p999];
    let mut cells = vec![
        format!("{} {}", row.peer, row.mechanism()),
        row.payload_bytes.to_string(),
    ];
    cells.extend(times.map(measured));
    cells
}

fn last(row: &Row) -> Vec<String> {
    let ratio = row.ratio_to_floor.map(|ratio| format!("{ratio:.2}"));
    vec![
        measured(row.percentiles.max),
        ratio.unwrap_or_default(),
        row.floor.clone().unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::row::Head;
    use super::*;
    use crate::measure::Samples;

    fn row(head: Head, nanos: u64) -> Row {
        let mut samples = Samples::nanos();
        samples.record(nanos);
        head.row(&samples)
    }

    #[test]
    fn tables_fit_100_columns() {
        let longest = |peer, transport, service| Head {
            placement: "diff",
            wait: "adaptive",
            ..Head::new(peer, transport, service, 4096)
        };
        let minute = 59_000_000_000;
        let floor = row(longest("floor", "shared memory", "echo"), minute);
        let open62541 = row(longest("open62541", "opc.tcp", "Read"), minute).over(&floor);
        let takt = row(longest("takt", "opc.iox2", "Read"), minute).over(&floor);
        // Handling takes microseconds; this is a thousand times as long.
        let system_call = row(
            Head::new("floor", "system call", "getppid", 0),
            minute / 10_000,
        );
        let handled = Row {
            allocations: Some(0.0),
            ..row(
                Head::new("takt", "in-process", "Write", 4096),
                minute / 10_000,
            )
            .over(&system_call)
        };
        let inline = row(longest("takt", "opc.iox2", "Call inline"), minute / 10);
        let worker = row(longest("takt", "opc.iox2", "Call worker"), minute / 10).over(&inline);
        let tables = [
            round_trips(&[floor, open62541, takt]),
            handling(&[system_call, handled]),
            operations(&[inline, worker]),
        ];
        for line in tables.iter().flat_map(|table| table.lines(None)) {
            assert!(line.chars().count() <= 100, "{line}");
        }
        let lines = tables[0].lines(None).join("\n");
        assert!(
            lines.contains("different cores (diff), adaptive"),
            "{lines}"
        );
        assert!(lines.contains("1.00  shared memory echo"), "{lines}");
    }
}
