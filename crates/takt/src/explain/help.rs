//! Any error with advice.

use miette::{MietteDiagnostic, Report};

/// Explains any other error, with advice.
pub fn with_help(error: impl std::fmt::Display, help: impl Into<String>) -> Report {
    Report::new(MietteDiagnostic::new(error.to_string()).with_help(help.into()))
}
