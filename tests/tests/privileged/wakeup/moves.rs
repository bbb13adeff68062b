//! Threads that are moved to another processor.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use takt_rt::affinity;
use takt_rt::clock::monotonic_nanos;
use takt_rt::priority::{self, Policy};
use takt_wakeup::trace::event::KernelName;
use takt_wakeup::{Cause, LateKind, thread_id};

use super::disturbance::{
    Measured, Spinner, assert_named, cores, disturbed, main_cause, measure, spin,
};

/// Time of a measurement.
const TIME: Duration = Duration::from_secs(2);

/// Interval of the measured thread.
const INTERVAL: Duration = Duration::from_micros(500);

/// Pins a thread to a core.
fn pin(thread: u32, core: usize) {
    let mut set = CpuSet::new();
    set.set(core);
    let id = Pid::from_raw(thread.cast_signed()).unwrap();
    sched_setaffinity(Some(id), &set).unwrap();
}

/// Waits for the id of the measured thread.
fn id_of(thread: &AtomicU32) -> u32 {
    loop {
        let id = thread.load(Ordering::Relaxed);
        if id != 0 {
            return id;
        }
        std::thread::yield_now();
    }
}

pub(super) fn a_migration_is_named() {
    let (one, other) = cores();
    if one == other {
        println!("skipped: there is one processor only");
        return;
    }
    let _spinner = Spinner::on(other);
    let thread = Arc::new(AtomicU32::new(0));
    let places = Arc::new(Mutex::new(Vec::new()));
    let (itself, noted) = (Arc::clone(&thread), Arc::clone(&places));
    let measured = Measured {
        interval: INTERVAL,
        limit: 0,
        work: Box::new(move |cycle| {
            itself.store(thread_id(), Ordering::Relaxed);
            noted.lock().unwrap().push((cycle.number, sched_getcpu()));
        }),
    };
    let (late, ()) = measure(measured, move || {
        let begin = Instant::now();
        let id = id_of(&thread);
        while begin.elapsed() < TIME {
            for core in [other, one] {
                pin(id, core);
                std::thread::sleep(Duration::from_micros(2300));
            }
        }
    });
    let places = places.lock().unwrap();
    let pairs = places.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let moved: Vec<u64> = pairs.map(|pair| pair[1].0).collect();
    let (moved, stayed): (Vec<_>, Vec<_>) = late
        .into_iter()
        .filter(|it| it.interval.kind == LateKind::WakeUp)
        .partition(|it| moved.contains(&it.interval.cycle));
    let has_it = |it: &takt_wakeup::Explanation| {
        it.shares
            .iter()
            .any(|share| share.cause == Cause::Migration)
    };
    assert_named(&moved, has_it);
    assert_named(&stayed, |it| !has_it(it));
}

/// The thread waits for another one on its core, and is moved away then: the time before the move belongs to the old core.
pub(super) fn a_thread_that_is_moved_has_the_cause_of_its_old_processor() {
    let (one, other) = cores();
    if one == other {
        println!("skipped: there is one processor only");
        return;
    }
    let _spinner = Spinner::on(other);
    let thread = Arc::new(AtomicU32::new(0));
    let itself = Arc::clone(&thread);
    let measured = Measured {
        interval: INTERVAL,
        limit: 100_000,
        work: Box::new(move |_| itself.store(thread_id(), Ordering::Relaxed)),
    };
    let (late, spans) = measure(measured, move || {
        let id = id_of(&thread);
        let begun = Arc::new(AtomicU64::new(0));
        let ends = Arc::new(AtomicBool::new(false));
        let (begins, ended) = (Arc::clone(&begun), Arc::clone(&ends));
        let disturber = std::thread::Builder::new().name("a disturber".to_owned());
        let disturber = disturber.spawn(move || {
            affinity::pin(one).unwrap();
            priority::set(Policy::Fifo(90)).unwrap();
            let begin = Instant::now();
            while begin.elapsed() < TIME {
                begins.store(monotonic_nanos(), Ordering::Relaxed);
                spin(Duration::from_micros(700));
                std::thread::sleep(Duration::from_micros(2300));
            }
            ended.store(true, Ordering::Relaxed);
        });
        let mover = std::thread::spawn(move || {
            affinity::pin(other).unwrap();
            priority::set(Policy::Fifo(91)).unwrap();
            let (mut last, mut spans) = (0, Vec::new());
            while !ends.load(Ordering::Relaxed) {
                let begin = begun.load(Ordering::Relaxed);
                if begin == last || monotonic_nanos() < begin + 400_000 {
                    std::thread::sleep(Duration::from_micros(20));
                    continue;
                }
                last = begin;
                pin(id, other);
                spans.push((begin, monotonic_nanos()));
                // Until the other thread has ended.
                std::thread::sleep(Duration::from_micros(700));
                pin(id, one);
            }
            spans
        });
        let spans = mover.join().unwrap();
        disturber.unwrap().join().unwrap();
        spans
    });
    let late = disturbed(&late, LateKind::WakeUp, &spans);
    assert_named(
        &late,
        main_cause(
            |cause| matches!(cause, Cause::Thread(thread) if thread.name == KernelName::new(b"a disturber")),
        ),
    );
}
