//! Execution of commands: by the operating system, or by a kernel of a test.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::shell_command::ShellCommand;

/// Result of a command that was run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandResult {
    /// True if the exit status is 0.
    pub success: bool,
    /// Standard output.
    pub stdout: String,
    /// Error output.
    pub stderr: String,
}

/// A command that could not be run.
#[derive(Debug, thiserror::Error)]
#[error("cannot run `{program}`: {source}")]
pub struct ExecutorError {
    /// Name of the program.
    pub program: String,
    /// Cause.
    #[source]
    pub source: std::io::Error,
}

/// A place at which commands run.
pub trait Executor {
    /// Runs a command, and waits for its end.
    ///
    /// # Errors
    /// The command could not be run. A command that fails is no error here.
    fn run(&mut self, command: &ShellCommand) -> Result<CommandResult, ExecutorError>;
}

/// The operating system, in this network namespace or in a named one.
#[derive(Debug, Clone, Default)]
pub struct SystemExecutor {
    /// Name of the network namespace (`ip netns`); by default that of this process.
    pub namespace: Option<String>,
}

impl Executor for SystemExecutor {
    fn run(&mut self, command: &ShellCommand) -> Result<CommandResult, ExecutorError> {
        let program = match &self.namespace {
            Some(_) => "ip",
            None => command.program,
        };
        let mut process = Command::new(program);
        if let Some(namespace) = &self.namespace {
            process.args(["netns", "exec", namespace, command.program]);
        }
        process.args(command.arguments());
        // Messages are compared, so they must not be translated.
        process.env("LC_ALL", "C").stdin(Stdio::null());
        process.env("PATH", search_path());
        let output = process.output().map_err(|source| ExecutorError {
            program: program.to_owned(),
            source,
        })?;
        Ok(CommandResult {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

/// Returns the directories in which programs are sought: those of PATH, and those of system programs, which other users than root often
/// lack there.
#[must_use]
pub fn search_path() -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    if !path.is_empty() {
        path.push(":");
    }
    path.push("/usr/sbin:/sbin:/usr/bin:/bin");
    path
}
