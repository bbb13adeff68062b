//! Many threads, and processors that idle deeply.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use takt_rt::priority::Policy;
use takt_wakeup::{
    Cause, Explanation, LateKind, Measurement, RealTimeOptions, Recorder, ThreadPlan, WatchStart,
    WatchedCalls, WhileLate, late_queue,
};

use super::disturbance::{PRIORITY, assert_named, cores};
use super::tracefs::{INSTANCES, instances_of};

/// Number of threads. Their ids do not fit into one filter.
const THREADS: usize = 300;

/// Exit latency in microseconds from which on an idle state makes wake-ups late.
const DEEP: u64 = 20;

/// Measures threads for a time. Each latency above the limit is late.
fn measure(
    threads: usize,
    interval: Duration,
    limit: u64,
    real_time: &RealTimeOptions,
    time: Duration,
) -> Vec<Explanation> {
    let recorder = Arc::new(Recorder::start(WatchedCalls::OnlySleep).unwrap());
    let to = Arc::clone(&recorder);
    let watch = WatchStart::new(move |thread| {
        let (watch, receiver) = late_queue(thread, limit);
        to.watch(vec![receiver]).unwrap();
        Some(watch)
    });
    let plan = |_| ThreadPlan {
        real_time: real_time.clone(),
        work: None,
        watch: Some(watch.clone()),
    };
    let measurement = Measurement::prepare(interval, (0..threads).map(plan).collect()).unwrap();
    let filters = filters();
    measurement.begin();
    std::thread::sleep(time);
    drop(measurement.finish());
    let report = recorder.finish();
    assert_eq!(report.failures, []);
    assert!(filters.iter().all(|it| it.len() < 4096), "{filters:?}");
    report.explanations
}

/// Returns the filters of this process's instances.
fn filters() -> Vec<String> {
    let instances = instances_of(std::process::id()).into_iter();
    let filter = |name| {
        let event = "events/sched/sched_waking/filter";
        fs::read_to_string(Path::new(INSTANCES).join::<String>(name).join(event)).unwrap()
    };
    instances.map(filter).collect()
}

fn options() -> RealTimeOptions {
    RealTimeOptions {
        policy: Some(Policy::Fifo(PRIORITY)),
        core: Some(cores().0),
        lock_memory: false,
        ..RealTimeOptions::default()
    }
}

pub(super) fn many_threads_have_causes() {
    let interval = Duration::from_millis(100);
    let late = measure(THREADS, interval, 0, &options(), Duration::from_secs(1));
    let known = late
        .iter()
        .filter(|it| it.main_cause() != Some(Cause::Unknown));
    let mut threads: Vec<u32> = known.map(|it| it.interval.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), THREADS, "{} late wake-ups", late.len());
}

/// Returns the deepest idle state of a core that takes long to leave, with the directories of the others.
fn deep_state(core: usize) -> Option<(u64, Vec<PathBuf>)> {
    let path = format!("/sys/devices/system/cpu/cpu{core}/cpuidle");
    let states = fs::read_dir(path).ok()?.flatten().map(|it| it.path());
    let latency = |path: &PathBuf| {
        let text = fs::read_to_string(path.join("latency")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let mut states: Vec<(u64, PathBuf)> = states
        .filter_map(|path| Some((latency(&path)?, path)))
        .collect();
    states.sort();
    let (latency, _) = states.pop().filter(|(latency, _)| *latency >= DEEP)?;
    Some((latency, states.into_iter().map(|(_, path)| path).collect()))
}

/// Idle states that are disabled until this is dropped.
struct Disabled(Vec<(PathBuf, String)>);

impl Disabled {
    fn new(states: Vec<PathBuf>) -> Self {
        let disable = |state: PathBuf| {
            let file = state.join("disable");
            let before = fs::read_to_string(&file).unwrap();
            fs::write(&file, "1").unwrap();
            (file, before)
        };
        Self(states.into_iter().map(disable).collect())
    }
}

impl Drop for Disabled {
    fn drop(&mut self) {
        for (file, before) in &self.0 {
            let _ = fs::write(file, before);
        }
    }
}

pub(super) fn idle_states_are_named() {
    let core = cores().0;
    let Some((latency, shallow)) = deep_state(core) else {
        println!("skipped: core {core} has no idle state that takes {DEEP} \u{b5}s to leave");
        return;
    };
    let _disabled = Disabled::new(shallow);
    let real_time = RealTimeOptions {
        cpu_latency: false,
        ..options()
    };
    let interval = Duration::from_millis(5);
    let limit = latency * 1000 / 2;
    let mut late = measure(1, interval, limit, &real_time, Duration::from_secs(3));
    // Other work of the core is no idle state.
    late.retain(|it| {
        it.interval.kind == LateKind::WakeUp
            && it
                .shares
                .iter()
                .all(|share| !matches!(share.cause, Cause::Thread(_)))
    });
    assert_named(&late, |it| {
        matches!(
            it.main_cause(),
            Some(Cause::TimerLate(WhileLate::Idle(_)) | Cause::IdleExit)
        )
    });
}
