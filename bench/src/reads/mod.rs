//! Reads of one node, of a thousand nodes, and of several clients at once, over opc.tcp with and without security: Takt beside
//! open62541 and beside the floor.
//!
//! The client is the same for both servers. The floor is an echo of the same number of bytes over TCP, and with a SecurityPolicy
//! both sides also secure and check these bytes with its algorithms. All servers of a SecurityPolicy are measured one after the
//! other in each round, and in the opposite order in the next one: a disturbance of the machine affects all of them. A ratio is
//! the median of the ratios of the rounds, with its 95 % confidence interval. A goal is missed if the whole interval misses it.

mod case;
mod goals;
mod options;
mod series;
mod server;
mod subjects;
mod table;

use std::sync::atomic::AtomicBool;

use takt_figures::Progress;

pub use options::Options;
pub(crate) use server::{ReadFloor, ReadServer};
pub use subjects::Security;

use crate::error::{BenchError, check_interrupt};
use crate::pair::OPEN62541;
use crate::programs;
use crate::seat::CorePair;
use series::series;
use subjects::Setting;

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
    let folder = tempfile::tempdir().map_err(BenchError::system("make a folder"))?;
    let setting = Setting {
        program: &program,
        open62541: open62541.as_deref(),
        cores: CorePair::choose()?,
        folder: folder.path(),
    };
    let mut report = takt_profile::results(line, options.json);
    for note in notes(&setting) {
        report.note(&note);
    }
    let mut all = series(options, &setting);
    let reads = options.reads.div_ceil(u64::from(options.rounds));
    let progress = Progress::new("round", options.rounds);
    for round in 0..options.rounds {
        progress.show(round);
        let mut places: Vec<usize> = (0..all.len()).collect();
        if round % 2 == 1 {
            places.reverse();
        }
        for place in places {
            check_interrupt(interrupted)?;
            if let Some(series) = all.get_mut(place) {
                series.measure(&setting, reads, interrupted)?;
            }
        }
    }
    drop(progress);
    let rows = table::rows(&all);
    report.table(&table::table(&rows));
    for verdict in goals::verdicts(&rows) {
        report.note(&verdict);
    }
    for row in &rows {
        report.row(row)?;
    }
    Ok(())
}

/// Returns remarks on the origin of the figures.
fn notes(setting: &Setting<'_>) -> Vec<String> {
    let pair = crate::pair::Setting {
        program: setting.program,
        open62541: setting.open62541,
        cores: setting.cores,
        payloads: &[],
    };
    pair.notes()
}
