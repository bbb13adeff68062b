//! Output of the test with many servers.

use takt_figures::{Column, Report, Table};

use super::goals::{goals, mib};
use super::row::NodesRow;
use crate::error::MiddlewareError;
use crate::table;

/// Prints a table, or JSON rows. `is_complete` if no peer was left out.
pub(super) fn show(
    report: &mut Report<impl FnMut(String)>,
    rows: &[NodesRow],
    is_complete: bool,
) -> Result<(), MiddlewareError> {
    report.note(
        "Memory is the sum of the proportional set sizes of all servers and of the broker. Traffic is that on the loopback interface until \
         all nodes were connected.",
    );
    if table::small_node().is_none() {
        report.note(
            "The small program `takt-node` is not beside this program, so each of Takt's nodes is the whole program `takt-bench`: 1 MiB more. \
             `cargo build --release -p takt-bench` builds both.",
        );
    }
    let mut table = Table::new([
        Column::text("peer"),
        Column::number("round"),
        Column::number("nodes"),
        Column::number("ready"),
        Column::number("start").unit("s"),
        Column::number("connect").unit("s"),
        Column::number("traffic").unit("MiB"),
        Column::number("memory").unit("MiB"),
        Column::number("median").unit("ms"),
        Column::number("p99").unit("ms"),
        Column::number("faults"),
    ]);
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    for row in rows {
        table.row([
            row.peer.clone(),
            (row.round + 1).to_string(),
            row.nodes.to_string(),
            // The end is no server.
            row.ready.min(row.nodes).to_string(),
            number(row.start_s),
            number(row.connect_s),
            format!("{:.1}", mib(row.traffic)),
            format!("{:.0}", mib(row.memory)),
            number(row.median_ms),
            number(row.p99_ms),
            row.faults.to_string(),
        ]);
        if let Some(failure) = &row.failure {
            table.text(format!("  {failure}"));
        }
    }
    report.line(String::new());
    report.table(&table);
    for goal in goals(rows, is_complete) {
        report.note(&goal);
    }
    for row in rows {
        let written = report.row(row);
        written.map_err(|error| MiddlewareError::Output(error.to_string()))?;
    }
    Ok(())
}
