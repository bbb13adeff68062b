//! Benchmark of the paper `opcua-shared-memory-iceoryx2`, section 6: GetValue() and SetValue() of 4 and 4096 bytes, in three
//! series of 1000 iterations each. It measures Takt over shared memory and TCP, open62541, and the mechanisms underneath.
//!
//! GetValue() is a Read and SetValue() a Write, by an application's client: the request is encoded and the response decoded each
//! time. The value is copied once, out of the response or into the request. Or the first and the last element are checked in
//! place. Floors carry messages of the same sizes without access to the values.
//!
//! The paper's tables have two subjects. These tables have more, so each subject has a line instead of a column. A subject is one
//! line in `subjects.rs`.

mod options;
mod plot;
mod ratios;
mod rounds;
mod row;
mod sizes;
mod subjects;
mod table;
pub(crate) mod waiting;

use std::sync::atomic::AtomicBool;

pub use options::{Options, PlacementOption};
pub use ratios::Ratio;
pub use row::{Row, Series};
pub use sizes::Sizes;

use rounds::Measurement;
use takt_figures::Report;

use crate::error::BenchError;
use crate::pair::{OPEN62541, Setting};
use crate::programs;
use crate::seat::{CorePair, Placement};

/// Runs the benchmark and passes each line of its result to `line`.
///
/// # Errors
/// [`BenchError`]; [`BenchError::Interrupted`] soon after `interrupted` is set. No process is left behind.
pub fn run(
    options: &Options,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), BenchError> {
    let program = programs::own()?;
    let open62541 = programs::beside(OPEN62541);
    let setting = Setting {
        program: &program,
        open62541: open62541.as_deref(),
        cores: CorePair::choose()?,
        payloads: options.sizes.payloads(),
    };
    if options.waiting {
        let mut report = takt_profile::results(line, options.json);
        return waiting::run(options, &setting, interrupted, &mut report);
    }
    let placements = placements(options, setting.cores)?;
    let list = subjects::list(&setting, &placements, options.idle);
    let mut report = takt_profile::results(line, options.json);
    for note in setting.notes() {
        report.note(&note);
    }
    report.note(&match options.rate {
        Some(rate) => format!("Requests are sent at {} Hz.", rate.hertz()),
        None => "Requests are sent back to back.".to_owned(),
    });
    let measurements = rounds::run(options, &setting, &list, interrupted)?;
    let rows: Vec<Row> = measurements
        .iter()
        .map(|measurement| measurement.row(options))
        .collect();
    show(options, &placements, &rows, &mut report)?;
    if let Some(picture) = &options.plot {
        let placements: Vec<&str> = placements
            .iter()
            .map(|placement| placement.name())
            .collect();
        let samples: Vec<_> = measurements.iter().map(Measurement::samples).collect();
        let curves = plot::curves(&rows, &samples);
        picture.draw(&plot::figure(&placements, &curves), options.theme)?;
        report.note(&format!("The charts are in {}.", picture.path().display()));
    }
    Ok(())
}

/// Returns the placements to measure.
fn placements(options: &Options, cores: CorePair) -> Result<Vec<Placement>, BenchError> {
    let mut placements = Vec::new();
    for wanted in &options.placement {
        let placement = match wanted {
            PlacementOption::Same => Placement::Same,
            PlacementOption::Diff => Placement::Diff,
        };
        if !placements.contains(&placement) && (placement == Placement::Same || cores.are_two()) {
            placements.push(placement);
        }
    }
    if placements.is_empty() {
        return Err(BenchError::Option(
            "only one core is available: use `--placement same`".to_owned(),
        ));
    }
    Ok(placements)
}

/// Shows tables for people, or objects for programs.
fn show<L: FnMut(String)>(
    options: &Options,
    placements: &[Placement],
    rows: &[Row],
    report: &mut Report<L>,
) -> Result<(), BenchError> {
    for row in rows {
        report.row(row)?;
    }
    let mut tables = Vec::new();
    let mut number = 0;
    for placement in placements {
        let placement = placement.name();
        if options.sizes.is_sweep() {
            tables.push(table::sweep(rows, placement));
            continue;
        }
        for payload in options.sizes.payloads() {
            number += 1;
            let scope = table::Scope {
                placement,
                payload_bytes: Some(payload.bytes()),
            };
            tables.push(table::latency(rows, scope, number));
        }
    }
    let ratios = ratios::list(rows, options.idle);
    if !ratios.is_empty() {
        tables.push(("Ratios".to_owned(), ratios::table(&ratios)));
    }
    for (title, table) in tables {
        report.line("");
        report.line(title);
        report.table(&table);
    }
    for ratio in &ratios {
        report.row(ratio)?;
    }
    Ok(())
}
