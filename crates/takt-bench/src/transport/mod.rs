//! One request and its response: in this process, over shared memory, over TCP; ours, a foreign server's, and the floor of each.
//!
//! Floors and subjects are measured in turns, in rounds, each round with fresh server processes and in the opposite order
//! of the one before: what disturbs the machine for a while disturbs all of them. Client and server are pinned, to one core
//! or to two, and have a real-time policy where the user may set it. Round trips are back to back: at one request per
//! millisecond everything that sleeps takes about twice as long, because cores go idle.

mod error;
mod filter;
mod floors;
pub mod handling;
mod local_session;
mod payload;
mod process;
mod round_trip;
mod rounds;
mod row;
mod seat;
mod serve;
mod subject;
mod subjects;
mod ua_client;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use error::BenchError;
pub use row::Row;

use filter::Filter;
use seat::CorePair;
use subjects::Setting;

/// The foreign server, built beside our own program.
const OPEN62541: &str = "open62541-server";

/// What to measure, and how to show it.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Samples per row, over all rounds: round trips, or batches of 100 requests where there is no transport.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub samples: u64,
    /// In how many rounds the samples are taken, each with fresh processes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Only rows whose first six columns contain these words, for example "opc.tcp 4 diff"; and their floors.
    #[arg(long, value_name = "FILTER")]
    pub only: Option<String>,
    /// Print JSON, one object a row.
    #[arg(long)]
    pub json: bool,
    /// Be a server, for the benchmark itself.
    #[arg(long, hide = true, value_name = "ASSIGNMENT", conflicts_with_all = ["only", "json"])]
    pub serve: Option<String>,
}

impl Options {
    /// Whether this process is one of the servers: it ends with its standard input, and by signals as usual.
    #[must_use]
    pub fn is_server(&self) -> bool {
        self.serve.is_some()
    }
}

/// Runs the benchmark and hands each line of its result to `line`. Takes about half a minute with the default options.
///
/// # Errors
/// [`BenchError`]; [`BenchError::Interrupted`] soon after `interrupted` is set. No process is left behind.
pub fn run(
    options: &Options,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), BenchError> {
    if let Some(assignment) = &options.serve {
        return serve::run(assignment);
    }
    let program = std::env::current_exe().map_err(BenchError::system("find this program"))?;
    let sibling = |name: &str| -> Option<PathBuf> {
        let path = program.with_file_name(name);
        path.is_file().then_some(path)
    };
    let handling = sibling(handling::PROGRAM);
    let open62541 = sibling(OPEN62541);
    let filter = Filter::new(options.only.as_deref());
    let mut output = Output {
        line,
        json: options.json,
    };
    let setting = Setting {
        program: &program,
        open62541: open62541.as_deref(),
        cores: CorePair::choose()?,
        sizes: local_session::LocalSession::open()?.message_sizes()?,
    };
    let pairs = subjects::pairs(&setting);
    let wanted = rounds::wanted(&pairs, &filter);
    if wanted.is_empty() && !handling::is_wanted(&filter) {
        return Err(BenchError::NoMatch(
            options.only.clone().unwrap_or_default(),
        ));
    }
    for note in notes(&setting, handling.is_some()) {
        output.note(&note);
    }
    output.head();
    if handling::is_wanted(&filter) {
        let rows = handling_rows(options, handling.as_deref(), interrupted)?;
        let floors: Vec<String> = rows
            .iter()
            .filter(|row| filter.matches(&row.label()))
            .filter_map(|row| row.floor.clone())
            .collect();
        let is_floor = |row: &Row| floors.contains(&row.mechanism());
        for row in rows
            .iter()
            .filter(|row| filter.matches(&row.label()) || is_floor(row))
        {
            output.row(row)?;
        }
    }
    for row in rounds::run(options, &setting, &pairs, &wanted, interrupted)? {
        output.row(&row)?;
    }
    Ok(())
}

/// The rows of [`handling`], from the program that counts allocations if it is there.
fn handling_rows(
    options: &Options,
    program: Option<&Path>,
    interrupted: &AtomicBool,
) -> Result<Vec<Row>, BenchError> {
    let Some(program) = program else {
        return handling::measure(options.samples, options.rounds, None, interrupted);
    };
    let failed = |reason: String| BenchError::Process {
        what: handling::PROGRAM.to_owned(),
        reason,
    };
    let mut child = Command::new(program)
        .args([options.samples.to_string(), options.rounds.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    let ended = loop {
        if let Err(interrupt) = check_interrupt(interrupted) {
            // If it has just ended by itself, there is nothing to kill.
            let _ = child.kill();
            let _ = child.wait();
            return Err(interrupt);
        }
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            ended => break ended,
        }
    };
    // Its few lines fit into the pipe: it has not waited for a reader.
    let output = ended
        .and_then(|_| child.wait_with_output())
        .map_err(|error| failed(format!("cannot be waited for: {error}")))?;
    if !output.status.success() {
        return Err(failed(format!("ended with {}", output.status)));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| {
            serde_json::from_str(line).map_err(|error| failed(format!("printed {line:?}: {error}")))
        })
        .collect()
}

/// What a reader of the figures has to know.
fn notes(setting: &Setting<'_>, counts_allocations: bool) -> Vec<String> {
    let CorePair { client, server } = setting.cores;
    let mut notes = vec![if setting.cores.are_two() {
        format!("Server on core {server}; client on the same core, or on core {client} (diff).")
    } else {
        format!("There is only core {server}: nothing can be measured across cores or spinning.")
    }];
    if seat::real_time_permitted() {
        notes.push(format!("Measured threads run with {}.", seat::policy()));
    } else {
        notes.push(
            "Measured threads run with SCHED_OTHER, because SCHED_FIFO is not permitted to this user (CAP_SYS_NICE or \
             RLIMIT_RTPRIO): expect longer tails."
                .to_owned(),
        );
    }
    if cfg!(debug_assertions) {
        notes.push(
            "This is a debug build: figures of Takt mean nothing. Use `cargo build --release`."
                .to_owned(),
        );
    }
    if !counts_allocations {
        notes.push(format!(
            "Allocations are not counted: {} is not beside this program.",
            handling::PROGRAM
        ));
    }
    if setting.open62541.is_none() {
        notes.push(format!(
            "open62541 is not measured: {OPEN62541} is not beside this program. It needs cmake and libclang, and some \
             minutes: cargo build --release -p takt-peer-open62541"
        ));
    }
    notes
}

/// Fails if the user has had enough.
fn check_interrupt(interrupted: &AtomicBool) -> Result<(), BenchError> {
    if interrupted.load(Ordering::Relaxed) {
        Err(BenchError::Interrupted)
    } else {
        Ok(())
    }
}

/// Where the result goes.
struct Output<L> {
    line: L,
    json: bool,
}

impl<L: FnMut(String)> Output<L> {
    /// Something for people, who read the error output if the rows are for programs.
    fn note(&mut self, note: &str) {
        if self.json {
            tracing::info!("{note}");
        } else {
            (self.line)(note.to_owned());
        }
    }

    fn head(&mut self) {
        if !self.json {
            (self.line)(String::new());
            (self.line)(Row::head());
        }
    }

    fn row(&mut self, row: &Row) -> Result<(), BenchError> {
        let line = if self.json {
            serde_json::to_string(row).map_err(|error| BenchError::Option(error.to_string()))?
        } else {
            row.to_string()
        };
        (self.line)(line);
        Ok(())
    }
}
