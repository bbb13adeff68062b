//! One time of a flow beside the time that is proven for it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Quantity of a flow that is compared with a proven time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WatchedQuantity {
    /// Delay of a message: from its Timestamp until the receiving thread has it. The clocks of both hosts have to agree.
    Delay,
    /// Lateness of a message after the one before: the time between them, less one cycle for each sequence number between them.
    /// It needs no common clock. The proven time is the jitter: the longest delay less the shortest one.
    Interval,
    /// Lateness of a sent message: from the planned begin of its publishing interval until the link has it.
    Sending,
}

impl WatchedQuantity {
    /// Returns the name for programs: `delay`, `interval` or `sending`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Interval => "interval",
            Self::Sending => "sending",
        }
    }
}

/// Writes the quantity in words: `delay`.
impl fmt::Display for WatchedQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Delay => "delay",
            Self::Interval => "lateness after the message before",
            Self::Sending => "lateness of sending",
        })
    }
}

/// Numbers of one quantity of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeFigures {
    /// The quantity.
    pub quantity: WatchedQuantity,
    /// Number of measured times.
    pub count: u64,
    /// Greatest measured time.
    pub greatest: Duration,
    /// Longest proven time; `None` if nothing is proven.
    pub proven: Option<Duration>,
    /// Number of measured times that reached the given share of the proven one, with those above it.
    pub near: u64,
    /// Number of measured times above the proven one.
    pub late: u64,
}

impl TimeFigures {
    /// Returns the greatest measured time divided by the proven one; `None` if nothing is proven or nothing was measured.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let proven = self.proven.filter(|_| self.count > 0)?;
        Some(self.greatest.as_nanos() as f64 / proven.as_nanos() as f64)
    }
}

/// One quantity of a flow. Its own thread counts, and other threads read.
#[derive(Debug)]
pub(super) struct WatchedTime {
    quantity: WatchedQuantity,
    /// Proven time in nanoseconds, never 0; `u64::MAX` if nothing is proven.
    proven: u64,
    /// Time in nanoseconds from which a message is near its bound.
    near_from: u64,
    count: AtomicU64,
    greatest: AtomicU64,
    /// Without those above the proven time.
    near: AtomicU64,
    late: AtomicU64,
}

impl WatchedTime {
    /// Creates a quantity. A message is near its bound from this share of the proven time on. A proven time of 0 counts as none:
    /// no share of it exists.
    pub(super) fn new(quantity: WatchedQuantity, proven: Option<Duration>, share: f64) -> Self {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let proven = proven.map(nanos).filter(|proven| *proven > 0);
        let near_from = proven.map(|proven| (proven as f64 * share).ceil() as u64);
        Self {
            quantity,
            proven: proven.unwrap_or(u64::MAX),
            near_from: near_from.unwrap_or(u64::MAX),
            count: AtomicU64::new(0),
            greatest: AtomicU64::new(0),
            near: AtomicU64::new(0),
            late: AtomicU64::new(0),
        }
    }

    /// Counts a time in nanoseconds; returns true if it is above the proven one.
    #[inline]
    pub(super) fn note(&self, nanos: u64) -> bool {
        add(&self.count, 1);
        if nanos > self.greatest.load(Ordering::Relaxed) {
            self.greatest.store(nanos, Ordering::Relaxed);
        }
        let is_late = self.is_above(nanos);
        if is_late {
            add(&self.late, 1);
        } else if nanos >= self.near_from {
            add(&self.near, 1);
        }
        is_late
    }

    /// Returns the proven time in nanoseconds; `None` if nothing is proven.
    pub(super) fn longest(&self) -> Option<u64> {
        (self.proven < u64::MAX).then_some(self.proven)
    }

    /// Returns true if a time in nanoseconds is above the proven one.
    #[inline]
    pub(super) const fn is_above(&self, nanos: u64) -> bool {
        nanos > self.proven
    }

    pub(super) fn figures(&self) -> TimeFigures {
        // The numbers are read one by one, and need not be of the same moment.
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let late = load(&self.late);
        TimeFigures {
            quantity: self.quantity,
            count: load(&self.count),
            greatest: Duration::from_nanos(load(&self.greatest)),
            proven: self.longest().map(Duration::from_nanos),
            near: load(&self.near).saturating_add(late),
            late,
        }
    }
}

/// Adds to a number that only the calling thread writes: the addition need not be atomic.
#[inline]
pub(super) fn add(number: &AtomicU64, count: u64) {
    let sum = number.load(Ordering::Relaxed).wrapping_add(count);
    number.store(sum, Ordering::Relaxed);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const MICRO: u64 = 1000;

    #[test]
    fn a_share_is_the_greatest_time_over_the_proven_one() {
        let proven = Some(Duration::from_micros(500));
        let time = WatchedTime::new(WatchedQuantity::Delay, proven, 0.8);
        assert_eq!(time.figures().share(), None, "nothing was measured");
        for (micros, share, near, late) in [
            (100, 0.2, 0, 0),
            (50, 0.2, 0, 0),
            (399, 0.798, 0, 0),
            (400, 0.8, 1, 0),
            (500, 1.0, 2, 0),
            (501, 1.002, 3, 1),
            (10, 1.002, 3, 1),
        ] {
            assert_eq!(time.note(micros * MICRO), micros > 500);
            let figures = time.figures();
            assert_eq!(figures.share(), Some(share), "{micros} µs");
            assert_eq!((figures.near, figures.late), (near, late), "{micros} µs");
        }
        assert_eq!(time.figures().count, 7);
    }

    #[test]
    fn without_a_proven_time_there_is_no_share() {
        for proven in [None, Some(Duration::ZERO)] {
            let time = WatchedTime::new(WatchedQuantity::Interval, proven, 0.8);
            assert!(!time.note(7 * MICRO));
            let figures = time.figures();
            assert_eq!((figures.proven, figures.share()), (None, None));
            assert_eq!((figures.near, figures.late), (0, 0));
            assert_eq!(figures.greatest, Duration::from_micros(7));
        }
    }
}
