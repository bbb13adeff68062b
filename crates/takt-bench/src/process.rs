//! Servers in processes of their own.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::error::{BenchError, check_interrupt};

/// Longest time that a server may take to start.
const START: Duration = Duration::from_secs(10);
/// Longest time that a server may take to end by itself, including the end of many connections.
const END: Duration = Duration::from_secs(10);
/// Interval of the checks for an interrupt by the user.
const STEP: Duration = Duration::from_millis(20);

/// Line that a server prints once it can be reached. The foreign peers print the same line.
#[derive(Debug, Deserialize)]
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
            endpoints: Vec::new(),
            error: String::new(),
        }
    }
}

/// A server process. It ends with its standard input: when this is dropped, or when this process ends in any way. A process that
/// does not end is killed.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    ready: Ready,
    /// Lines of its standard output.
    lines: mpsc::Receiver<io::Result<String>>,
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
        // Ctrl-C on the terminal is for this process. It ends the others in order.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| fault(format!("cannot be started: {error}")))?;
        let input = child.stdin.take();
        let (sender, lines) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            // A pipe cannot be read with a timeout. The thread ends with the process, or when the receiver is gone.
            std::thread::spawn(move || {
                let mut lines = BufReader::new(output).lines();
                while lines.next().is_some_and(|line| sender.send(line).is_ok()) {}
            });
        }
        // From here on, an early return ends the process.
        let mut process = Self {
            child,
            input,
            ready: Ready {
                ready: false,
                endpoint: String::new(),
                namespace: 0,
                endpoints: Vec::new(),
                error: String::new(),
            },
            lines,
        };
        let line = process.line(what, start, interrupted)?;
        let ready: Ready = serde_json::from_str(&line)
            .map_err(|error| fault(format!("printed {:?}: {error}", line.trim_end())))?;
        if !ready.ready {
            return Err(fault(format!("cannot serve: {}", ready.error)));
        }
        process.ready = ready;
        Ok(process)
    }

    /// Returns the next line of its output.
    fn line(
        &self,
        what: &str,
        patience: Duration,
        interrupted: &AtomicBool,
    ) -> Result<String, BenchError> {
        let fault = |reason: String| BenchError::Process {
            what: what.to_owned(),
            reason,
        };
        let deadline = Instant::now() + patience;
        loop {
            check_interrupt(interrupted)?;
            match self.lines.recv_timeout(STEP) {
                Ok(Ok(line)) => return Ok(line),
                Ok(Err(error)) => return Err(fault(format!("cannot be heard: {error}"))),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(fault("ended before it was ready".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = patience.as_secs();
                    return Err(fault(format!("was not ready after {seconds} s")));
                }
            }
        }
    }

    /// Asks for its progress with an empty line, and returns the line of its answer.
    pub(crate) fn ask(&mut self, what: &str) -> Result<String, BenchError> {
        if let Some(input) = &mut self.input {
            let asked = input.write_all(b"\n").and_then(|()| input.flush());
            asked.map_err(BenchError::system(&format!("ask the process for `{what}`")))?;
        }
        self.line(what, START, &AtomicBool::new(false))
    }

    /// Asks it to end. Drop waits for the end.
    pub(crate) fn ask_to_end(&mut self) {
        drop(self.input.take());
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

impl Drop for Process {
    fn drop(&mut self) {
        self.ask_to_end();
        let deadline = Instant::now() + END;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                // The process has ended, or this process cannot wait for it.
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // If it has ended by now, there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn is_there(id: u32) -> bool {
        std::path::Path::new(&format!("/proc/{id}")).exists()
    }

    #[test]
    fn a_server_is_ended_by_the_end_of_its_input() {
        let ready = r#"echo '{"ready":true,"endpoint":"here","namespace":2}'; exec cat"#;
        let process = Process::start("a test", &mut shell(ready)).unwrap();
        assert_eq!(process.ready().endpoint, "here");
        assert_eq!(process.ready().namespace, 2);
        let id = process.id();
        assert!(is_there(id));
        drop(process);
        assert!(!is_there(id));
    }

    #[test]
    fn a_process_that_is_asked_answers() {
        let answers = r#"echo '{"ready":true}'; while read line; do echo "so far"; done"#;
        let mut process = Process::start("a test", &mut shell(answers)).unwrap();
        for _ in 0..2 {
            assert_eq!(process.ask("a test").unwrap(), "so far");
        }
    }

    #[test]
    fn failed_starts_of_servers_are_explained() {
        for (script, said) in [
            ("exit 1", "ended before"),
            ("echo hello; exec cat", "printed \"hello\""),
            (
                r#"echo '{"ready":false,"error":"no port"}'; exec cat"#,
                "cannot serve: no port",
            ),
        ] {
            let error = Process::start("a test", &mut shell(script)).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
        let error = Process::start("a test", &mut Command::new("/does/not/exist")).unwrap_err();
        assert!(error.to_string().contains("cannot be started"), "{error}");
    }
}
