//! A measured thread beside a disturbance, whose times are known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_rt::affinity;
use takt_rt::clock::monotonic_nanos;
use takt_rt::priority::Policy;
use takt_wakeup::{
    Cause, CycleWork, Explanation, LateKind, Measurement, RealTimeOptions, Recorder, ThreadPlan,
    WatchStart, WatchedCalls, late_queue,
};

/// Priority of the measured thread.
pub(super) const PRIORITY: u8 = 50;

/// Share of the late wake-ups whose cause must be named, in percent.
const NAMED: usize = 95;

/// Number of late wake-ups that a test needs.
const ENOUGH: usize = 20;

/// Times of a disturbance: nanoseconds of CLOCK_MONOTONIC.
pub(super) type Span = (u64, u64);

/// Measured thread.
pub(super) struct Measured {
    pub(super) interval: Duration,
    /// Shortest latency that is late, in nanoseconds.
    pub(super) limit: u64,
    pub(super) work: CycleWork,
}

/// Returns the core of the measured thread, and another one if there is one.
pub(super) fn cores() -> (usize, usize) {
    let cores = affinity::available().unwrap();
    let cores = cores.as_slice();
    (*cores.last().unwrap(), *cores.first().unwrap())
}

/// Thread that keeps a core from idling: some kernels note not every switch from the idle thread, and without it the state of the
/// processor is unknown.
pub(super) struct Spinner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    pub(super) fn on(core: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            affinity::pin(core).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Measures while `disturb` runs, and returns the latenesses with the result of `disturb`.
pub(super) fn measure<T>(measured: Measured, disturb: impl FnOnce() -> T) -> (Vec<Explanation>, T) {
    let _spinner = Spinner::on(cores().0);
    let recorder = Arc::new(Recorder::start(WatchedCalls::Any).unwrap());
    let (to, limit) = (Arc::clone(&recorder), measured.limit);
    let watch = WatchStart::new(move |thread| {
        let (watch, receiver) = late_queue(thread, limit);
        to.watch(vec![receiver]).unwrap();
        Some(watch)
    });
    let plan = ThreadPlan {
        real_time: RealTimeOptions {
            policy: Some(Policy::Fifo(PRIORITY)),
            core: Some(cores().0),
            // Other tests of this process have much memory, and page faults are one of the causes.
            lock_memory: false,
            ..RealTimeOptions::default()
        },
        work: Some(measured.work),
        watch: Some(watch),
    };
    let measurement = Measurement::prepare(measured.interval, vec![plan]).unwrap();
    measurement.begin();
    let result = disturb();
    drop(measurement.finish());
    let report = recorder.finish();
    assert_eq!(report.failures, []);
    for it in &report.explanations {
        let sum: u64 = it.shares.iter().map(|share| share.nanos).sum();
        assert_eq!(sum, it.nanos(), "{it:?}");
    }
    (report.explanations, result)
}

/// Returns the latenesses of a kind of which these spans cover more than half: the disturbance is the main cause of them.
pub(super) fn disturbed(
    explanations: &[Explanation],
    kind: LateKind,
    spans: &[Span],
) -> Vec<Explanation> {
    let covered = |it: &&Explanation| {
        let (begin, end) = (it.interval.begin, it.interval.end);
        let within = spans
            .iter()
            .map(|span| span.1.min(end).saturating_sub(span.0.max(begin)));
        it.interval.kind == kind && within.sum::<u64>() * 2 > it.nanos()
    };
    explanations.iter().filter(covered).cloned().collect()
}

/// Checks that there are enough latenesses, and that the cause is named in at least 95 % of them.
pub(super) fn assert_named(late: &[Explanation], is_named: impl Fn(&Explanation) -> bool) {
    assert!(late.len() >= ENOUGH, "{} late wake-ups", late.len());
    let others: Vec<&Explanation> = late.iter().filter(|it| !is_named(it)).collect();
    println!(
        "{} of {} have the cause",
        late.len() - others.len(),
        late.len()
    );
    assert!(
        others.len() * 100 <= late.len() * (100 - NAMED),
        "{} of {} have other causes: {:#?}",
        others.len(),
        late.len(),
        others.iter().take(3).collect::<Vec<_>>()
    );
}

/// Returns true if the main cause is one of these.
pub(super) fn main_cause(is_it: impl Fn(&Cause) -> bool) -> impl Fn(&Explanation) -> bool {
    move |it| it.main_cause().is_some_and(|cause| is_it(&cause))
}

/// Spins for a time, and returns its span.
pub(super) fn spin(time: Duration) -> Span {
    let begin = monotonic_nanos();
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
    (begin, monotonic_nanos())
}
