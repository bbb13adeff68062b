//! Errors of the comparison.

use std::path::PathBuf;

/// Reason why a comparison ended without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MiddlewareError {
    /// Interrupt by the user.
    #[error("interrupted")]
    Interrupted,
    /// File that cannot be read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    File {
        /// Action that failed.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: std::io::Error,
    },
    /// Table of peers that is not valid.
    #[error("{}: {reason}", path.display())]
    Table {
        /// Path of the table.
        path: PathBuf,
        /// Reason, with line and column.
        reason: String,
    },
    /// Filter that no peer matches.
    #[error("no peer matches `{0}`")]
    NoMatch(String),
    /// Namespaces, link or other host that cannot be used.
    #[error("cannot run there: {0}")]
    Environment(String),
    /// Results of another comparison.
    #[error("{} has results of a comparison with other options ({reason})", path.display())]
    OtherOptions {
        /// Folder of the results.
        path: PathBuf,
        /// Option that differs.
        reason: String,
    },
    /// Output that cannot be written.
    #[error("cannot write the results: {0}")]
    Output(String),
    /// Installation that nobody has confirmed.
    #[error("the installation was not confirmed")]
    Unconfirmed,
    /// Installation that failed.
    #[error("cannot install {peer}: {reason}")]
    Install {
        /// Peer, or packages.
        peer: String,
        /// Reason.
        reason: String,
    },
    /// Program of the load that is missing.
    #[error(
        "--load cpu needs stress-ng: `takt bench peers install` installs it, or `sudo apt-get install stress-ng`"
    )]
    NoStress,
    /// Scheduler that this user may not use.
    #[error(transparent)]
    Scheduler(#[from] takt_rt::priority::PriorityError),
    /// Required peers that were not measured.
    #[error("required peers were not measured without fault: {0}")]
    Required(String),
}

impl MiddlewareError {
    /// Returns the error of a file, for `map_err`.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| Self::File {
            action,
            path,
            error,
        }
    }
}
