//! Servers in processes of their own.

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Deserialize;
use takt_rt::child::{ChildError, ChildProcess, Ending};

use super::error::BenchError;

/// Longest time that a server may take to start, and to answer.
const START: Duration = Duration::from_secs(10);

/// Line that a server prints once it can be reached. The foreign peers print the same line.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Ready {
    ready: bool,
    /// Endpoint of the server.
    #[serde(default)]
    pub(crate) endpoint: String,
    /// Namespace of its Variables.
    #[serde(default)]
    pub(crate) namespace: u16,
    /// Endpoints, if there are several.
    #[serde(default)]
    pub(crate) endpoints: Vec<String>,
    #[serde(default)]
    error: String,
}

impl Ready {
    /// Returns the line of a server in this process.
    #[cfg(test)]
    pub(crate) fn at(endpoint: String) -> Self {
        Self {
            ready: true,
            endpoint,
            namespace: 1,
            ..Self::default()
        }
    }
}

/// A server process that is ready. It ends with its standard input: when this is dropped, or when this process ends in any way.
#[derive(Debug)]
pub(crate) struct Process {
    child: ChildProcess,
    ready: Ready,
}

impl Process {
    /// Starts `command` and waits until it is ready. `what` is its name in errors.
    pub(crate) fn start(what: &str, command: &mut Command) -> Result<Self, BenchError> {
        Self::start_within(what, command, START, &AtomicBool::new(false))
    }

    /// Does the same for a process that may take longer.
    pub(crate) fn start_within(
        what: &str,
        command: &mut Command,
        start: Duration,
        interrupted: &AtomicBool,
    ) -> Result<Self, BenchError> {
        let fault = |reason: String| BenchError::Process {
            what: what.to_owned(),
            reason,
        };
        let child = ChildProcess::start(what, command, Ending::Input);
        let child = child.map_err(failed(what))?;
        let line = child.line(start, interrupted).map_err(failed(what))?;
        let ready: Ready = serde_json::from_str(&line)
            .map_err(|error| fault(format!("printed {line:?}: {error}")))?;
        if !ready.ready {
            return Err(fault(format!("cannot serve: {}", ready.error)));
        }
        Ok(Self { child, ready })
    }

    /// Asks for its progress with an empty line, and returns the line of its answer.
    pub(crate) fn ask(&mut self) -> Result<String, BenchError> {
        let answer = self.child.ask(START);
        answer.map_err(failed(self.child.name()))
    }

    /// Asks it to end. Drop waits for the end.
    pub(crate) fn ask_to_end(&mut self) {
        self.child.ask_to_end();
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the line that the server printed when it was ready.
    pub(crate) fn ready(&self) -> &Ready {
        &self.ready
    }
}

/// Returns the error of the process `what`, for `map_err`.
pub(crate) fn failed(what: &str) -> impl FnOnce(ChildError) -> BenchError {
    let what = what.to_owned();
    move |error| match error {
        ChildError::Interrupted => BenchError::Interrupted,
        error => BenchError::Process {
            what,
            reason: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str) -> Result<Process, BenchError> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start("a test", &mut command)
    }

    #[test]
    fn a_server_prints_its_endpoint() {
        let ready = r#"echo '{"ready":true,"endpoint":"here","namespace":2}'; exec cat"#;
        let process = start(ready).unwrap();
        assert_eq!(process.ready().endpoint, "here");
        assert_eq!(process.ready().namespace, 2);
    }

    #[test]
    fn failed_starts_of_servers_are_explained() {
        for (script, said) in [
            ("exit 1", "the process for `a test` ended before"),
            ("echo hello; exec cat", "printed \"hello\""),
            (
                r#"echo '{"ready":false,"error":"no port"}'; exec cat"#,
                "cannot serve: no port",
            ),
        ] {
            let error = start(script).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
