//! Reads of one node, of a thousand nodes, and of several clients at once, over opc.tcp with and without security: Takt beside
//! open62541 and beside the floor.
//!
//! The client is the same for both servers. The floor is an echo of the same number of bytes over TCP, and with a SecurityPolicy
//! both sides also secure and check these bytes with its algorithms. All servers of a SecurityPolicy are measured one after the
//! other in each round, and in the opposite order in the next one: a disturbance of the machine affects all of them. A ratio is
//! the median of the ratios of the rounds.

mod options;
mod server;
mod subjects;
mod table;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use takt_report::{Progress, Report};

pub use options::Options;
pub(crate) use server::{ReadFloor, ReadServer};
pub use subjects::Security;

use crate::error::{BenchError, check_interrupt};
use crate::measure::Samples;
use crate::pair::{OPEN62541, sibling};
use crate::round_trip::MessageSizes;
use crate::seat::{CorePair, Seat};
use subjects::{Setting, Subject};

/// Number of Variables of each server, and of nodes of a large Read.
const NODES: u32 = 1000;

/// Number of clients at once in the last case.
const CLIENTS: u32 = 4;

/// Bytes of the longest message of the floor.
const LONGEST: usize = 1 << 20;

/// Number of Reads between two checks for an interrupt.
const CHUNK: u64 = 200;

/// What is read, by how many clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Case {
    nodes: u32,
    clients: u32,
}

const CASES: [Case; 3] = [
    Case {
        nodes: 1,
        clients: 1,
    },
    Case {
        nodes: NODES,
        clients: 1,
    },
    Case {
        nodes: 1,
        clients: CLIENTS,
    },
];

/// Samples of one row.
struct Series {
    security: Security,
    case: Case,
    subject: Subject,
    durations: Samples,
    /// Median in µs and Reads per second of each round.
    rounds: Vec<(f64, f64)>,
}

/// Runs the benchmark and passes each line of its result to `line`.
///
/// # Errors
/// [`BenchError`]; [`BenchError::Interrupted`] soon after `interrupted` is set. No process is left behind.
pub fn run(
    options: &Options,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), BenchError> {
    let program = std::env::current_exe().map_err(BenchError::system("find this program"))?;
    let open62541 = sibling(&program, OPEN62541);
    let folder = tempfile::tempdir().map_err(BenchError::system("make a folder"))?;
    let setting = Setting {
        program: &program,
        open62541: open62541.as_deref(),
        cores: CorePair::choose()?,
        folder: folder.path(),
    };
    let mut report = Report::new(line, options.json);
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
    for row in &rows {
        report.row(row)?;
    }
    Ok(())
}

/// Returns the series in the order of the rows. Those to be compared are neighbours.
fn series(options: &Options, setting: &Setting<'_>) -> Vec<Series> {
    let mut all = Vec::new();
    for &security in &options.security {
        for case in CASES {
            for subject in [Subject::Floor, Subject::Takt, Subject::Open62541] {
                if subject == Subject::Open62541 && setting.open62541.is_none() {
                    continue;
                }
                all.push(Series {
                    security,
                    case,
                    subject,
                    durations: Samples::nanos(),
                    rounds: Vec::new(),
                });
            }
        }
    }
    all
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

impl Series {
    /// Measures one round.
    fn measure(
        &mut self,
        setting: &Setting<'_>,
        reads: u64,
        interrupted: &AtomicBool,
    ) -> Result<(), BenchError> {
        let sizes = self.sizes(setting)?;
        let server = setting.start(self.subject, self.security)?;
        let mut connections = Vec::new();
        // The echo of the floor takes as many clients as there are at most.
        for _ in 0..self.case.clients {
            connections.push(setting.connect(
                self.subject,
                self.security,
                server.ready(),
                self.case.nodes,
                sizes,
            )?);
        }
        let _seat = Seat::take(setting.cores.client)?;
        let each = reads.div_ceil(u64::from(self.case.clients));
        let begin = Instant::now();
        let results: Vec<Result<Samples, BenchError>> = std::thread::scope(|scope| {
            let clients = connections.iter_mut().map(|connection| {
                scope.spawn(move || {
                    let mut samples = Samples::nanos();
                    let mut left = each;
                    while left > 0 {
                        check_interrupt(interrupted)?;
                        let chunk = left.min(CHUNK);
                        for _ in 0..chunk {
                            samples.time(|| connection.read())?;
                        }
                        left -= chunk;
                    }
                    Ok(samples)
                })
            });
            let clients: Vec<_> = clients.collect();
            let lost = || BenchError::round_trip("a client of the Reads")("its thread ended");
            clients
                .into_iter()
                .map(|client| client.join().unwrap_or_else(|_| Err(lost())))
                .collect()
        });
        let seconds = begin.elapsed().as_secs_f64();
        let mut round = Samples::nanos();
        for samples in results {
            round.add(&samples?);
        }
        let percentiles = round.percentiles();
        self.rounds
            .push((percentiles.p50, percentiles.samples as f64 / seconds));
        self.durations.add(&round);
        Ok(())
    }

    /// Returns the lengths of the messages that the floor carries: those of Takt.
    fn sizes(&self, setting: &Setting<'_>) -> Result<MessageSizes, BenchError> {
        let none = MessageSizes {
            request: 0,
            response: 0,
        };
        if self.subject != Subject::Floor {
            return Ok(none);
        }
        let plain = Security(None);
        let server = setting.start(Subject::Takt, plain)?;
        let connection =
            setting.connect(Subject::Takt, plain, server.ready(), self.case.nodes, none)?;
        Ok(connection.sizes().unwrap_or(none))
    }
}
