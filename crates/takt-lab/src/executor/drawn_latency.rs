//! Latencies of threads in virtual time: drawn from the distributions of the scenario, as the simulator draws them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use takt_control::{AddedLatency, CyclePart};
use takt_scenario::{ApplicationIndex, Scenario};
use takt_sim::{ApplicationEnd, CyclicThread, WakeUpLatencies};

use crate::scenario_loop::LoopEnd;

/// Beginning of a case: nanoseconds of CLOCK_TAI. All ends share it; a loopback runs before it is known.
#[derive(Debug, Clone)]
pub(crate) struct CaseBeginning(Arc<AtomicI64>);

impl CaseBeginning {
    pub(crate) fn unknown() -> Self {
        Self(Arc::new(AtomicI64::new(i64::MAX)))
    }

    pub(crate) fn set(&self, nanos: i64) {
        self.0.store(nanos, Ordering::Release);
    }

    /// Returns the time, if it is known.
    pub(crate) fn get(&self) -> Option<i64> {
        let nanos = self.0.load(Ordering::Acquire);
        (nanos != i64::MAX).then_some(nanos)
    }
}

/// Latencies of the thread of an end: a function of seed, part of the cycle, and number of the cycle since the beginning.
#[derive(Debug)]
pub(crate) struct DrawnLatency {
    beginning: CaseBeginning,
    /// Length of a cycle in nanoseconds.
    cycle: i64,
    subscriber: WakeUpLatencies,
    user: WakeUpLatencies,
    publisher: WakeUpLatencies,
}

impl DrawnLatency {
    /// Makes the latencies of an end; `None` if the application has no such end.
    pub(crate) fn of(
        scenario: &Scenario,
        application: ApplicationIndex,
        end: LoopEnd,
        seed: u64,
        beginning: CaseBeginning,
    ) -> Option<Self> {
        let found = scenario.applications.get(application.0)?;
        let (node, end) = match end {
            LoopEnd::Publisher => (found.publisher, ApplicationEnd::Publisher),
            LoopEnd::Loopback => (found.receiver.loopback()?, ApplicationEnd::Loopback),
        };
        let of = |thread| WakeUpLatencies::of(scenario, node, application.0, (end, thread), seed);
        Some(Self {
            beginning,
            cycle: i64::try_from(found.cycle.0 / 1000)
                .unwrap_or(i64::MAX)
                .max(1),
            subscriber: of(CyclicThread::Subscriber),
            user: of(CyclicThread::User),
            publisher: of(CyclicThread::Publisher),
        })
    }
}

impl AddedLatency for DrawnLatency {
    fn nanos(&mut self, part: CyclePart, cycle_start: i64) -> i64 {
        let Some(beginning) = self.beginning.get() else {
            return 0;
        };
        let cycle = cycle_start.saturating_sub(beginning).div_euclid(self.cycle);
        let thread = match part {
            CyclePart::Subscriber => &mut self.subscriber,
            CyclePart::User => &mut self.user,
            CyclePart::Publisher => &mut self.publisher,
        };
        // The kernel's timers have whole nanoseconds.
        thread.in_cycle(cycle).as_picoseconds().div_euclid(1000)
    }
}
