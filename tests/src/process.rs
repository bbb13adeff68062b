//! Child processes that are always ended, by id, and whose output can be waited for with a deadline.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// Time for a dropped process to shut down.
const GRACE: Duration = Duration::from_secs(3);

/// Time limit of the kernel for removing a killed process, which may wait for a disk first.
const KILLED: Duration = Duration::from_secs(60);

/// Time to wait for the rest of its output after its end.
const REST: Duration = Duration::from_secs(1);

/// A child process whose standard input, output and error output are connected to the test.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
    errors: Arc<Mutex<String>>,
    error_collector: JoinHandle<()>,
    exit: Option<ExitStatus>,
}

/// Result of a process that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit status of the process.
    pub status: ExitStatus,
    /// Complete standard output.
    pub stdout: String,
    /// Complete error output.
    pub stderr: String,
}

impl Process {
    /// Starts a command. Messages contain `name`.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn spawn(name: &str, command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{name}: {command:?} cannot be started: {error}"));
        let stdout = child.stdout.take().expect("piped");
        let stderr = child.stderr.take().expect("piped");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                if sender
                    .send(String::from_utf8_lossy(&line).into_owned())
                    .is_err()
                {
                    break;
                }
            }
        });
        let errors = Arc::new(Mutex::new(String::new()));
        let collected = Arc::clone(&errors);
        let error_collector = thread::spawn(move || collect(stderr, &collected));
        Self {
            name: name.to_owned(),
            stdin: child.stdin.take(),
            child,
            lines,
            seen: Vec::new(),
            errors,
            error_collector,
            exit: None,
        }
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the next line of its standard output.
    ///
    /// # Panics
    /// If none comes in time, or its output has ended.
    pub fn next_line(&mut self, within: Duration) -> String {
        self.wait_for("a line", within, |_| true)
    }

    /// Returns the next line of its standard output, if there is one now. Messages do not show it.
    #[must_use]
    pub fn try_line(&mut self) -> Option<String> {
        self.lines.try_recv().ok()
    }

    /// Waits for a line of its standard output that `wanted` accepts, and returns it. Other lines are kept for
    /// messages.
    ///
    /// # Panics
    /// If none comes in time, or its output ends before.
    pub fn wait_for(
        &mut self,
        what: &str,
        within: Duration,
        wanted: impl Fn(&str) -> bool,
    ) -> String {
        let deadline = Instant::now() + within;
        loop {
            match self
                .lines
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if wanted(&line) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!(
                    "{}: {what} did not come within {within:?}{}",
                    self.name,
                    self.report()
                ),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("{} ended before {what} came{}", self.name, self.report())
                }
            }
        }
    }

    /// Writes a line to its standard input.
    ///
    /// # Panics
    /// If it no longer reads.
    pub fn send_line(&mut self, line: &str) {
        let written = self
            .stdin
            .as_mut()
            .ok_or(std::io::ErrorKind::BrokenPipe.into())
            .and_then(|stdin| writeln!(stdin, "{line}").and_then(|()| stdin.flush()));
        if let Err(error) = written {
            panic!(
                "{} does not read its input: {error}{}",
                self.name,
                self.report()
            );
        }
    }

    /// Closes its standard input.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal, unless the process has ended.
    pub fn signal(&mut self, signal: Signal) {
        if self.has_ended() {
            return;
        }
        // The child has not been waited for, so that its id cannot belong to another process.
        if let Some(pid) = i32::try_from(self.id()).ok().and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// Kills the process as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.wait(KILLED);
    }

    /// Returns whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        if self.exit.is_none() {
            self.exit = self.child.try_wait().expect("a child can be waited for");
        }
        self.exit.is_some()
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// If it has not ended in time.
    pub fn wait(&mut self, within: Duration) -> ExitStatus {
        match self.ended_within(within) {
            Some(status) => status,
            None => panic!(
                "{} did not end within {within:?}{}",
                self.name,
                self.report()
            ),
        }
    }

    /// Waits until it has ended, and returns all its output.
    ///
    /// # Panics
    /// If it has not ended in time.
    pub fn finish(mut self, within: Duration) -> Finished {
        self.close_input();
        let status = self.wait(within);
        // Output written before the end arrives at once, but grandchildren may keep both streams open.
        while let Ok(line) = self.lines.recv_timeout(REST) {
            self.seen.push(line);
        }
        let deadline = Instant::now() + REST;
        while !self.error_collector.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        Finished {
            status,
            stdout: self.seen.join("\n"),
            stderr: self.errors.lock().expect("not poisoned").clone(),
        }
    }

    /// Returns the output read so far, for messages.
    #[must_use]
    pub fn report(&self) -> String {
        let errors = self.errors.lock().expect("not poisoned");
        format!(
            "\n---- its output\n{}\n---- its error output\n{errors}",
            self.seen.join("\n")
        )
    }

    fn ended_within(&mut self, within: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + within;
        while !self.has_ended() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        self.exit
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stdin = None;
        self.signal(Signal::TERM);
        if self.ended_within(GRACE).is_none() {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Runs a command to its end, with empty input.
///
/// # Panics
/// If it cannot be started or does not end in time.
pub fn run(name: &str, command: &mut Command, within: Duration) -> Finished {
    Process::spawn(name, command).finish(within)
}

impl Finished {
    /// Returns its output if it succeeded.
    ///
    /// # Panics
    /// If it failed.
    #[must_use]
    pub fn expect_success(self) -> String {
        assert!(
            self.status.success(),
            "ended with {}\n---- its output\n{}\n---- its error output\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
        self.stdout
    }

    /// Returns its error output if it failed without being killed.
    ///
    /// # Panics
    /// If it succeeded, or was killed by a signal.
    #[must_use]
    pub fn expect_failure(self) -> String {
        let code = self.status.code();
        assert!(
            code.is_some_and(|code| code != 0 && code != 101),
            "should have ended with an error of its own, not with {}\n---- its output\n{}\n---- its error output\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
        self.stderr
    }
}

fn collect(mut from: impl Read, into: &Mutex<String>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        into.lock()
            .expect("not poisoned")
            .push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
}
