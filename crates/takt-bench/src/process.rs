//! Servers in processes of their own.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
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
        let output = child.stdout.take();
        // From here on it is ended whatever happens.
        let mut process = Self {
            child,
            input,
            ready: Ready {
                ready: false,
                endpoint: String::new(),
                namespace: 0,
                error: String::new(),
            },
        };
        let (sender, line) = mpsc::channel();
        if let Some(output) = output {
            // A pipe cannot be read with a timeout. The thread ends with the line, or with the process.
            std::thread::spawn(move || {
                let mut line = String::new();
                let read = BufReader::new(output).read_line(&mut line);
                let _ = sender.send(read.map(|_| line));
            });
        }
        let deadline = Instant::now() + start;
        let line = loop {
            check_interrupt(interrupted)?;
            match line.recv_timeout(STEP) {
                Ok(Ok(line)) if !line.is_empty() => break line,
                Ok(Ok(_)) => return Err(fault("ended before it was ready".to_owned())),
                Ok(Err(error)) => return Err(fault(format!("cannot be heard: {error}"))),
                Err(_) if Instant::now() < deadline => {}
                Err(_) => return Err(fault(format!("was not ready after {} s", start.as_secs()))),
            }
        };
        let ready: Ready = serde_json::from_str(&line)
            .map_err(|error| fault(format!("printed {:?}: {error}", line.trim_end())))?;
        if !ready.ready {
            return Err(fault(format!("cannot serve: {}", ready.error)));
        }
        process.ready = ready;
        Ok(process)
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
        drop(self.input.take());
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
