//! Reasons why a run is not packed.

use std::io;
use std::path::PathBuf;

use takt_control::trace_file::TraceFileError;

use crate::run_directory::RunDirectoryError;

/// Reason why a run is not packed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The directory has no run, or a damaged description.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// A trace is damaged.
    #[error("{}: {error}", path.display())]
    Trace {
        /// Path of the trace.
        path: PathBuf,
        /// Damage.
        #[source]
        error: TraceFileError,
    },
    /// A capture is damaged.
    #[error("{}: {damage}", path.display())]
    Capture {
        /// Path of the capture.
        path: PathBuf,
        /// Damage.
        damage: String,
    },
    /// A path in the description leads out of the directory.
    #[error("{} leads out of the directory of the run", .0.display())]
    Outside(PathBuf),
    /// A file has a name of this host or of its user.
    #[error("{file} has the name `{name}`")]
    Name {
        /// Name of the file in the archive.
        file: String,
        /// The name of a host, a user or a home directory.
        name: String,
    },
    /// A file is too long, or its name.
    #[error("{file} cannot be packed: {reason}")]
    Archive {
        /// Name of the file in the archive.
        file: String,
        /// Reason.
        reason: &'static str,
    },
    /// The archive cannot be written.
    #[error("the archive cannot be written: {0}")]
    Write(#[source] io::Error),
    /// A text cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
