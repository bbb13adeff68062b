//! State and memory of a process, this one or another.
//!
//! Both are read from `/proc` (proc(5)), without involving the process, which may be stopped or hang.

use std::fs;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// State of the threads of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// At least one thread runs or is ready to run.
    Running,
    /// All threads wait.
    Sleeping,
    /// A thread was stopped by a signal or by a debugger.
    Stopped,
    /// The process has ended, and its parent has not waited for it yet.
    Ended,
}

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Its own memory, and its share of memory shared with others (proportional set size).
    Proportional(u64),
    /// All loaded pages of its mappings (resident set size): less precise, but visible to other users.
    Resident(u64),
}

impl Memory {
    /// Returns the number of bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Proportional(bytes) | Self::Resident(bytes) => bytes,
        }
    }
}

/// Returns whether there is a process with this id, even if it is hidden from this user (`hidepid`).
#[must_use]
pub fn exists(process: u32) -> bool {
    let id = i32::try_from(process).ok().and_then(Pid::from_raw);
    id.is_some_and(|id| matches!(test_kill_process(id), Ok(()) | Err(Errno::PERM)))
}

/// Returns the state of a process; `None` if there is none with this id, or it is hidden from this user.
#[must_use]
pub fn state(process: u32) -> Option<ProcessState> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let states: Vec<ProcessState> = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("stat")).ok())
        .filter_map(|stat| state_of(&stat))
        .collect();
    // A debugger may have stopped one thread while others run: the stopped one determines the state.
    [
        ProcessState::Stopped,
        ProcessState::Running,
        ProcessState::Sleeping,
    ]
    .into_iter()
    .find(|state| states.contains(state))
    .or_else(|| states.first().copied())
}

/// Returns the state in a line of `stat`: the character after the name, which may contain parentheses and blanks.
fn state_of(stat: &str) -> Option<ProcessState> {
    let (_, fields) = stat.rsplit_once(')')?;
    Some(match fields.trim_start().chars().next()? {
        'R' => ProcessState::Running,
        'T' | 't' => ProcessState::Stopped,
        'Z' | 'X' | 'x' => ProcessState::Ended,
        _ => ProcessState::Sleeping,
    })
}

/// Returns the processor time that the living threads of a process have used (proc(5), `/proc/PID/task/TID/schedstat`); `None` if there is
/// no such process, it is hidden from this user, or the kernel keeps no account.
#[must_use]
pub fn cpu_time(process: u32) -> Option<Duration> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let times = tasks.flatten().map(|task| {
        let account = fs::read_to_string(task.path().join("schedstat")).ok()?;
        account.split_ascii_whitespace().next()?.parse().ok()
    });
    // A thread that ends meanwhile has no account.
    let times: Vec<u64> = times.flatten().collect();
    (!times.is_empty()).then(|| Duration::from_nanos(times.iter().sum()))
}

/// Returns the memory of a process; `None` if there is none with this id, or it is hidden from this user.
#[must_use]
pub fn memory(process: u32) -> Option<Memory> {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    if let Some(bytes) = proportional(&rollup) {
        return Some(Memory::Proportional(bytes));
    }
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let page = crate::segment::page_size() as u64;
    Some(Memory::Resident(pages.saturating_mul(page)))
}

/// Returns the value of the line `Pss:` of `smaps_rollup`, in bytes.
fn proportional(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use std::process::{Child, Command};
    use std::time::Instant;

    use rustix::process::{Signal, kill_process};

    use super::*;

    #[test]
    fn the_processor_time_of_a_process_grows() {
        let before = cpu_time(std::process::id()).unwrap();
        let mut sum = 0_u64;
        while cpu_time(std::process::id()).unwrap() < before + Duration::from_millis(5) {
            sum = std::hint::black_box(sum + 1);
        }
        assert_eq!(cpu_time(u32::MAX / 2), None);
    }

    fn wait_for(child: &Child, wanted: Option<ProcessState>) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while state(child.id()) != wanted {
            assert!(Instant::now() < deadline, "{:?}", state(child.id()));
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_process_sleeps_is_stopped_and_ends() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        wait_for(&child, Some(ProcessState::Sleeping));
        assert!(memory(child.id()).unwrap().bytes() > 0);
        assert!(exists(child.id()));
        let id = Pid::from_child(&child);
        kill_process(id, Signal::STOP).unwrap();
        wait_for(&child, Some(ProcessState::Stopped));
        child.kill().unwrap();
        wait_for(&child, Some(ProcessState::Ended));
        child.wait().unwrap();
        assert_eq!(state(child.id()), None);
        assert_eq!(memory(child.id()), None);
        assert!(!exists(child.id()) && !exists(0));
    }

    #[test]
    fn the_calling_process_is_running() {
        assert_eq!(state(std::process::id()), Some(ProcessState::Running));
    }

    #[test]
    fn names_do_not_confuse() {
        assert_eq!(state_of("7 (a) S (b)) t 1 7"), Some(ProcessState::Stopped));
        assert_eq!(state_of("7 (x"), None);
        assert_eq!(
            proportional("Rss:  8 kB\nPss:                 12 kB\nPss_Dirty: 1 kB\n"),
            Some(12 << 10)
        );
        assert_eq!(proportional(""), None);
    }
}
