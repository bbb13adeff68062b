//! Child processes that are watched, and that end with their parent.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::interrupt::END_WITH_PARENT;
use crate::time_limit::TimeLimit;

/// Longest time that a child process may take to end before it is killed, by default.
const GRACE: Duration = Duration::from_secs(10);
/// Interval of the checks for an interrupt.
const STEP: Duration = Duration::from_millis(20);
/// Interval of the checks for the end of a process.
const END_STEP: Duration = Duration::from_millis(1);
/// Number of lines that wait for the parent. The child waits when there are more, as with any pipe that is not read.
const MAX_LINES: usize = 1024;
/// Largest length of a line of output in bytes.
const MAX_LINE: u64 = 1 << 20;

/// Way to ask a child process to end. It also holds when the parent is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The standard input of the child ends. The child must read its input.
    Input,
    /// The child gets SIGTERM. When the parent is killed, the child gets SIGTERM from the kernel
    /// (`PR_SET_PDEATHSIG`) if it uses [`Interrupt`](crate::interrupt::Interrupt). The kernel sends the signal at the end
    /// of the thread that started the child, so that this thread must last as long as the child.
    Signal,
}

/// Failure of a child process.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// Program that cannot be started.
    #[error("cannot be started: {0}")]
    Start(#[source] io::Error),
    /// Output that cannot be read.
    #[error("has no readable output: {0}")]
    Output(#[source] io::Error),
    /// Input that cannot be written.
    #[error("takes no input: {0}")]
    Input(#[source] io::Error),
    /// Exit status that the system does not tell.
    #[error("cannot be waited for: {0}")]
    Status(#[source] io::Error),
    /// End of the process before its answer.
    #[error("ended before it answered")]
    Ended,
    /// Process that did not answer in time.
    #[error("did not answer within {} s", .0.as_secs())]
    Late(Duration),
    /// Interrupt by the user.
    #[error("was interrupted")]
    Interrupted,
}

/// A child process in a process group of its own. Ctrl-C on the terminal is for the parent, which ends its children in
/// order.
///
/// Dropping it ends the process, see [`end`](Self::end).
#[derive(Debug)]
pub struct ChildProcess {
    name: String,
    child: Child,
    ending: Ending,
    grace: Duration,
    is_asked: bool,
    input: Option<ChildStdin>,
    /// Lines of the standard output.
    lines: Receiver<io::Result<String>>,
}

impl ChildProcess {
    /// Starts a command. `name` is its name in messages.
    ///
    /// # Errors
    /// [`ChildError::Start`].
    pub fn start(name: &str, command: &mut Command, ending: Ending) -> Result<Self, ChildError> {
        match ending {
            // The variable of the parent's own parent is not for this child.
            Ending::Input => command.stdin(Stdio::piped()).env_remove(END_WITH_PARENT),
            Ending::Signal => command
                .stdin(Stdio::null())
                .env(END_WITH_PARENT, std::process::id().to_string()),
        };
        let command = command.stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(ChildError::Start)?;
        let (sender, lines) = sync_channel(MAX_LINES);
        let (input, output) = (child.stdin.take(), child.stdout.take());
        // From here on, an early return ends the process.
        let process = Self {
            name: name.to_owned(),
            child,
            ending,
            grace: GRACE,
            is_asked: false,
            input,
            lines,
        };
        if let Some(output) = output {
            // A pipe cannot be read with a timeout. The thread ends with the process, or when the receiver is gone.
            let thread = std::thread::Builder::new().name("child output".to_owned());
            let started = thread.spawn(move || pass_lines(output, &sender));
            started.map_err(ChildError::Start)?;
        }
        Ok(process)
    }

    /// Sets the longest time that the process may take to end before it is killed. The default is 10 s.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Returns the name of the process in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status, if the process has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for the next line of the standard output.
    ///
    /// # Errors
    /// [`ChildError::Late`] after this time, [`ChildError::Interrupted`] soon after `interrupted` is set, and others.
    pub fn line(&self, within: Duration, interrupted: &AtomicBool) -> Result<String, ChildError> {
        match self.line_until(TimeLimit::after(within), interrupted)? {
            Some(line) => Ok(line),
            None => Err(ChildError::Late(within)),
        }
    }

    /// Does the same; returns `None` after the limit.
    fn line_until(
        &self,
        limit: TimeLimit,
        interrupted: &AtomicBool,
    ) -> Result<Option<String>, ChildError> {
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Err(ChildError::Interrupted);
            }
            match self.lines.recv_timeout(STEP) {
                Ok(line) => return line.map(Some).map_err(ChildError::Output),
                Err(RecvTimeoutError::Disconnected) => return Err(ChildError::Ended),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if limit.is_over() {
                return Ok(None);
            }
        }
    }

    /// Sends the process an empty line and waits for the line of its answer. The process must have [`Ending::Input`].
    ///
    /// # Errors
    /// [`ChildError`].
    pub fn ask(&mut self, within: Duration) -> Result<String, ChildError> {
        self.tell("")?;
        self.line(within, &AtomicBool::new(false))
    }

    /// Sends the process a line. The process must have [`Ending::Input`].
    ///
    /// # Errors
    /// [`ChildError::Input`].
    pub fn tell(&mut self, line: &str) -> Result<(), ChildError> {
        let told = match &mut self.input {
            Some(input) => input
                .write_all(format!("{line}\n").as_bytes())
                .and_then(|()| input.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        told.map_err(ChildError::Input)
    }

    /// Waits until the process has ended by itself. Returns the rest of its output and its exit status.
    ///
    /// # Errors
    /// [`ChildError::Interrupted`] soon after `interrupted` is set, and others. The process is ended.
    pub fn finish(
        mut self,
        interrupted: &AtomicBool,
    ) -> Result<(Vec<String>, ExitStatus), ChildError> {
        let mut lines = Vec::new();
        loop {
            match self.line_until(TimeLimit::NEVER, interrupted) {
                Ok(line) => lines.extend(line),
                Err(ChildError::Ended) => break,
                Err(error) => return Err(error),
            }
        }
        // The output may end before the process.
        loop {
            match self.child.try_wait().map_err(ChildError::Status)? {
                Some(status) => return Ok((lines, status)),
                None if interrupted.load(Ordering::Relaxed) => return Err(ChildError::Interrupted),
                None => std::thread::sleep(END_STEP),
            }
        }
    }

    /// Stops the process (SIGSTOP). It can still be ended.
    pub fn suspend(&mut self) {
        self.signal(Signal::STOP);
    }

    /// Asks the process to end, once. A second SIGTERM may end a program at once and without cleaning up.
    pub fn ask_to_end(&mut self) {
        if std::mem::replace(&mut self.is_asked, true) {
            return;
        }
        drop(self.input.take());
        if self.ending == Ending::Signal {
            self.signal(Signal::TERM);
        }
    }

    fn signal(&mut self, signal: Signal) {
        if self.ended().is_none() {
            // The child has not been waited for, so that its id belongs to no other process.
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    /// Asks the process to end, waits for its end, and kills it if it takes too long. Returns true if it has ended by
    /// itself.
    pub fn end(&mut self) -> bool {
        self.ask_to_end();
        let limit = TimeLimit::after(self.grace);
        loop {
            // A process that waits for a reader of its output does not end.
            while self.lines.try_recv().is_ok() {}
            match self.child.try_wait() {
                Ok(None) if !limit.is_over() => std::thread::sleep(END_STEP),
                Ok(None) => break,
                // The process has ended, or this process cannot wait for it.
                Ok(Some(_)) | Err(_) => return true,
            }
        }
        // If it has ended by now, there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
        false
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends each line of `output` until the output or the receiver ends, or after an error.
fn pass_lines(output: ChildStdout, lines: &SyncSender<io::Result<String>>) {
    let mut output = BufReader::new(output);
    loop {
        let line = match next_line(&mut output) {
            Ok(Some(line)) => Ok(line),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        let is_last = line.is_err();
        if lines.send(line).is_err() || is_last {
            return;
        }
    }
}

/// Returns the next line without its end; `None` at the end of the output.
fn next_line(output: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let length = output.take(MAX_LINE).read_line(&mut line)?;
    if length as u64 == MAX_LINE && !line.ends_with('\n') {
        let reason = format!("a line is longer than {MAX_LINE} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok((length > 0).then_some(line))
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::process::exists;

    /// Time that no process of these tests takes.
    const LONG: Duration = Duration::from_secs(120);

    fn start(script: &str, ending: Ending) -> ChildProcess {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let child = ChildProcess::start("a test", &mut command, ending).unwrap();
        child.with_grace(LONG)
    }

    fn line(process: &ChildProcess) -> Result<String, ChildError> {
        process.line(LONG, &AtomicBool::new(false))
    }

    #[test]
    fn the_end_of_the_input_or_a_signal_ends_a_process() {
        for (script, ending) in [
            ("echo ready; exec cat", Ending::Input),
            ("echo ready; exec sleep 1000", Ending::Signal),
        ] {
            let mut process = start(script, ending);
            assert_eq!(line(&process).unwrap(), "ready");
            assert!(process.ended().is_none());
            let id = process.id();
            assert!(exists(id));
            assert!(process.end(), "{script}");
            assert!(!exists(id), "{script}");
            // Its id may belong to another process now.
            process.suspend();
            assert!(process.end());
        }
    }

    #[test]
    fn a_process_that_does_not_end_is_killed() {
        let script = "trap '' TERM; echo ready; exec sleep 1000";
        let mut process = start(script, Ending::Signal).with_grace(Duration::ZERO);
        assert_eq!(line(&process).unwrap(), "ready");
        let id = process.id();
        assert!(!process.end());
        assert!(!exists(id));
        let mut stopped = start("echo ready; exec cat", Ending::Input).with_grace(Duration::ZERO);
        assert_eq!(line(&stopped).unwrap(), "ready");
        stopped.suspend();
        let id = stopped.id();
        drop(stopped);
        assert!(!exists(id));
    }

    #[test]
    fn a_process_that_is_asked_answers() {
        let mut process = start("while read line; do echo answer; done", Ending::Input);
        for _ in 0..2 {
            assert_eq!(process.ask(LONG).unwrap(), "answer");
        }
        let mut deaf = start("exec sleep 1000", Ending::Signal);
        assert!(matches!(deaf.ask(LONG), Err(ChildError::Input(_))));
    }

    #[test]
    fn all_output_and_the_exit_status_are_returned() {
        let lines = MAX_LINES * 3;
        let script = format!("seq {lines}; printf end; exit 3");
        let process = start(&script, Ending::Input);
        let (printed, status) = process.finish(&AtomicBool::new(false)).unwrap();
        assert_eq!(printed.len(), lines + 1);
        assert_eq!(printed.last().unwrap(), "end");
        assert_eq!(status.code(), Some(3));
        let process = start("exec sleep 1000", Ending::Signal);
        let interrupted = process.finish(&AtomicBool::new(true));
        assert!(matches!(interrupted, Err(ChildError::Interrupted)));
    }

    #[test]
    fn a_process_whose_output_was_not_read_ends_by_itself() {
        // More than a pipe and the channel hold.
        let script = "seq 100000; exec cat";
        let mut process = start(script, Ending::Input);
        assert_eq!(line(&process).unwrap(), "1");
        assert!(process.end());
    }

    #[test]
    fn failures_are_distinguished() {
        let none = AtomicBool::new(false);
        let ended = start("exit 1", Ending::Input);
        assert!(matches!(line(&ended), Err(ChildError::Ended)));
        let silent = start("exec cat", Ending::Input);
        let late = silent.line(Duration::ZERO, &none);
        assert!(matches!(late, Err(ChildError::Late(_))));
        let interrupted = silent.line(LONG, &AtomicBool::new(true));
        assert!(matches!(interrupted, Err(ChildError::Interrupted)));
        let endless = start("exec head -c 2000000 /dev/zero", Ending::Input);
        assert!(matches!(line(&endless), Err(ChildError::Output(_))));
        let binary = start(r"printf '\377\n'; exec cat", Ending::Input);
        assert!(matches!(line(&binary), Err(ChildError::Output(_))));
        // A missing program does not suffice: emulators of a processor start it, and it ends with the status 127.
        let mut invalid = Command::new("a name with a \0");
        let error = ChildProcess::start("a test", &mut invalid, Ending::Input).unwrap_err();
        assert!(error.to_string().starts_with("cannot be started: "));
    }
}
