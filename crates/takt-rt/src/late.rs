//! Late wake-ups on their way from a real-time thread to the recorder: without allocation, lock or system call. `takt-wakeup` has the
//! recorder and finds the causes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::cyclic::Cycle;

/// Number of late wake-ups that wait for the recorder. More of them are counted.
const PLACES: usize = 1024;

/// Kind of a lateness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LateKind {
    /// The thread slept, and woke up late: from its planned start until it ran again.
    WakeUp,
    /// The thread was still busy at its next start: from its last wake-up until it slept again.
    Overrun,
}

impl LateKind {
    /// Returns the name, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WakeUp => "wakeUp",
            Self::Overrun => "overrun",
        }
    }
}

/// Lateness that is to be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateInterval {
    /// Id of the thread (`gettid`).
    pub thread: u32,
    /// Number of the cycle.
    pub cycle: u64,
    /// Kind.
    pub kind: LateKind,
    /// Beginning of the lateness: nanoseconds of CLOCK_MONOTONIC.
    pub begin: u64,
    /// End of the lateness: nanoseconds of CLOCK_MONOTONIC.
    pub end: u64,
}

/// Fields of an interval: cycle, kind, beginning, end.
type Place = [AtomicU64; 4];

/// Queue from one thread to the recorder.
#[derive(Debug)]
struct LateQueue {
    thread: u32,
    places: Vec<Place>,
    /// Number of intervals that were written; only the real-time thread changes it.
    written: AtomicUsize,
    /// Number of intervals that were read; only the recorder changes it.
    read: AtomicUsize,
    lost: AtomicU64,
}

/// Returns the id of the calling thread (`gettid`).
#[must_use]
pub fn thread_id() -> u32 {
    rustix::thread::gettid()
        .as_raw_nonzero()
        .get()
        .unsigned_abs()
}

/// Function that returns a watch for the cycles of the thread with this id (`gettid`), or none.
type MakeWatch = dyn Fn(u32) -> Option<LateWatch> + Send + Sync;

/// Source of watches, one for each cyclic thread. A thread asks for its own before its real-time settings and its first cycle.
#[derive(Clone)]
pub struct WatchStart(Arc<MakeWatch>);

impl WatchStart {
    /// Makes a source of a function that gets the id of the thread (`gettid`), on that thread.
    pub fn new(make: impl Fn(u32) -> Option<LateWatch> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    /// Returns the watch of the calling thread.
    #[must_use]
    pub fn of_this_thread(&self) -> Option<LateWatch> {
        (self.0)(thread_id())
    }
}

impl fmt::Debug for WatchStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WatchStart(…)")
    }
}

/// Creates the two sides of a queue: for the thread with this id (`gettid`), and for the recorder. Latencies above the limit, in
/// nanoseconds, are noted.
#[must_use]
pub fn late_queue(thread: u32, limit_nanos: u64) -> (LateWatch, LateReceiver) {
    let place = |_| std::array::from_fn(|_| AtomicU64::new(0));
    let queue = Arc::new(LateQueue {
        thread,
        places: (0..PLACES).map(place).collect(),
        written: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
        lost: AtomicU64::new(0),
    });
    let watch = LateWatch {
        queue: Arc::clone(&queue),
        limit_nanos,
        last: None,
    };
    (watch, LateReceiver { queue })
}

/// Side of the real-time thread: it writes.
#[derive(Debug)]
pub struct LateWatch {
    queue: Arc<LateQueue>,
    limit_nanos: u64,
    /// Beginning and end of the last wake-up, in nanoseconds of CLOCK_MONOTONIC.
    last: Option<(u64, u64)>,
}

impl LateWatch {
    /// Notes the beginning of a cycle. If it is late, or if it follows skipped ones, the recorder looks for the causes.
    pub fn note(&mut self, cycle: &Cycle) {
        // The monotonic clock starts at zero.
        let begin = u64::try_from(cycle.start_monotonic_nanos).unwrap_or(0);
        let end = begin.saturating_add(cycle.wake_up_latency_nanos);
        if let Some((last_begin, last_end)) = self.last.filter(|_| cycle.skipped > 0) {
            let length = begin.saturating_sub(last_begin) / cycle.skipped.saturating_add(1);
            // A wake-up that is later than its cycle has the causes of the skipped ones.
            if last_end < last_begin.saturating_add(length) {
                let end = begin.max(last_end);
                self.send(cycle.number, LateKind::Overrun, last_end, end);
            }
        }
        if cycle.wake_up_latency_nanos > self.limit_nanos {
            self.send(cycle.number, LateKind::WakeUp, begin, end);
        }
        self.last = Some((begin, end));
    }

    #[cold]
    fn send(&self, cycle: u64, kind: LateKind, begin: u64, end: u64) {
        let written = self.queue.written.load(Ordering::Relaxed);
        let waiting = written.wrapping_sub(self.queue.read.load(Ordering::Acquire));
        let place = self.queue.places.get(written % PLACES);
        let Some(place) = place.filter(|_| waiting < PLACES) else {
            self.queue.lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let kind = u64::from(kind == LateKind::Overrun);
        for (field, value) in place.iter().zip([cycle, kind, begin, end]) {
            field.store(value, Ordering::Relaxed);
        }
        // Publishes the fields.
        self.queue
            .written
            .store(written.wrapping_add(1), Ordering::Release);
    }
}

/// Side of the recorder: it reads.
#[derive(Debug)]
pub struct LateReceiver {
    queue: Arc<LateQueue>,
}

impl LateReceiver {
    /// Returns the id of the thread.
    #[must_use]
    pub fn thread(&self) -> u32 {
        self.queue.thread
    }

    /// Returns the number of late wake-ups for which there was no room.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.queue.lost.load(Ordering::Relaxed)
    }

    /// Takes the next late wake-up.
    pub fn take(&mut self) -> Option<LateInterval> {
        let read = self.queue.read.load(Ordering::Relaxed);
        if read == self.queue.written.load(Ordering::Acquire) {
            return None;
        }
        let place = self.queue.places.get(read % PLACES)?;
        let [cycle, kind, begin, end] = std::array::from_fn(|index| {
            place
                .get(index)
                .map_or(0, |it: &AtomicU64| it.load(Ordering::Relaxed))
        });
        // The place may be written again from here on.
        self.queue
            .read
            .store(read.wrapping_add(1), Ordering::Release);
        Some(LateInterval {
            thread: self.queue.thread,
            cycle,
            kind: match kind {
                0 => LateKind::WakeUp,
                _ => LateKind::Overrun,
            },
            begin,
            end,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(number: u64, latency: u64, skipped: u64) -> Cycle {
        Cycle {
            number,
            start_nanos: 0,
            start_monotonic_nanos: 1000 * number.cast_signed(),
            wake_up_latency_nanos: latency,
            skipped,
            overruns: 0,
            clock_step_nanos: 0,
            clock_steps: 0,
        }
    }

    #[test]
    fn late_and_skipped_cycles_are_sent() {
        let (mut watch, mut receiver) = late_queue(7, 100);
        watch.note(&cycle(1, 100, 5));
        assert_eq!(receiver.take(), None, "not above the limit");
        watch.note(&cycle(2, 101, 0));
        watch.note(&cycle(5, 40, 2));
        let late = |cycle, kind, begin, end| LateInterval {
            thread: 7,
            cycle,
            kind,
            begin,
            end,
        };
        let expected = late(2, LateKind::WakeUp, 2000, 2101);
        assert_eq!(receiver.take(), Some(expected));
        let expected = late(5, LateKind::Overrun, 2101, 5000);
        assert_eq!(receiver.take(), Some(expected));
        assert_eq!(receiver.take(), None);
    }

    /// The cycles after 6 are skipped because its wake-up is late, not because its work is long.
    #[test]
    fn a_wake_up_that_is_later_than_a_cycle_is_no_overrun() {
        let (mut watch, mut receiver) = late_queue(7, 100);
        watch.note(&cycle(6, 2500, 0));
        watch.note(&cycle(9, 0, 2));
        let late = receiver.take().unwrap();
        assert_eq!((late.cycle, late.kind), (6, LateKind::WakeUp));
        assert_eq!(receiver.take(), None);
    }

    #[test]
    fn late_wake_ups_without_room_are_counted() {
        let (mut watch, mut receiver) = late_queue(7, 0);
        for round in 0..3_u64 {
            let most = PLACES as u64;
            for number in 0..most + 2 {
                watch.note(&cycle(number, 1, 0));
            }
            assert_eq!(receiver.lost(), 2 * (round + 1));
            for number in 0..most {
                assert_eq!(receiver.take().map(|it| it.cycle), Some(number));
            }
            assert_eq!(receiver.take(), None);
        }
    }
}
