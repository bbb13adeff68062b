//! Attacks on a server, and their effect on a second client.
//!
//! Each attack asks more of a server than a client should: work, memory, descriptors, channels, Sessions or names. [`Attack`]
//! lists the attacks. An attacker is a process of its own ([`Attack::start`]). It is bounded in count and time, and stays on this
//! host. The end-to-end tests use the same attackers. This benchmark measures a second client beside them, over `opc.tcp` and
//! `opc.iox2` at a steady rate: without an attack, with it, and both once more. The repetition tells a temporary disturbance of
//! the machine from the attack.

mod attack_assignment;
mod channel;
mod connections;
mod discovery;
mod dispatch;
mod events;
mod history;
mod items;
mod kind;
mod messages;
mod nodes;
mod observer;
mod options;
mod play;
mod rounds;
mod row;
mod secured;
mod shared_memory;
mod target;
mod usage;
mod values;
mod victim;
mod walking;

use std::sync::atomic::AtomicBool;

pub(crate) use attack_assignment::AttackAssignment;
pub use kind::Attack;
pub use observer::{AttackObserver, Observation};
pub use options::Options;
pub use play::UnderWay;
pub use row::{ClientRow, GOAL, Row};
pub use target::{AttackTarget, Tally};
pub use usage::{Slices, Usage};

use crate::error::{BenchError, check_interrupt};
use crate::pair::DEBUG_BUILD;
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
        return values::serve(name, interrupted, line);
    }
    let attacks = options.attacks()?;
    let mut report = Report::new(line, options.json);
    if options.list {
        let mut table = Table::new(["attack", "description"].map(Column::text));
        for attack in attacks {
            table.row([attack.name(), attack.description()]);
        }
        report.table(&table);
        return Ok(());
    }
    let program = std::env::current_exe().map_err(BenchError::system("find this program"))?;
    let server = options.server.as_deref().unwrap_or(&program);
    if cfg!(debug_assertions) {
        report.note(DEBUG_BUILD);
    }
    report.note(&format!(
        "Each second client reads {} times per second; phases of {} s: idle, attack, idle, attack.",
        options.rate, options.seconds
    ));
    if options.divide > 1 {
        report.note(&format!(
            "Counts of the attacks are divided by {}.",
            options.divide
        ));
    }
    let layout = report.layout(&row::latencies());
    report.lines(layout.head());
    let mut rows = Vec::new();
    for attack in attacks {
        check_interrupt(interrupted)?;
        let row = rounds::measure(options, &program, server, attack, interrupted)?;
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
