//! Reasons why files do not make a run.

use std::io;
use std::path::{Path, PathBuf};

use takt_analysis::{AnalysisError, ImpossibleDelays};
use takt_control::TracePoint;

use crate::error::LabError;
use crate::run_directory::RunDirectoryError;
use crate::run_id::RunId;
use crate::trace_notes::NoTraceNotes;

/// Reason why files do not make a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// A file cannot be read, or is neither a trace nor a capture.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// A file ends with damage.
    #[error("{} is damaged: {damage}", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Damage.
        damage: String,
    },
    /// A trace does not say of which run it is.
    #[error("{} does not tell its run: {reason}", path.display())]
    NoNotes {
        /// Path of the trace.
        path: PathBuf,
        /// Missing part.
        #[source]
        reason: NoTraceNotes,
    },
    /// There is no trace.
    #[error("none of the files is a trace")]
    NoTrace,
    /// This file is said to be a capture, and is a trace.
    #[error("{} is a trace, not a capture", .0.display())]
    TraceAsCapture(PathBuf),
    /// A trace is of another scenario, or of another version of it.
    #[error("{} is of another scenario than {}", path.display(), scenario.display())]
    OtherScenario {
        /// Path of the trace.
        path: PathBuf,
        /// Path of the scenario.
        scenario: PathBuf,
    },
    /// A trace has an application that the scenario lacks.
    #[error("{}: the scenario has no application {application}", path.display())]
    UnknownApplication {
        /// Path of the trace.
        path: PathBuf,
        /// Name of the application.
        application: String,
    },
    /// Two traces have different settings.
    #[error("{} has the settings {settings}, {} has {other_settings}", path.display(), other.display())]
    OtherSettings {
        /// Path of a trace.
        path: PathBuf,
        /// Its settings.
        settings: String,
        /// Path of the other trace.
        other: PathBuf,
        /// Its settings.
        other_settings: String,
    },
    /// Two traces are of the same side.
    #[error("{} and {} are both traces of the {side} of {application}", first.display(), second.display())]
    SameSide {
        /// Side: `publisher` or `loopback`.
        side: &'static str,
        /// Name of the application.
        application: String,
        /// Path of a trace.
        first: PathBuf,
        /// Path of the other trace.
        second: PathBuf,
    },
    /// The trace of a side is missing.
    #[error("{} has no counterpart: the trace of the {missing} of {application} is missing", path.display())]
    MissingSide {
        /// Missing side: `publisher` or `loopback`.
        missing: &'static str,
        /// Name of the application.
        application: String,
        /// Path of the trace of the other side.
        path: PathBuf,
    },
    /// The loopback has received nothing.
    #[error("{} has no message of a Publisher", path.display())]
    NothingReceived {
        /// Path of the trace.
        path: PathBuf,
    },
    /// The loopback has received messages of several runs.
    #[error("{} has messages of {} runs: {}", path.display(), runs.len(), named(runs))]
    SeveralRuns {
        /// Path of the trace or capture.
        path: PathBuf,
        /// The runs.
        runs: Vec<RunId>,
    },
    /// A file is of another run than the trace of the Publisher.
    #[error("{} is of run {found}, {} of run {run}", path.display(), publisher.display())]
    OtherRun {
        /// Path of the file.
        path: PathBuf,
        /// Its run.
        found: RunId,
        /// Path of the Publisher's trace.
        publisher: PathBuf,
        /// Its run.
        run: RunId,
    },
    /// The times of a file do not overlap with those of a trace.
    #[error("{}", apart(path, trace, *.distance, *.is_later))]
    Apart {
        /// Path of the file.
        path: PathBuf,
        /// Path of the trace.
        trace: PathBuf,
        /// Time between them, in seconds.
        distance: f64,
        /// True if the file begins after the trace.
        is_later: bool,
    },
    /// A capture has no message of any application.
    #[error("{} has no message with the PublisherIds of the run: {ids}", path.display())]
    ForeignCapture {
        /// Path of the capture.
        path: PathBuf,
        /// PublisherIds of the run.
        ids: String,
    },
    /// A capture has messages of several senders with one PublisherId.
    #[error("{} has messages with PublisherId {publisher_id} of {} senders: {}", path.display(), senders.len(), senders.join(", "))]
    Strangers {
        /// Path of the capture.
        path: PathBuf,
        /// PublisherId.
        publisher_id: u64,
        /// Hardware address of each, with its group and DataSetWriter.
        senders: Vec<String>,
    },
    /// Two captures were made at the same port.
    #[error("{} and {} were both made at the port of the {side} of {application}", first.display(), second.display())]
    SamePort {
        /// Side: `publisher` or `loopback`.
        side: &'static str,
        /// Name of the application.
        application: String,
        /// Path of a capture.
        first: PathBuf,
        /// Path of the other capture.
        second: PathBuf,
    },
    /// Most times of a capture with the card's stamps contradict those of the threads.
    #[error(
        "the network card did not stamp the sent frames of {}: of {contradictions} of {count} messages, the time from {:?} to {:?} \
         is not within that from {:?} to {:?}",
        path.display(), inner.0, inner.1, outer.0, outer.1
    )]
    SentNotStamped {
        /// Path of the capture.
        path: PathBuf,
        /// Trace points of the interval that is longer.
        inner: (TracePoint, TracePoint),
        /// Trace points of the interval that has it within.
        outer: (TracePoint, TracePoint),
        /// Number of messages whose times contradict each other.
        contradictions: u64,
        /// Number of messages with both intervals, or with a negative one.
        count: u64,
    },
    /// The network card stamped the packets of one capture at the port of a Publisher, and not those of another one.
    #[error("the network card stamped {}, but not {}: both were made at the port of a publisher", card.display(), other.display())]
    MixedStamps {
        /// Path of the capture with the card's stamps.
        card: PathBuf,
        /// Path of the other capture.
        other: PathBuf,
    },
    /// Most times of two files at one host are impossible: they have different clocks.
    #[error("{} and {} have different clocks: {}", first.display(), second.display(), impossible(.delays))]
    OtherClock {
        /// Path of the file with the first trace point.
        first: PathBuf,
        /// Path of the file with the second one.
        second: PathBuf,
        /// Impossible times.
        delays: Box<ImpossibleDelays>,
    },
    /// Most times between two hosts, whose clocks are said to be synchronized, are negative.
    #[error("the clocks of {} and {} are not synchronized: {}", first.display(), second.display(), impossible(.delays))]
    NotSynchronized {
        /// Path of the file with the first trace point.
        first: PathBuf,
        /// Path of the file with the second one.
        second: PathBuf,
        /// Impossible times.
        delays: Box<ImpossibleDelays>,
    },
    /// The run cannot be written.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A file cannot be copied.
    #[error("cannot copy {}: {error}", path.display())]
    Copy {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The description of the run cannot be written.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
}

fn impossible(delays: &ImpossibleDelays) -> String {
    let ImpossibleDelays {
        interval,
        negative,
        least_nanos,
        count,
        ..
    } = delays;
    let (from, to) = (interval.from, interval.to);
    let mut parts = Vec::new();
    if *negative > 0 {
        let least = least_nanos.map_or_else(String::new, |least| {
            format!(", down to {:.3} \u{b5}s", least as f64 / 1e3)
        });
        parts.push(format!("{negative} of {count} times are negative{least}"));
    }
    parts.extend(delays.too_long());
    format!(
        "{} ({from:?} to {to:?}, {})",
        parts.join(", "),
        interval.name
    )
}

fn named(runs: &[RunId]) -> String {
    let runs = runs.iter().map(ToString::to_string);
    runs.collect::<Vec<_>>().join(", ")
}

fn apart(path: &Path, trace: &Path, distance: f64, is_later: bool) -> String {
    let (path, trace) = (path.display(), trace.display());
    match is_later {
        true => format!("{path} begins {distance:.3} s after {trace} ended"),
        false => format!("{path} ends {distance:.3} s before {trace} begins"),
    }
}
