//! Errors of Takt's own peers.

/// Reason why a peer ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnPeerError {
    /// Option that the peer does not know.
    #[error("the option `{0}` is unknown, or its value is")]
    Option(String),
    /// Line that is no command of the line protocol.
    #[error("`{0}` is no command of the line protocol")]
    Command(String),
    /// Failure of the middleware.
    #[error("{0}")]
    Failed(String),
    /// System call that failed.
    #[error("cannot {action}: {error}")]
    System {
        /// Action that failed.
        action: &'static str,
        /// Error of the operating system.
        #[source]
        error: std::io::Error,
    },
}

impl OwnPeerError {
    /// Returns the exit status of the process: 2 for an unknown option.
    #[must_use]
    pub const fn exit_status(&self) -> i32 {
        match self {
            Self::Option(_) => 2,
            _ => 1,
        }
    }

    /// Returns the error of a failed system call, for `map_err`.
    pub(super) fn system<E: Into<std::io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::System {
            action,
            error: error.into(),
        }
    }

    /// Returns the error of a failed operation of the middleware, for `map_err`.
    pub(crate) fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}
