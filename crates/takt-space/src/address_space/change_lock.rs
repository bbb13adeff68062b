//! The lock of all changes of an address space.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::counters::Counters;

/// A lock that a thread cannot take again while another one waits for it.
///
/// A mutex goes to the thread that runs, not to the one that waits: a thread that makes many changes, each under the lock,
/// would keep all others waiting until its last one. The loop of the server is one of these others.
#[derive(Debug, Default)]
pub(super) struct ChangeLock {
    /// Held by the thread that is next, while it waits for `counters`.
    next: Mutex<()>,
    counters: Mutex<Counters>,
}

impl ChangeLock {
    /// Waits for the changes of other threads.
    pub(super) fn lock(&self) -> MutexGuard<'_, Counters> {
        // A panic leaves nothing behind that others could not use.
        let _next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::thread;

    use super::*;

    /// Changes that another thread makes at most while it is not to end.
    const MOST: u32 = 20_000;

    /// Changes of the thread that waits.
    const WAITS: usize = 15;

    #[test]
    fn a_thread_waits_for_one_change_of_a_thread_that_makes_many() {
        let (lock, made, over) = (
            ChangeLock::default(),
            AtomicU32::new(0),
            AtomicBool::new(false),
        );
        let mut waited = Vec::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                while made.load(Ordering::Relaxed) < MOST && !over.load(Ordering::Relaxed) {
                    let _counters = lock.lock();
                    // Long enough that the other thread sleeps.
                    (0..20_000).for_each(|number| {
                        black_box(number);
                    });
                    made.fetch_add(1, Ordering::Relaxed);
                }
            });
            let mut seen = 0;
            for _ in 0..WAITS {
                // The other thread is at its next change.
                while made.load(Ordering::Relaxed) == seen && seen < MOST {
                    thread::yield_now();
                }
                let before = made.load(Ordering::Relaxed);
                drop(lock.lock());
                seen = made.load(Ordering::Relaxed);
                waited.push(seen - before);
            }
            over.store(true, Ordering::Relaxed);
        });
        assert!(made.into_inner() < MOST, "{waited:?}");
        // A busy processor may stop the thread before it begins to wait, but not each time.
        waited.sort_unstable();
        let median = waited.get(WAITS / 2);
        assert!(median.is_some_and(|median| *median <= 3), "{waited:?}");
    }
}
