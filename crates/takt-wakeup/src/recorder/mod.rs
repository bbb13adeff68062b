//! Flight recorder: the kernel notes events in a ring of memory, which is read only after a late wake-up.

mod error;
mod instance;
mod namespace;

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_rt::clock::monotonic_nanos;

pub use error::RecorderError;
pub use instance::remove_dead;

use self::instance::{Instance, pages_of_buffer, read_pages};
use crate::attribution::{EventHistory, Explanation, LateInterval, WatchedCalls};
use crate::late::LateReceiver;
use crate::trace::formats::Formats;

/// Interval at which the recorder looks for late wake-ups. The ring must hold the events of this time.
const STEP: Duration = Duration::from_millis(20);

/// Time for which events that were read are kept, in nanoseconds: the state of a thread before a late wake-up is in them.
const KEPT: u64 = 300_000_000;

/// Greatest number of explanations that are kept. Further late wake-ups are counted.
const MOST: usize = 20_000;

/// Causes that a recorder found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LateReport {
    /// Explained late wake-ups and overruns, in the order of their times.
    pub explanations: Vec<Explanation>,
    /// Number of further ones, which were too many.
    pub left_out: u64,
}

/// Running recorder. Dropping it removes its instance of tracefs.
#[derive(Debug)]
pub struct Recorder {
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<LateReport>>>,
    /// Ids of the threads, and the way of their queues to the thread of the recorder.
    threads: Mutex<Threads>,
    instance: Arc<Instance>,
}

#[derive(Debug)]
struct Threads {
    ids: Vec<u32>,
    receivers: Sender<LateReceiver>,
}

impl Recorder {
    /// Starts to record, for no thread yet; the threads will have these system calls. The thread of the recorder inherits priority and cores of the calling thread, which
    /// should have neither.
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
            buffers: instance.buffers()?,
            _instance: Arc::clone(&instance),
            formats,
            page: vec![0; page],
            long,
            more,
            receivers: Vec::new(),
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
            threads: Mutex::new(Threads {
                ids: Vec::new(),
                receivers,
            }),
            instance,
        })
    }

    /// Records also the events that concern these threads. It takes some milliseconds, so a thread calls it before its first cycle.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn watch(&self, receivers: Vec<LateReceiver>) -> Result<(), RecorderError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads
            .ids
            .extend(receivers.iter().map(LateReceiver::thread));
        self.instance.restrict_all(&threads.ids)?;
        for receiver in receivers {
            // The thread of the recorder ends after this value.
            let _ = threads.receivers.send(receiver);
        }
        Ok(())
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
        // A panic of it leaves no report.
        thread.join().unwrap_or_default()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // The buffers are closed then, and the instance can be removed.
        let _ = self.finish();
    }
}

/// State of the thread. The buffers are closed before their instance is removed.
struct Recording {
    buffers: Vec<(u32, File)>,
    _instance: Arc<Instance>,
    formats: Formats,
    page: Vec<u8>,
    long: usize,
    more: Receiver<LateReceiver>,
    receivers: Vec<LateReceiver>,
    history: EventHistory,
    report: LateReport,
}

impl Recording {
    fn run(mut self, stop: &AtomicBool) -> LateReport {
        loop {
            let is_last = stop.load(Ordering::Relaxed);
            self.look();
            if is_last {
                break;
            }
            std::thread::park_timeout(STEP);
        }
        let lost = self.receivers.iter().map(LateReceiver::lost);
        self.report.left_out += lost.sum::<u64>();
        let explanations = &mut self.report.explanations;
        explanations.sort_by_key(|it| (it.interval.begin, it.interval.thread));
        std::mem::take(&mut self.report)
    }

    /// Reads the rings and explains, if a thread was late since the last time.
    fn look(&mut self) {
        self.receivers.extend(self.more.try_iter());
        let mut late: Vec<LateInterval> = Vec::new();
        for receiver in &mut self.receivers {
            late.extend(std::iter::from_fn(|| receiver.take()));
        }
        if late.is_empty() {
            return;
        }
        let now = monotonic_nanos();
        self.read();
        let room = MOST.saturating_sub(self.report.explanations.len());
        let left_out = late.len().saturating_sub(room);
        late.truncate(room);
        self.report.left_out += u64::try_from(left_out).unwrap_or(u64::MAX);
        let explained = self.history.explain(&late);
        self.report.explanations.extend(explained);
        self.history.forget_before(now.saturating_sub(KEPT));
    }

    fn read(&mut self) {
        let most = pages_of_buffer(self.page.len());
        for (processor, buffer) in &mut self.buffers {
            let (history, formats, long) = (&mut self.history, &self.formats, self.long);
            read_pages(buffer, &mut self.page, most, |page| {
                history.add_page(formats, *processor, page, long);
            });
        }
    }
}
