//! Counts calls of `malloc` and its kin in a process: proof that a hot path allocates nothing.
//!
//! A Rust global allocator sees only what Rust allocates. This crate defines `malloc`, `calloc`, `realloc` and the
//! aligned ones themselves, each forwarding to glibc's own, so that all allocations of the program are counted,
//! including those of C libraries. It is for tests and benchmarks: link it with `use takt_malloc as _;` and nothing
//! else changes.
//!
//! glibc only; there the replacement of malloc by the program is a documented interface (glibc manual, "Replacing
//! malloc").

#![deny(unsafe_code)]

mod alone;
mod counter;
#[allow(unsafe_code, reason = "functions of the C library")]
mod interpose;
#[cfg(test)]
#[allow(unsafe_code, reason = "functions of the C library")]
mod tests;
#[allow(unsafe_code, reason = "functions of the C library")]
mod thread;

use std::sync::atomic::Ordering;

pub use alone::alone;
use counter::{ALLOCATIONS, WITHOUT_MAIN_THREAD};

/// Returns the number of calls of malloc, calloc, realloc and aligned allocation so far, of all threads.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// Runs `work` and returns the number of allocations of the process meanwhile. Tests that count are [`alone`].
///
/// In a test, which runs on a thread of its own, the main thread is the test harness: it prints now and then, and its
/// allocations for that are not counted.
pub fn count<T>(work: impl FnOnce() -> T) -> (T, u64) {
    WITHOUT_MAIN_THREAD.store(!thread::is_main(), Ordering::SeqCst);
    let before = allocations();
    let result = work();
    let counted = allocations() - before;
    WITHOUT_MAIN_THREAD.store(false, Ordering::SeqCst);
    (result, counted)
}

/// Runs `work` until a run makes no allocation, at most three times, and returns the smallest number. Other threads
/// of the process, such as those of the test harness, may allocate now and then; allocations of `work` occur in every
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
