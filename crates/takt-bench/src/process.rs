//! Servers in processes of their own.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::error::{BenchError, check_interrupt};

/// How long a server may take to begin.
const START: Duration = Duration::from_secs(10);
/// How long it may take to end by itself, many connections included.
const END: Duration = Duration::from_secs(10);
/// How often to ask whether the user has had enough.
const STEP: Duration = Duration::from_millis(20);

/// The line that a server prints when it can be reached; the foreign peers print the same.
#[derive(Debug, Deserialize)]
pub(crate) struct Ready {
    ready: bool,
    /// Where.
    #[serde(default)]
    pub(crate) endpoint: String,
    /// The namespace of its Variables.
    #[serde(default)]
    pub(crate) namespace: u16,
    /// Where, if it is several.
    #[serde(default)]
    pub(crate) endpoints: Vec<String>,
    #[serde(default)]
    error: String,
}

impl Ready {
    /// A server in this process.
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

/// A server process. It ends when its standard input does, and so when this is dropped, or when this process is gone, in whatever
/// way; one that does not is killed.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    ready: Ready,
    /// What it prints.
    lines: mpsc::Receiver<io::Result<String>>,
}

impl Process {
    /// Starts `command` and waits until it is ready. `what` is for errors.
    pub(crate) fn start(what: &str, command: &mut Command) -> Result<Self, BenchError> {
        Self::start_within(what, command, START, &AtomicBool::new(false))
    }

    /// The same for one that may take longer.
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
        // Ctrl-C on the terminal is for this process, which ends the others in order.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| fault(format!("cannot be started: {error}")))?;
        let input = child.stdin.take();
        let (sender, lines) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            // A pipe cannot be read with a timeout. The thread ends with the process, or when nobody listens.
            std::thread::spawn(move || {
                let mut lines = BufReader::new(output).lines();
                while lines.next().is_some_and(|line| sender.send(line).is_ok()) {}
            });
        }
        // From here on it is ended whatever happens.
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

    /// The next line that it prints.
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

    /// Asks it how far it is, with an empty line, and gives the line that it answers with.
    pub(crate) fn ask(&mut self, what: &str) -> Result<String, BenchError> {
        if let Some(input) = &mut self.input {
            let asked = input.write_all(b"\n").and_then(|()| input.flush());
            asked.map_err(BenchError::system(&format!("ask the process for `{what}`")))?;
        }
        self.line(what, START, &AtomicBool::new(false))
    }

    /// Asks it to end; dropping this waits until it has.
    pub(crate) fn ask_to_end(&mut self) {
        drop(self.input.take());
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where it is reached.
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
                // Ended, or not ours to wait for.
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // If it is gone by now, there is nothing to kill.
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
    fn servers_that_do_not_come_up_are_told_apart() {
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
