//! Run of one architecture, from its first process to its last.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::census;
use super::part::{Part, Report};
use super::row::Row;
use crate::assignment::Assignment;
use crate::error::BenchError;
use crate::private_directory;
use crate::process::Process;

/// Architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    /// Providers that register with the SR-Server, and Consumers that ask it.
    Registry,
    /// The same, but the Consumers read at the SR-Server, which forwards.
    Forwarded,
    /// Providers that are servers, and Consumers that are clients of each.
    Classical,
}

/// Number of Providers in a process: their descriptors are within 4096, the smallest usual hard limit.
pub(super) const PROVIDERS_OF_A_PROCESS: usize = 32;
/// Time that the processes of one step have together.
const STEP: Duration = Duration::from_secs(300);
/// Bytes before each message body over `opc.tcp` (OPC 10000-6, 6.7.2) and over our shared memory.
const TCP_HEADER: u64 = 24;
const SHARED_MEMORY_HEADER: u64 = takt_shm::header::HEADER_LENGTH as u64;

/// Runtime directory of the processes of one run. Dropping it, after the processes have ended, removes it.
struct Meeting(TempDir);

impl Meeting {
    fn make() -> Result<Self, BenchError> {
        private_directory::make(Path::new("/dev/shm")).map(Self)
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // Opening the directory without other users removes the files of killed processes, in other places too.
        drop(takt_shm::Runtime::open(Some(self.0.path())));
    }
}

/// Starter of processes.
#[derive(Clone, Copy)]
struct Starter<'a> {
    program: &'a Path,
    meeting: &'a Meeting,
    interrupted: &'a AtomicBool,
}

impl Starter<'_> {
    fn start(self, what: &str, part: Part) -> Result<Process, BenchError> {
        let mut command = part.command(self.program)?;
        command
            .env(takt_shm::RUNTIME_DIRECTORY_VARIABLE, self.meeting.0.path())
            .env("XDG_STATE_HOME", self.meeting.0.path());
        Process::start_within(what, &mut command, STEP, self.interrupted)
    }
}

/// Processes that end in the opposite order of their start, so that dependent processes end first.
struct Processes(Vec<Process>);

impl Drop for Processes {
    fn drop(&mut self) {
        // All but the first are asked at the same time. The others may need the first one.
        for process in self.0.iter_mut().skip(1) {
            process.ask_to_end();
        }
        while self.0.pop().is_some() {}
    }
}

fn ids(processes: &[Process]) -> impl Iterator<Item = u32> {
    processes.iter().map(Process::id)
}

/// Returns the reports of these processes.
fn reports(processes: &mut [Process]) -> Result<Vec<Report>, BenchError> {
    let report = |process: &mut Process| {
        let line = process.ask()?;
        serde_json::from_str(&line).map_err(BenchError::round_trip("the comparison"))
    };
    processes.iter_mut().map(report).collect()
}

/// Starts everything, lets the Consumers discover and read, and ends everything.
pub(super) fn run(
    program: &Path,
    architecture: Architecture,
    providers: usize,
    consumers: usize,
    interrupted: &AtomicBool,
) -> Result<Row, BenchError> {
    let meeting = Meeting::make()?;
    let starter = Starter {
        program,
        meeting: &meeting,
        interrupted,
    };
    let started = Instant::now();
    let (mut others, consumer) = start_providers(starter, architecture, providers)?;
    let start_ms = started.elapsed().as_secs_f64() * 1000.0;
    let connections_before = census::ends(&ids(&others.0).collect::<Vec<_>>())?.connections();
    let before = sum(&reports(&mut others.0)?);
    let mut consumers = start_consumers(starter, &consumer, consumers)?;
    let all: Vec<u32> = ids(&others.0).chain(ids(&consumers)).collect();
    let connections_read = census::ends(&all)?.connections();
    let after = sum(&reports(&mut others.0)?);
    let memory = census::memory(&all)?;
    let of_consumers = census::memory(&ids(&consumers).collect::<Vec<_>>())?;
    // The Consumers measure the speed of their Reads now, one after the other.
    let found = reports(&mut consumers)?;
    let header = match architecture {
        Architecture::Registry | Architecture::Forwarded => SHARED_MEMORY_HEADER,
        Architecture::Classical => TCP_HEADER,
    };
    let on_the_way = |report: Report| report.bytes + report.requests * 2 * header;
    let slowest = |time: fn(&Report) -> f64| found.iter().map(time).fold(0.0, f64::max);
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    let mib = |kib: u64| kib as f64 / 1024.0;
    Ok(Row {
        architecture: match architecture {
            Architecture::Registry => "sr-server",
            Architecture::Forwarded => "forwarded",
            Architecture::Classical => "classical",
        }
        .to_owned(),
        providers,
        consumers: found.len(),
        connections_before,
        connections_discovered: connections_before
            + found
                .iter()
                .map(|report| report.discovery.connections_discovered)
                .sum::<usize>(),
        connections_read,
        bytes_before: on_the_way(before),
        bytes_consumers: on_the_way(after) - on_the_way(before),
        requests_consumers: after.requests - before.requests,
        start_ms,
        discover_ms: slowest(|report| report.discovery.discover_ms),
        read_ms: slowest(|report| report.discovery.read_ms),
        read_us: slowest(|report| report.speed.read_us),
        reads_per_second: found
            .iter()
            .map(|report| report.speed.reads_per_second)
            .fold(f64::INFINITY, f64::min),
        pss_mib: mib(memory.pss),
        consumers_pss_mib: mib(of_consumers.pss),
        rss_mib: mib(memory.rss),
    })
}

/// Starts the Consumers, and waits until all have read. A thread waits for each of them, so that they begin at the same time.
fn start_consumers(
    starter: Starter<'_>,
    part: &Part,
    count: usize,
) -> Result<Vec<Process>, BenchError> {
    let begun: Vec<_> = std::thread::scope(|scope| {
        let begin = |_| scope.spawn(|| starter.start("a Consumer", part.clone()));
        let waiting: Vec<_> = (0..count).map(begin).collect();
        waiting.into_iter().map(|thread| thread.join()).collect()
    });
    begun
        .into_iter()
        .map(|process| {
            process.unwrap_or_else(|_| {
                Err(BenchError::Process {
                    what: "a Consumer".to_owned(),
                    reason: "could not be waited for".to_owned(),
                })
            })
        })
        .collect()
}

/// Starts all Providers, and returns the assignment of a Consumer.
fn start_providers(
    starter: Starter<'_>,
    architecture: Architecture,
    providers: usize,
) -> Result<(Processes, Part), BenchError> {
    let groups = (0..providers).step_by(PROVIDERS_OF_A_PROCESS);
    let size = |first| PROVIDERS_OF_A_PROCESS.min(providers - first);
    let mut processes = Processes(Vec::new());
    match architecture {
        Architecture::Registry | Architecture::Forwarded => {
            let directory = starter.meeting.0.path().to_owned();
            let process = starter.start("the registry", Part::Registry { directory })?;
            let registry = process
                .ready()
                .endpoints
                .first()
                .cloned()
                .unwrap_or_default();
            processes.0.push(process);
            for first in groups {
                let part = Part::Providers {
                    registry: registry.clone(),
                    first,
                    count: size(first),
                };
                processes.0.push(starter.start("Providers", part)?);
            }
            let consumer = Part::Consumer {
                registry,
                providers,
                forwarded: architecture == Architecture::Forwarded,
            };
            Ok((processes, consumer))
        }
        Architecture::Classical => {
            let mut endpoints = Vec::with_capacity(providers);
            for first in groups {
                let part = Part::Servers {
                    first,
                    count: size(first),
                };
                let servers = starter.start("servers", part)?;
                endpoints.extend(servers.ready().endpoints.iter().cloned());
                processes.0.push(servers);
            }
            Ok((processes, Part::Client { endpoints }))
        }
    }
}

fn sum(reports: &[Report]) -> Report {
    let mut sum = Report::default();
    for report in reports {
        sum.requests += report.requests;
        sum.bytes += report.bytes;
    }
    sum
}
