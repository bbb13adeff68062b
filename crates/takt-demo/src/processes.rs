//! The processes of the demonstration: started, watched, and ended with whoever started them.

use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{io, thread};

/// How long a process may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// A process that ends when this is dropped.
pub struct Process {
    name: String,
    child: Child,
}

impl Process {
    /// Starts `command`.
    pub fn start(name: &str, command: &mut Command) -> io::Result<Self> {
        Ok(Self {
            name: name.to_owned(),
            child: command.spawn()?,
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

    /// Asks it to end. [`Drop`] waits for it.
    pub fn ask_to_end(&self) {
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
