//! Real-time settings of a cyclic thread: each is applied, or reported once with the fix.

use std::time::Duration;

use crate::cpu_latency::CpuLatency;
use crate::priority::Policy;
use crate::{affinity, memory, priority, timer_slack};

/// Real-time settings of the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealTimeOptions {
    /// Scheduling policy, for example SCHED_FIFO with priority 80; `None` keeps that of the calling thread.
    pub policy: Option<Policy>,
    /// Core to which the thread is pinned.
    pub core: Option<usize>,
    /// Time before each part of a cycle at which the thread wakes up and spins.
    pub spin: Duration,
    /// True if the memory of the process is locked, so that no page fault delays a cycle.
    pub lock_memory: bool,
    /// True if the timers of the thread are set to the shortest slack.
    pub timer_slack: bool,
    /// True if processors are kept out of deep sleep (`/dev/cpu_dma_latency`).
    pub cpu_latency: bool,
}

impl Default for RealTimeOptions {
    /// Locked memory, the shortest timer slack and no deep sleep; the policy and cores of the calling thread.
    fn default() -> Self {
        Self {
            policy: None,
            core: None,
            spin: Duration::ZERO,
            lock_memory: true,
            timer_slack: true,
            cpu_latency: true,
        }
    }
}

/// Real-time setting, and the reason why it could not be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    /// Name of the setting.
    pub setting: &'static str,
    /// Reason and fix; `None` if it is applied.
    pub problem: Option<String>,
}

/// Applied settings. Some of them end when this is dropped.
#[derive(Debug)]
#[must_use = "some settings end when this value is dropped"]
pub struct Prepared {
    /// Settings, and the reasons why some could not be applied.
    pub preparations: Vec<Preparation>,
    /// Policy that the thread has now; `None` if it is none that [`Policy`] represents, or not known.
    pub policy: Option<Policy>,
    _latency: Option<CpuLatency>,
}

/// Applies the settings to the calling thread. A thread without one of them still runs, with worse times: the result has the reasons.
pub fn prepare(options: &RealTimeOptions) -> Prepared {
    let mut preparations = Vec::new();
    let mut note = |setting, outcome: Result<(), String>| {
        preparations.push(Preparation {
            setting,
            problem: outcome.err(),
        });
    };
    let text = |error: &dyn std::fmt::Display| error.to_string();
    if let Some(core) = options.core {
        note(
            "affinity",
            affinity::pin(core).map_err(|error| text(&error)),
        );
    }
    let mut latency = None;
    if options.cpu_latency {
        match CpuLatency::minimum() {
            Ok(guard) => {
                latency = Some(guard);
                note("cpu_dma_latency", Ok(()));
            }
            Err(error) => note("cpu_dma_latency", Err(text(&error))),
        }
    }
    if options.timer_slack {
        let set = timer_slack::minimize();
        note("timer slack", set.map_err(|error| text(&error)));
    }
    if options.lock_memory {
        note(
            "locked memory",
            memory::lock_all().map_err(|error| text(&error)),
        );
    }
    memory::prefault_stack();
    // The priority comes last: the steps before it may take long.
    if let Some(policy) = options.policy {
        note(
            policy.name(),
            priority::set(policy).map_err(|error| text(&error)),
        );
    }
    Prepared {
        preparations,
        policy: priority::get().ok().flatten(),
        _latency: latency,
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;

    #[test]
    fn the_policy_is_the_one_that_the_thread_has() {
        let with = |policy| {
            let options = RealTimeOptions {
                policy,
                lock_memory: false,
                cpu_latency: false,
                ..RealTimeOptions::default()
            };
            let thread = std::thread::spawn(move || prepare(&options));
            let prepared = thread.join().unwrap();
            let last = prepared.preparations.last().cloned().unwrap();
            (prepared.policy, last)
        };
        // Priorities end at 99.
        let (policy, setting) = with(Some(Policy::Fifo(100)));
        assert_eq!(policy, Some(Policy::Other));
        assert_eq!(setting.setting, "SCHED_FIFO");
        assert!(setting.problem.is_some());
        let (policy, setting) = with(Some(Policy::Other));
        assert_eq!(policy, Some(Policy::Other));
        assert_eq!((setting.setting, setting.problem), ("SCHED_OTHER", None));
        assert_eq!(with(None).0, Some(Policy::Other));
    }
}
