//! Flight recorder: the kernel notes events in a ring of memory, which is read only after a late wake-up.

mod buffers;
mod clock;
mod cores;
mod error;
mod filter;
mod idle_states;
mod instance;
mod namespace;
mod steal;
mod threads;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::setpriority_process;
use rustix::thread::CpuSet;
use takt_rt::clock::monotonic_nanos;
use takt_rt::late::{LateInterval, LateReceiver};

pub use clock::TaiOffsets;
pub use error::{RecorderError, RecordingFailure};
pub use instance::remove_dead;
pub use steal::StealTime;

use self::buffers::Buffers;
use self::instance::Instance;
use self::threads::{LateThreads, WatchedThreads};
use crate::attribution::{EventHistory, Explanation, WatchedCalls};

/// Interval at which the recorder looks for late wake-ups. The ring must hold the events of this time.
const STEP: Duration = Duration::from_millis(20);

/// Nice value of the thread: before all other threads without a real-time priority.
const BEFORE_OTHERS: i32 = -20;

/// Greatest number of explanations that are kept. Further late wake-ups are counted.
const MOST: usize = 20_000;

/// Causes that a recorder found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LateReport {
    /// Explained late wake-ups and overruns, in the order of their times.
    pub explanations: Vec<Explanation>,
    /// Number of further ones, which were too many.
    pub left_out: u64,
    /// Reasons why causes are missing.
    pub failures: Vec<RecordingFailure>,
    /// Times of the processors for which a hypervisor ran something else, from the beginning to the end of the recording.
    pub steal: Vec<StealTime>,
    /// CLOCK_TAI during the recording.
    pub tai: TaiOffsets,
}

/// Running recorder. Dropping it removes its instance of tracefs.
#[derive(Debug)]
pub struct Recorder {
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<LateReport>>>,
    /// Ids of the threads, and the way of their queues to the thread of the recorder.
    threads: Mutex<WatchedThreads>,
    instance: Arc<Instance>,
}

impl Recorder {
    /// Starts to record, for no thread yet; the threads will have these system calls. The thread of the recorder inherits priority and
    /// cores of the calling thread, which should have neither.
    ///
    /// # Errors
    /// [`RecorderError`], which names what is missing.
    pub fn start(calls: WatchedCalls) -> Result<Self, RecorderError> {
        let tracefs = instance::tracefs()?;
        if namespace::is_of_its_own() {
            return Err(RecorderError::PidNamespace);
        }
        // A failure concerns another process.
        let _ = remove_dead();
        let instance = Arc::new(Instance::create(&tracefs)?);
        let formats = instance.enable(calls)?;
        let (page, long) = instance.page_layout()?;
        let (receivers, more) = channel();
        let recording = Recording {
            buffers: Buffers::new(instance.buffers()?, formats, page, long),
            _instance: Arc::clone(&instance),
            more,
            receivers: Vec::new(),
            late: LateThreads::default(),
            history: EventHistory::new(calls),
            report: LateReport::default(),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("recorder".to_owned());
        let thread = thread.spawn(move || recording.run(&stopped));
        Ok(Self {
            stop,
            thread: Mutex::new(Some(thread.map_err(RecorderError::Thread)?)),
            threads: Mutex::new(WatchedThreads::new(receivers)),
            instance,
        })
    }

    /// Records also the events that concern these threads. It takes some milliseconds, so a thread calls it before its first cycle.
    ///
    /// # Errors
    /// [`RecorderError`]. The report has it, too.
    pub fn watch(&self, receivers: Vec<LateReceiver>) -> Result<(), RecorderError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.add(receivers, |recorded| self.instance.restrict(recorded))
    }

    /// Returns the reason why a thread has no causes, if there is one.
    #[must_use]
    pub fn failure(&self) -> Option<RecordingFailure> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.failures().first().cloned()
    }

    /// Ends the recording, and returns the causes. A second call returns none.
    #[must_use]
    pub fn finish(&self) -> LateReport {
        self.stop.store(true, Ordering::Relaxed);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(thread) = thread.take() else {
            return LateReport::default();
        };
        thread.thread().unpark();
        let mut report = joined(thread.join());
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        report.failures.append(&mut threads.take_failures());
        report
    }
}

/// Returns the report of the thread. That of a thread with a panic says so.
fn joined(ended: std::thread::Result<LateReport>) -> LateReport {
    ended.unwrap_or_else(|_| LateReport {
        failures: vec![RecordingFailure::Panicked],
        ..LateReport::default()
    })
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // The buffers are closed then, and the instance can be removed.
        let _ = self.finish();
    }
}

/// State of the thread. The buffers are closed before their instance is removed.
struct Recording {
    buffers: Buffers,
    _instance: Arc<Instance>,
    more: Receiver<LateReceiver>,
    receivers: Vec<LateReceiver>,
    /// Threads to whose cores those of this thread were compared.
    late: LateThreads,
    history: EventHistory,
    report: LateReport,
}

impl Recording {
    fn run(mut self, stop: &AtomicBool) -> LateReport {
        // Among many busy threads the ring would overflow before it is read. Without the permission, that may happen.
        let _ = setpriority_process(None, BEFORE_OTHERS);
        let own = cores::own();
        let stolen = steal::read();
        self.report.tai.read();
        loop {
            let is_last = stop.load(Ordering::Relaxed);
            self.look(&own);
            if is_last {
                break;
            }
            std::thread::park_timeout(STEP);
        }
        self.report.tai.read();
        self.report.steal = steal::between(&stolen, &steal::read());
        let lost = self.receivers.iter().map(LateReceiver::lost);
        self.report.left_out += lost.sum::<u64>();
        let explanations = &mut self.report.explanations;
        explanations.sort_by_key(|it| (it.interval.begin, it.interval.thread));
        std::mem::take(&mut self.report)
    }

    /// Reads the rings and explains, if a thread was late since the last time.
    fn look(&mut self, own: &CpuSet) {
        for receiver in self.more.try_iter() {
            self.history.watch(receiver.thread());
            self.receivers.push(receiver);
        }
        let mut late: Vec<LateInterval> = Vec::new();
        for receiver in &mut self.receivers {
            late.extend(std::iter::from_fn(|| receiver.take()));
        }
        if late.is_empty() {
            return;
        }
        let room = MOST.saturating_sub(self.report.explanations.len());
        let left_out = late.len().saturating_sub(room);
        self.report.left_out += u64::try_from(left_out).unwrap_or(u64::MAX);
        if room == 0 {
            // Reading the rings would disturb the measurement for nothing.
            return;
        }
        if self.late.note(late.iter().map(|it| it.thread)) {
            cores::leave(own, self.receivers.iter().map(LateReceiver::thread));
        }
        self.report.tai.read();
        let now = monotonic_nanos();
        let failures = self.buffers.read(&mut self.history, now);
        for failure in failures {
            // Once for each processor.
            if !self.report.failures.contains(&failure) {
                self.report.failures.push(failure);
            }
        }
        self.history.replay(now);
        late.truncate(room);
        let explained = self.history.explain(&late);
        self.report.explanations.extend(explained);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without this, the end of the recorder looks like a measurement without late wake-ups.
    #[test]
    fn a_panic_of_the_recorder_is_a_failure() {
        let thread = std::thread::spawn(|| std::panic::resume_unwind(Box::new(())));
        assert_eq!(joined(thread.join()).failures, [RecordingFailure::Panicked]);
    }
}
