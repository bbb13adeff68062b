//! Moments of a test, and the time since then without the delays of a loaded machine.
//!
//! A thread sleeps and works in turns, as followers do, and adds up what it is late. Limits do not count that time: a loaded machine
//! delays everything, and a follower that waits for a change that does not come is later than that.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use takt_app::DateTime;

/// Times of a turn.
const SLEEP: Duration = Duration::from_millis(9);
const WORK: Duration = Duration::from_millis(1);

/// All delays so far, in nanoseconds.
static DELAYS: AtomicU64 = AtomicU64::new(0);

/// Number of moments since which delays are measured.
static MEASURED: AtomicUsize = AtomicUsize::new(0);

/// A moment since which delays are measured.
pub(super) struct Moment {
    at: Instant,
    /// The same by the real-time clock.
    pub(super) time: DateTime,
    delays: u64,
}

impl Moment {
    pub(super) fn now() -> Self {
        static THREAD: OnceLock<Thread> = OnceLock::new();
        let thread = THREAD.get_or_init(|| thread::spawn(measure).thread().clone());
        MEASURED.fetch_add(1, Ordering::Relaxed);
        thread.unpark();
        Self {
            at: Instant::now(),
            time: DateTime::now(),
            delays: DELAYS.load(Ordering::Relaxed),
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.at.elapsed()
    }

    /// Returns the time since then without the delays.
    pub(super) fn undelayed(&self) -> Duration {
        let delays = DELAYS.load(Ordering::Relaxed) - self.delays;
        self.elapsed().saturating_sub(Duration::from_nanos(delays))
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        MEASURED.fetch_sub(1, Ordering::Relaxed);
    }
}

fn measure() {
    loop {
        while MEASURED.load(Ordering::Relaxed) == 0 {
            thread::park();
        }
        let begin = Instant::now();
        thread::sleep(SLEEP);
        let until = worked() + WORK;
        while worked() < until {}
        let late = begin.elapsed().saturating_sub(SLEEP + WORK);
        DELAYS.fetch_add(late.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// Returns the time that this thread has worked.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}
