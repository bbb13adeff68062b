//! Use of the processor and of memory by the processes of a peer, and the load of the machine by others.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use takt_rt::process;

/// Use of resources by all processes of a peer's side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PeerUsage {
    /// Processor time in ms.
    pub cpu_ms: f64,
    /// Memory in bytes: proportional set size, or the resident one where the kernel does not tell.
    pub memory: u64,
    /// Voluntary and other context switches.
    pub switches: u64,
    /// Number of threads.
    pub threads: u64,
}

impl PeerUsage {
    /// Returns the use of a process group now.
    #[must_use]
    pub fn of_group(leader: u32) -> Self {
        let mut usage = Self::default();
        for member in members(leader) {
            usage.cpu_ms += process::cpu_time(member).unwrap_or_default().as_secs_f64() * 1000.0;
            usage.memory += process::memory(member).map_or(0, process::Memory::bytes);
            let tasks = fs::read_dir(format!("/proc/{member}/task"));
            for task in tasks.into_iter().flatten().flatten() {
                usage.threads += 1;
                let status = fs::read_to_string(task.path().join("status"));
                usage.switches += switches(&status.unwrap_or_default());
            }
        }
        usage
    }

    /// Returns the processor time and context switches since `before`, with the memory of now.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            cpu_ms: (self.cpu_ms - before.cpu_ms).max(0.0),
            switches: self.switches.saturating_sub(before.switches),
            ..self
        }
    }

    /// Adds the use of a later round. Memory and threads are the largest ones.
    pub(crate) fn add(&mut self, other: Self) {
        self.cpu_ms += other.cpu_ms;
        self.switches += other.switches;
        self.memory = self.memory.max(other.memory);
        self.threads = self.threads.max(other.threads);
    }
}

/// Returns the sum of both counters of context switches in `/proc/PID/task/TID/status`.
fn switches(status: &str) -> u64 {
    let lines = status
        .lines()
        .filter(|line| line.contains("_ctxt_switches:"));
    let counts = lines.filter_map(|line| line.rsplit('\t').next()?.trim().parse::<u64>().ok());
    counts.sum()
}

/// Returns the processes of a group that have not ended.
pub(crate) fn members(leader: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        group_of(&stat) == Some(leader)
    })
    .collect()
}

/// Returns the process group in a line of `/proc/PID/stat`; `None` for a process that has ended.
fn group_of(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    if fields.next()? == "Z" {
        return None;
    }
    fields.nth(1)?.parse().ok()
}

/// Kills all processes of a group, each by its id.
pub(crate) fn kill_group(leader: u32) {
    for member in members(leader) {
        let id = i32::try_from(member).ok().and_then(Pid::from_raw);
        // It may have ended meanwhile.
        let _ = id.map(|id| kill_process(id, Signal::KILL));
    }
}

/// Processor time of the machine: of all processes, and stolen by other machines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct MachineTime {
    busy: Duration,
    stolen: Duration,
    /// Time of this program, which starts peers and reads their results.
    runner: Duration,
}

/// Duration of a clock tick in `/proc/stat`, which is 100 Hz on all systems that Linux runs on (`USER_HZ`).
const TICK: Duration = Duration::from_millis(10);

/// Time of others that does not count: the error of `/proc/stat` and of the times of processes in a short round.
const TOLERANCE: Duration = TICK.saturating_mul(3);

impl MachineTime {
    /// Returns the time until now.
    pub(crate) fn read() -> Self {
        Self {
            runner: process::cpu_time(std::process::id()).unwrap_or_default(),
            ..Self::parse(&fs::read_to_string("/proc/stat").unwrap_or_default())
        }
    }

    fn parse(stat: &str) -> Self {
        let line = stat.lines().next().unwrap_or_default();
        let ticks = |place: usize| -> u32 {
            let word = line.split_ascii_whitespace().nth(place + 1);
            word.and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        // user, nice, system, idle, iowait, irq, softirq, steal (proc(5)). Interrupts are mostly those of the measured messages.
        let busy: u32 = [0, 1, 2].map(ticks).iter().sum();
        Self {
            busy: TICK * busy,
            stolen: TICK * ticks(7),
            runner: Duration::ZERO,
        }
    }

    /// Returns the number of processors that all programs have used on average since `before`, and other machines.
    pub(crate) fn used_since(self, before: Self, elapsed: Duration) -> f64 {
        let used = self.busy.saturating_sub(before.busy);
        let stolen = self.stolen.saturating_sub(before.stolen);
        (used + stolen).as_secs_f64() / elapsed.as_secs_f64().max(0.01)
    }

    /// Returns the number of processors that others have used on average since `before`: all processes but this one and those that
    /// have used `own_ms`, and other machines.
    pub(crate) fn others_since(self, before: Self, own_ms: f64, elapsed: Duration) -> f64 {
        let busy = self.busy.saturating_sub(before.busy).as_secs_f64();
        let stolen = self.stolen.saturating_sub(before.stolen).as_secs_f64();
        let runner = self.runner.saturating_sub(before.runner).as_secs_f64();
        let others = busy - runner - own_ms / 1000.0 - TOLERANCE.as_secs_f64();
        (others.max(0.0) + stolen) / elapsed.as_secs_f64().max(0.01)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_group_is_counted_and_ended_with_its_members() {
        let mut command = Command::new("sh");
        let script = "sleep 100 & i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; wait";
        let mut child = command
            .args(["-c", script])
            .process_group(0)
            .spawn()
            .unwrap();
        let begin = std::time::Instant::now();
        let usage = loop {
            let usage = PeerUsage::of_group(child.id());
            if usage.threads == 2 && usage.cpu_ms > 1.0 {
                break usage;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "{usage:?}");
        };
        assert!(usage.memory > 100_000);
        let group = members(child.id());
        assert_eq!(group.len(), 2);
        kill_group(child.id());
        child.wait().unwrap();
        while !members(child.id()).is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(20));
        }
    }

    #[test]
    fn load_of_others_is_that_without_the_own_time() {
        let before = MachineTime::parse("cpu  100 0 100 1000 0 0 0 0 0 0\n");
        let after = MachineTime::parse("cpu  180 10 110 1100 0 0 0 50 0 0\n");
        let others = after.others_since(before, 600.0, Duration::from_secs(1));
        // 1 s without interrupts, less 0.6 s and the tolerance, and 0.5 s of other machines.
        assert!((others - 0.87).abs() < 1e-9, "{others}");
        let used = after.used_since(before, Duration::from_secs(1));
        assert!((used - 1.5).abs() < 1e-9, "{used}");
        // A round of some milliseconds has a few ticks, which are no load by others.
        let after = MachineTime::parse("cpu  102 0 101 1000 0 0 40 0 0 0\n");
        let others = after.others_since(before, 0.0, Duration::from_millis(5));
        assert!(others.abs() < 1e-9, "{others}");
        let status = "voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(switches(status), 15);
    }
}
