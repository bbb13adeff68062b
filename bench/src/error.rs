//! Errors of a benchmark.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_rt::affinity::AffinityError;
use takt_ua::StatusCode;

/// Reason why a benchmark ended without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// Interrupt by the user.
    #[error("interrupted")]
    Interrupted,
    /// A filter that matches no row.
    #[error("no benchmark matches `{0}`; a label looks like `takt opc.tcp Read 4 diff blocking`")]
    NoMatch(String),
    /// An option out of its range.
    #[error("{0}")]
    Option(String),
    /// A thread that could not be pinned.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// A system call that failed.
    #[error("cannot {action}: {error}")]
    System {
        /// Action that failed.
        action: String,
        /// Error of the operating system.
        error: io::Error,
    },
    /// A process of the benchmark that did not do its part.
    #[error("the process for `{what}` {reason}")]
    Process {
        /// Name of the process.
        what: String,
        /// Reason.
        reason: String,
    },
    /// A round trip without an answer, or with a wrong answer.
    #[error("{what}: {reason}")]
    RoundTrip {
        /// Subject of the measurement.
        what: String,
        /// Reason.
        reason: String,
    },
    /// An attack that did not come about.
    #[error(transparent)]
    Attack(#[from] takt_attack::AttackError),
    /// A picture that cannot be drawn.
    #[error(transparent)]
    Plot(#[from] takt_figures::PictureError),
    /// A row that cannot be represented as JSON.
    #[error("cannot print a row as JSON: {0}")]
    Row(#[from] serde_json::Error),
    /// A request that the server in this process refused.
    #[error("{service} was answered with {status}")]
    Service {
        /// Service of the request.
        service: &'static str,
        /// StatusCode of the answer.
        status: StatusCode,
    },
}

impl BenchError {
    /// Returns the error of a failed system call, for `map_err`. It allocates only if there is an error, because it is used in
    /// measured code.
    pub(crate) fn system<E: Into<io::Error>>(action: &str) -> impl FnOnce(E) -> Self {
        move |error| Self::System {
            action: action.to_owned(),
            error: error.into(),
        }
    }

    /// Returns the error of a failed round trip, for `map_err`. It allocates only if there is an error.
    pub(crate) fn round_trip<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> Self {
        move |error| Self::RoundTrip {
            what: what.to_owned(),
            reason: error.to_string(),
        }
    }
}

/// Fails after an interrupt by the user.
pub(crate) fn check_interrupt(interrupted: &AtomicBool) -> Result<(), BenchError> {
    if interrupted.load(Ordering::Relaxed) {
        Err(BenchError::Interrupted)
    } else {
        Ok(())
    }
}
