//! Measurement of wake-up latencies: one thread per core sleeps until absolute times and notes how late it wakes up, as
//! `cyclictest` does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_rt::clock::Clock;
use takt_rt::cyclic::{Cycle, Cyclic, CyclicError};
use takt_rt::late::{WatchStart, thread_id};
use takt_rt::priority::Policy;
use takt_rt::real_time::{Preparation, RealTimeOptions, prepare};
use takt_rt::thread_signal::join_sleeping;
use takt_statistics::TimeHistogram;

/// Time from the beginning to the first cycle, in nanoseconds: all threads wait for it then.
const HEAD_START: i64 = 10_000_000;

/// Work of a thread in each cycle, after its wake-up was measured. It gets the cycle, and runs on the thread.
pub type CycleWork = Box<dyn FnMut(&Cycle) + Send>;

/// Error of a measurement that cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasurementError {
    /// The interval is no cycle.
    #[error(transparent)]
    Interval(#[from] CyclicError),
    /// A thread cannot be started.
    #[error("a thread of the measurement cannot be started")]
    Thread(#[from] std::io::Error),
}

/// Thread of a measurement.
pub struct ThreadPlan {
    /// Real-time settings, with the core.
    pub real_time: RealTimeOptions,
    /// Work in each cycle; `None`: it only sleeps.
    pub work: Option<CycleWork>,
    /// Source of the watch of its wake-ups, which a [`Recorder`](crate::Recorder) explains.
    pub watch: Option<WatchStart>,
}

/// Numbers of a thread so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadProgress {
    /// Core to which it is pinned; `None`: it may move.
    pub core: Option<usize>,
    /// Number of wake-ups.
    pub wake_ups: u64,
    /// Longest latency, in nanoseconds.
    pub longest_nanos: u64,
}

/// Result of a thread.
#[derive(Debug, Clone)]
pub struct ThreadResult {
    /// Core to which it was pinned; `None`: it could move.
    pub core: Option<usize>,
    /// Latencies of all wake-ups.
    pub latencies: TimeHistogram,
    /// Longest latency, in nanoseconds. The histogram rounds it up.
    pub longest_nanos: u64,
    /// Number of starts that passed while the thread was still busy or could not run. They have no latency of their own.
    pub overruns: u64,
    /// Real-time settings, and the reasons why some could not be applied.
    pub preparations: Vec<Preparation>,
    /// Scheduling policy that the thread had; `None` if it is not known.
    pub policy: Option<Policy>,
}

#[derive(Debug, Default)]
struct Shared {
    wake_ups: AtomicU64,
    longest: AtomicU64,
}

struct Running {
    core: Option<usize>,
    /// Id of the thread (`gettid`).
    id: u32,
    shared: Arc<Shared>,
    /// Sends the cycles to the thread, which waits for them.
    begin: Sender<Cyclic>,
    thread: JoinHandle<ThreadResult>,
}

/// Measurement whose threads wait for its beginning, or run. Dropping it stops the threads.
pub struct Measurement {
    cyclic: Cyclic,
    stop: Arc<AtomicBool>,
    threads: Vec<Running>,
}

impl Measurement {
    /// Starts a thread for each plan, with its settings. The threads wait until the measurement [begins](Self::begin).
    ///
    /// # Errors
    /// [`MeasurementError`]. Settings that cannot be applied are no error; the result has their reasons.
    pub fn prepare(interval: Duration, plans: Vec<ThreadPlan>) -> Result<Self, MeasurementError> {
        let mut measurement = Self {
            cyclic: Cyclic::new(interval)?,
            stop: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        for (index, plan) in plans.into_iter().enumerate() {
            let shared = Arc::new(Shared::default());
            let core = plan.real_time.core;
            let (begin, cycles) = channel();
            let (prepared, id) = channel();
            let (stop, there) = (Arc::clone(&measurement.stop), Arc::clone(&shared));
            let builder = std::thread::Builder::new().name(format!("wakeup {index}"));
            let thread = builder.spawn(move || run(&cycles, plan, &prepared, &there, &stop))?;
            // The sender lives until the thread has sent its id.
            let id = id.recv().unwrap_or_default();
            measurement.threads.push(Running {
                core,
                id,
                shared,
                begin,
                thread,
            });
        }
        Ok(measurement)
    }

    /// Returns the ids of the threads (`gettid`), in the order of the plans.
    #[must_use]
    pub fn thread_ids(&self) -> Vec<u32> {
        self.threads.iter().map(|it| it.id).collect()
    }

    /// Begins the cycles. The wake-ups of the threads are spread evenly over the interval, so that they do not disturb each other.
    pub fn begin(&self) {
        let first = Clock::Monotonic.nanos().saturating_add(HEAD_START);
        let nanos = i64::try_from(self.cyclic.cycle().as_nanos()).unwrap_or(i64::MAX);
        let count = i64::try_from(self.threads.len()).unwrap_or(i64::MAX).max(1);
        for (index, running) in (0_i64..).zip(&self.threads) {
            let offset = nanos / count * index;
            let cyclic = self.cyclic.clone();
            let cyclic = cyclic.with_base_time(Clock::Monotonic, first.saturating_add(offset));
            // The thread is gone only if it panicked, which the result shows.
            let _ = running.begin.send(cyclic);
        }
    }

    /// Returns the numbers of each thread so far.
    #[must_use]
    pub fn progress(&self) -> Vec<ThreadProgress> {
        let threads = self.threads.iter();
        let progress = threads.map(|it| ThreadProgress {
            core: it.core,
            wake_ups: it.shared.wake_ups.load(Ordering::Relaxed),
            longest_nanos: it.shared.longest.load(Ordering::Relaxed),
        });
        progress.collect()
    }

    /// Stops the threads, whose last sleep ends early and does not count, and returns their results in the order of the plans. A
    /// thread that had no wake-up has no latencies.
    #[must_use]
    pub fn finish(mut self) -> Vec<ThreadResult> {
        self.stop.store(true, Ordering::Relaxed);
        let threads = std::mem::take(&mut self.threads);
        let results = threads.into_iter().map(|it| {
            // A thread that still waits for its beginning ends.
            drop(it.begin);
            join_sleeping(it.thread, it.id)
        });
        // A panic of the work goes on here.
        results
            .map(|it| it.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    }
}

impl Drop for Measurement {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for running in self.threads.drain(..) {
            drop(running.begin);
            // Nobody wants the result.
            let _ = join_sleeping(running.thread, running.id);
        }
    }
}

fn run(
    cycles: &Receiver<Cyclic>,
    plan: ThreadPlan,
    id: &Sender<u32>,
    shared: &Shared,
    stop: &AtomicBool,
) -> ThreadResult {
    let mut latencies = TimeHistogram::of_a_minute();
    let mut work = plan.work;
    // It takes some milliseconds, and is nothing for a thread with a priority.
    let mut watch = plan.watch.and_then(|it| it.of_this_thread());
    let prepared = prepare(&plan.real_time);
    // The receiver waits for it.
    let _ = id.send(thread_id());
    let (mut wake_ups, mut longest, mut overruns) = (0_u64, 0_u64, 0);
    let cyclic = cycles.recv().ok();
    let Some(mut cyclic) = cyclic.map(|it| it.with_spin(plan.real_time.spin)) else {
        stop.store(true, Ordering::Relaxed);
        return ThreadResult {
            core: plan.real_time.core,
            latencies,
            longest_nanos: 0,
            overruns: 0,
            preparations: prepared.preparations,
            policy: prepared.policy,
        };
    };
    while !stop.load(Ordering::Relaxed) {
        let Some(cycle) = cyclic.wait_unless(stop) else {
            break;
        };
        let latency = cycle.wake_up_latency_nanos;
        latencies.record(latency);
        wake_ups += 1;
        longest = longest.max(latency);
        overruns = cycle.overruns;
        // Only this thread writes them; others show them.
        shared.wake_ups.store(wake_ups, Ordering::Relaxed);
        shared.longest.store(longest, Ordering::Relaxed);
        if let Some(watch) = &mut watch {
            watch.note(&cycle);
        }
        if let Some(work) = &mut work {
            work(&cycle);
        }
    }
    ThreadResult {
        core: plan.real_time.core,
        latencies,
        longest_nanos: longest,
        overruns,
        preparations: prepared.preparations,
        policy: prepared.policy,
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::mpsc::channel;

    use takt_rt::affinity;

    use super::*;

    fn plan(work: Option<CycleWork>) -> ThreadPlan {
        let core = affinity::available().unwrap().as_slice().first().copied();
        let real_time = RealTimeOptions {
            core,
            lock_memory: false,
            ..RealTimeOptions::default()
        };
        ThreadPlan {
            real_time,
            work,
            watch: None,
        }
    }

    #[test]
    fn each_wake_up_is_counted_once() {
        let (sender, wake_ups) = channel();
        let send = move |cycle: &Cycle| sender.send(*cycle).unwrap_or_default();
        let plans = vec![plan(Some(Box::new(send))), plan(None)];
        let measurement = Measurement::prepare(Duration::from_millis(1), plans).unwrap();
        assert_eq!(measurement.thread_ids().len(), 2);
        measurement.begin();
        let seen: Vec<Cycle> = wake_ups.iter().take(20).collect();
        assert!(measurement.progress()[0].wake_ups >= 20);
        let results = measurement.finish();
        let seen: Vec<Cycle> = seen.into_iter().chain(wake_ups.try_iter()).collect();
        let [first, second] = results.as_slice() else {
            panic!("{results:?}");
        };
        assert_eq!(first.latencies.count(), seen.len() as u64);
        let longest = seen.iter().map(|cycle| cycle.wake_up_latency_nanos).max();
        assert_eq!(Some(first.longest_nanos), longest);
        assert!(first.latencies.max() >= first.longest_nanos);
        assert_eq!(first.overruns, seen.last().unwrap().overruns);
        assert!(second.latencies.count() > 0);
    }

    /// Ctrl-C had waited for the next wake-up.
    #[test]
    fn a_measurement_ends_in_the_middle_of_a_long_interval() {
        let plans = vec![plan(None), plan(None)];
        let measurement = Measurement::prepare(Duration::from_secs(3600), plans).unwrap();
        measurement.begin();
        while measurement.progress()[0].wake_ups == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let (sender, results) = channel();
        std::thread::spawn(move || sender.send(measurement.finish()));
        let results = results.recv_timeout(Duration::from_secs(60)).unwrap();
        let counts = results.iter().map(|it| it.latencies.count());
        // The end of a sleep is no wake-up.
        assert_eq!(counts.collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn a_measurement_that_does_not_begin_ends() {
        let plans = vec![plan(None)];
        let measurement = Measurement::prepare(Duration::from_millis(1), plans).unwrap();
        assert_eq!(measurement.finish()[0].latencies.count(), 0);
        let plans = vec![plan(None)];
        drop(Measurement::prepare(Duration::from_millis(1), plans).unwrap());
    }

    #[test]
    fn an_interval_without_length_is_refused() {
        let refused = Measurement::prepare(Duration::ZERO, vec![plan(None)]);
        assert!(matches!(refused, Err(MeasurementError::Interval(_))));
    }
}
