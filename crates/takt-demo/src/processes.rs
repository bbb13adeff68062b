//! Processes of the demonstration. They are started, watched, and ended with the process that started them.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{io, thread};

/// Longest time that a process may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// A process. Dropping it ends the process.
pub struct Process {
    name: String,
    child: Child,
    asked: bool,
}

impl Process {
    /// Starts `command`.
    pub fn start(name: &str, command: &mut Command) -> io::Result<Self> {
        Ok(Self {
            name: name.to_owned(),
            child: command.spawn()?,
            asked: false,
        })
    }

    /// Returns the name that was given at the start.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the exit status, if the process has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Returns the first line of its standard output, if that is piped.
    pub fn first_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if let Some(output) = self.child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        Ok(line.trim_end().to_owned())
    }

    /// Asks the process to end, once. A second request would end it at once and without cleaning up. [`Drop`] waits for the end.
    pub fn ask_to_end(&mut self) {
        if std::mem::replace(&mut self.asked, true) {
            return;
        }
        if let Some(id) = rustix::process::Pid::from_raw(self.child.id().cast_signed()) {
            // A failure is ignored, because the process has then ended already.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        self.ask_to_end();
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if self.ended().is_some() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        tracing::warn!(process = %self.name, "did not end in time and is killed");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
