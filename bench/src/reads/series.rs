//! Samples of one server in one case, round by round.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::case::{CASES, Case};
use super::options::Options;
use super::subjects::{Security, Setting, Subject};
use crate::error::{BenchError, check_interrupt};
use crate::measure::Samples;
use crate::round_trip::MessageSizes;
use crate::seat::Seat;

/// Number of Reads between two checks for an interrupt.
const CHUNK: u64 = 200;

/// Samples of one row.
pub(super) struct Series {
    pub(super) security: Security,
    pub(super) case: Case,
    pub(super) subject: Subject,
    pub(super) durations: Samples,
    pub(super) rounds: Vec<Round>,
}

/// Figures of one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Round {
    /// Median of the latency in µs.
    pub(super) p50: f64,
    /// 99th percentile of the latency in µs.
    pub(super) p99: f64,
    pub(super) reads_per_second: f64,
}

/// Returns the series in the order of the rows. Those to be compared are neighbours.
pub(super) fn series(options: &Options, setting: &Setting<'_>) -> Vec<Series> {
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

impl Series {
    /// Measures one round.
    pub(super) fn measure(
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
        self.rounds.push(Round {
            p50: percentiles.p50,
            p99: percentiles.p99,
            reads_per_second: percentiles.samples as f64 / seconds,
        });
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
