//! Errors of an attack, of a second client, and of counting what the server uses.

use std::io;

/// Reason why an attack, or what observes it, did not come about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttackError {
    /// An endpoint that is not of this host, or no endpoint.
    #[error("`{0}` is not an endpoint of this host")]
    Endpoint(String),
    /// An assignment that is none.
    #[error("no assignment of an attacker: {0}")]
    Assignment(#[from] serde_json::Error),
    /// A system call that failed.
    #[error("cannot {action}: {error}")]
    System {
        /// Action that failed.
        action: &'static str,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// A process that did not do its part.
    #[error("the process for `{what}` {reason}")]
    Process {
        /// Name of the process.
        what: String,
        /// Reason.
        reason: String,
    },
    /// A client or server that could not be started.
    #[error("{what}: {reason}")]
    Start {
        /// Client or server.
        what: &'static str,
        /// Reason.
        reason: String,
    },
}

impl AttackError {
    /// Returns the error of a failed system call, for `map_err`.
    pub(crate) fn system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { action, error }
    }

    /// Returns the error of a client or server that could not be started, for `map_err`.
    pub(crate) fn start<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Start {
            what,
            reason: error.to_string(),
        }
    }

    /// Returns the error of a process, for `map_err`.
    pub(crate) fn process<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> Self {
        let what = what.to_owned();
        move |error| Self::Process {
            what,
            reason: error.to_string(),
        }
    }
}
