//! Attacks on a server, and their effect on a second client.
//!
//! The attackers are those of the end-to-end tests (`takt-attack`). This benchmark measures a second client beside them, over
//! `opc.tcp` and `opc.iox2` at a steady rate: without an attack, with it, and both again in each further round. The rounds tell a
//! temporary disturbance of the machine from the attack, and only their interval decides about the goal.

mod options;
mod rounds;
mod row;
mod victim;

use std::sync::atomic::AtomicBool;

pub use options::Options;
pub use row::{ClientRow, GOAL, Row};

use crate::error::{BenchError, check_interrupt};
use crate::programs::{self, PRODUCT};
use takt_figures::{Column, Report, Table};

/// Runs the benchmark and passes each line of its result to `line`.
///
/// # Errors
/// [`BenchError`]; [`BenchError::Interrupted`] soon after `interrupted` is set. No process and no file is left behind.
pub fn run(
    options: &Options,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), BenchError> {
    if let Some(name) = &options.serve {
        return Ok(takt_attack::serve(name, interrupted, line)?);
    }
    let attacks = options.attacks()?;
    if options.list {
        let mut report = Report::new(line, options.json);
        let mut table = Table::new(["attack", "description"].map(Column::text));
        for attack in attacks {
            table.row([attack.name(), attack.description()]);
        }
        report.table(&table);
        return Ok(());
    }
    let mut report = takt_profile::results(line, options.json);
    let program = programs::own()?;
    let server = match &options.server {
        Some(server) => server.clone(),
        None => programs::required(PRODUCT, "--server names another one")?,
    };
    report.note(&format!(
        "Each second client reads {} times per second; {} rounds of {} s without and {} s with the attack. Goal: p99 at most 10 ms.",
        options.rate, options.rounds, options.seconds, options.seconds
    ));
    if options.divide > 1 {
        report.note(&format!(
            "Counts of the attacks are divided by {}.",
            options.divide
        ));
    }
    let layout = report.layout(&row::latencies());
    report.lines(layout.head());
    let setting = rounds::Setting {
        options,
        program: &program,
        server: &server,
        interrupted,
    };
    let mut rows = Vec::new();
    for attack in attacks {
        check_interrupt(interrupted)?;
        let row = rounds::measure(&setting, attack)?;
        report.row(&row)?;
        for cells in row::latency_cells(&row) {
            report.lines(layout.row(cells));
        }
        rows.push(row);
    }
    report.line("");
    report.table(&row::usage(&rows));
    for row in &rows {
        for client in &row.clients {
            if let Some(failure) = client.failures.first() {
                report.note(&format!("{} {}: {failure}", row.attack, client.transport));
            }
        }
    }
    Ok(())
}
