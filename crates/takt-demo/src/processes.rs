//! The processes of the demonstration: started, watched, and ended with whoever started them.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{io, thread};

/// How long a process may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// A process that ends when this is dropped.
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

    /// What it was started as.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// The first line that it prints, if its standard output was piped.
    pub fn first_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if let Some(output) = self.child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        Ok(line.trim_end().to_owned())
    }

    /// Asks it to end, once: who is asked again ends at once and cleans nothing up. [`Drop`] waits for it.
    pub fn ask_to_end(&mut self) {
        if std::mem::replace(&mut self.asked, true) {
            return;
        }
        if let Some(id) = rustix::process::Pid::from_raw(self.child.id().cast_signed()) {
            // A process that has ended already needs no asking.
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
