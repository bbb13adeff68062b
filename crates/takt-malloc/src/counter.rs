//! The count of allocations.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::thread;

/// Number of allocations so far, of all threads.
pub(crate) static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// True if allocations of the main thread are not counted.
pub(crate) static WITHOUT_MAIN_THREAD: AtomicBool = AtomicBool::new(false);

/// Counts an allocation of this thread.
pub(crate) fn add_one() {
    if WITHOUT_MAIN_THREAD.load(Ordering::Relaxed) && thread::is_main() {
        return;
    }
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
}
