//! Counts calls of `malloc` and its kin in a process: proof that a hot path allocates nothing.
//!
//! A Rust global allocator sees only what Rust allocates. This crate defines `malloc`, `calloc`, `realloc` and the
//! aligned ones themselves, each forwarding to glibc's own, so that whatever is linked into the program counts, C
//! libraries too. It is for tests and benchmarks: link it with `use takt_malloc as _;` and nothing else changes.
//!
//! glibc only; there the replacement of malloc by the program is a documented interface (glibc manual, "Replacing
//! malloc").

mod interpose;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Calls of malloc, calloc, realloc and aligned allocation so far, by all threads.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// True if what the main thread allocates is left out.
static WITHOUT_MAIN_THREAD: AtomicBool = AtomicBool::new(false);

/// Runs `work` and gives the number of allocations that the process made meanwhile.
///
/// In a test, which runs on a thread of its own, the main thread is the test harness: it prints now and then, and
/// what it allocates for that is not counted.
pub fn count<T>(work: impl FnOnce() -> T) -> (T, u64) {
    WITHOUT_MAIN_THREAD.store(!interpose::on_main_thread(), Ordering::SeqCst);
    let before = allocations();
    let result = work();
    let counted = allocations() - before;
    WITHOUT_MAIN_THREAD.store(false, Ordering::SeqCst);
    (result, counted)
}

/// Runs `work` until a run makes no allocation, three times at most, and gives the smallest number. Other threads of
/// the process, as those of a test's harness, may allocate now and then; what `work` allocates it allocates in every
/// run.
pub fn least(mut work: impl FnMut()) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..3 {
        least = least.min(count(&mut work).1);
        if least == 0 {
            break;
        }
    }
    least
}

fn add_one() {
    if WITHOUT_MAIN_THREAD.load(Ordering::Relaxed) && interpose::on_main_thread() {
        return;
    }
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
}
