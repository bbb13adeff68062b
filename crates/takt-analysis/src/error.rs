//! Errors of an analysis.

use std::path::PathBuf;

use takt_control::TracePoint;
use takt_control::trace_file::TraceFileError;

/// Reason why a run cannot be analyzed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: std::io::Error,
    },
    /// A file is neither a trace nor a capture.
    #[error("{} is neither a trace file of Takt nor a capture (pcapng or pcap)", path.display())]
    UnknownFormat {
        /// Path of the file.
        path: PathBuf,
    },
    /// The beginning of a trace file is damaged.
    #[error("{}: {error}", path.display())]
    Trace {
        /// Path of the file.
        path: PathBuf,
        /// Error of the format.
        #[source]
        error: TraceFileError,
    },
    /// The beginning of a capture is damaged.
    #[error("{}: {reason}", path.display())]
    Capture {
        /// Path of the file.
        path: PathBuf,
        /// Damage.
        reason: String,
    },
    /// A capture has messages of more than one Publisher and one loopback.
    #[error("{} has messages of {} senders: {}", path.display(), senders.len(), senders.join("; "))]
    SeveralSenders {
        /// Path of the file.
        path: PathBuf,
        /// PublisherId, WriterGroupId and DataSetWriterId of each, with the number of messages.
        senders: Vec<String>,
    },
    /// Two files have the same trace point.
    #[error("{} and {} both have trace point {point:?}: they are of different runs", first.display(), second.display())]
    SamePoint {
        /// Trace point.
        point: TracePoint,
        /// Path of one file.
        first: PathBuf,
        /// Path of the other file.
        second: PathBuf,
    },
    /// No file has a message.
    #[error("there is no message with a counter in any file")]
    NoMessages,
    /// Nothing is left after trimming.
    #[error("the run has {messages} messages: nothing is left without the first and last {trim}")]
    TooShort {
        /// Number of messages from the first to the last counter.
        messages: u64,
        /// Number of messages to leave out at each end.
        trim: u64,
    },
}
