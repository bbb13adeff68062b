//! Errors of the commands, with the fix.

use std::path::PathBuf;

/// Error of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("unknown argument `{0}`; see `cargo xtask --help`")]
    Argument(String),
    #[error("{path}: {source}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot run `{program}`: {source}; install it ({hint})")]
    Program {
        program: &'static str,
        hint: &'static str,
        source: std::io::Error,
    },
    #[error("`{command}` failed ({status})")]
    Command {
        command: String,
        status: std::process::ExitStatus,
    },
    #[error("the output of `{command}` is not UTF-8 text")]
    Text { command: String },
    #[error("`npm pack {package}` failed: {output}")]
    Fetch { package: String, output: String },
    #[error(
        "{path}: SHA-512 is {actual}, expected {expected}; delete the file and try again, or pin the new hash in xtask/src/sources.rs"
    )]
    Hash {
        path: PathBuf,
        actual: String,
        expected: &'static str,
    },
    #[error("{file}: {source}")]
    Xml {
        file: &'static str,
        source: roxmltree::Error,
    },
    #[error("{file}: {message}")]
    Content { file: &'static str, message: String },
    #[error("rustfmt does not accept the generated code: {0}")]
    Rustfmt(String),
    #[error(
        "{} generated file(s) differ from what is committed; run the same command without --check\n{}", .0.len(), .0.join("\n")
    )]
    Differs(Vec<String>),
}

impl Error {
    /// Creates an error of a source file whose contents the generator does not support.
    pub(crate) fn content(file: &'static str, message: impl Into<String>) -> Self {
        Self::Content {
            file,
            message: message.into(),
        }
    }
}
