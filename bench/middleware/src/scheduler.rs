//! Scheduler of a peer's processes: the usual one of Linux, or SCHED_FIFO.

use std::fmt;
use std::fs;
use std::str::FromStr;

use takt_rt::priority::{self, Policy, PriorityError};

use crate::protocol::SessionError;
use crate::usage::members;

/// Priority of SCHED_FIFO if none is given.
const PRIORITY: u8 = 50;
/// Number of SCHED_FIFO in `/proc/PID/stat` (proc(5)).
const FIFO: u32 = 1;

/// Scheduler of client, server and broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerScheduler(Policy);

impl FromStr for PeerScheduler {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "possible values: other, fifo, fifo:PRIORITY with a priority from 1 to 99".to_owned()
        };
        match text.split_once(':').unwrap_or((text, "")) {
            ("other", "") => Ok(Self(Policy::Other)),
            ("fifo", "") if !text.contains(':') => Ok(Self(Policy::Fifo(PRIORITY))),
            ("fifo", priority) => match priority.parse() {
                Ok(priority @ 1..=99) => Ok(Self(Policy::Fifo(priority))),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for PeerScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PeerScheduler {
    /// Gives the calling thread this scheduler until the returned value is dropped. Processes that it starts inherit it.
    ///
    /// # Errors
    /// [`PriorityError`], with the way to get the privilege.
    pub(crate) fn enter(self) -> Result<ScheduledThread, PriorityError> {
        if let Policy::Fifo(_) = self.0 {
            priority::set(self.0)?;
        }
        Ok(ScheduledThread(self))
    }

    /// Checks that all processes of a group have this scheduler.
    pub(crate) fn verify(self, leader: u32) -> Result<(), SessionError> {
        let Policy::Fifo(priority) = self.0 else {
            return Ok(());
        };
        let is_other = |process: &u32| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // A process that has just ended has no scheduler.
            policy_of(&stat).is_some_and(|found| found != (FIFO, u32::from(priority)))
        };
        match members(leader).iter().find(|process| is_other(process)) {
            Some(process) => Err(SessionError::failed(format!(
                "process {process} does not run with {self}"
            ))),
            None => Ok(()),
        }
    }
}

/// Thread with the scheduler of the processes that it starts.
#[must_use = "the thread gets its own scheduler back when this value is dropped"]
pub(crate) struct ScheduledThread(PeerScheduler);

impl Drop for ScheduledThread {
    fn drop(&mut self) {
        if self.0.0 != Policy::Other {
            // Everyone may give up a priority.
            let _ = priority::set(Policy::Other);
        }
    }
}

/// Returns the number of the policy and the priority in a line of `/proc/PID/stat` (fields 41 and 40).
fn policy_of(stat: &str) -> Option<(u32, u32)> {
    let (_, fields) = stat.rsplit_once(')')?;
    // The first field after the name is the third one.
    let mut fields = fields.split_ascii_whitespace().skip(40 - 3);
    let priority = fields.next()?.parse().ok()?;
    let policy = fields.next()?.parse().ok()?;
    Some((policy, priority))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    fn scheduler(text: &str) -> Result<PeerScheduler, String> {
        text.parse()
    }

    #[test]
    fn schedulers_are_parsed_and_shown() {
        assert_eq!(scheduler("other").unwrap().to_string(), "SCHED_OTHER");
        assert_eq!(scheduler("fifo").unwrap().to_string(), "SCHED_FIFO 50");
        assert_eq!(scheduler("fifo:7").unwrap().to_string(), "SCHED_FIFO 7");
        for text in ["", "fifo:", "fifo:0", "fifo:100", "other:1", "rr"] {
            assert!(scheduler(text).is_err(), "{text}");
        }
    }

    #[test]
    fn processes_inherit_the_scheduler_of_the_thread_that_starts_them() {
        let fifo = scheduler("fifo:3").unwrap();
        let start = || {
            let mut command = Command::new("cat");
            command
                .stdin(Stdio::piped())
                .process_group(0)
                .spawn()
                .unwrap()
        };
        let scheduled = match fifo.enter() {
            Ok(scheduled) => scheduled,
            Err(error) => {
                assert!(error.to_string().contains("SCHED_FIFO 3"), "{error}");
                return;
            }
        };
        let mut inside = start();
        drop(scheduled);
        let mut outside = start();
        let found = [&inside, &outside].map(|child| fifo.verify(child.id()).is_ok());
        for child in [&mut inside, &mut outside] {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        assert_eq!(found, [true, false]);
    }
}
