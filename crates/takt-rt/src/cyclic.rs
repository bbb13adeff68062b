//! Cyclic loops.
//!
//! Cycle *n* starts at `base time + n · cycle` on a clock of the system. The thread sleeps until that absolute time
//! (`clock_nanosleep` with `TIMER_ABSTIME`), so lateness does not add up, and hosts whose clocks agree (TAI by PTP)
//! start their cycles at the same time.
//!
//! Every cycle reports its *wake-up latency*: the delay with which the thread was woken. Work that takes longer than
//! its cycle is an *overrun*: the cycles whose start has passed are counted and skipped. They are not repeated later,
//! because two cycles at once would break the spacing that others rely on.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::time::Duration;
//! use takt_rt::cyclic::Cyclic;
//!
//! # fn main() -> Result<(), takt_rt::cyclic::CyclicError> {
//! let mut worst = 0;
//! let overruns = Cyclic::new(Duration::from_millis(1))?.run(|cycle| {
//!     worst = worst.max(cycle.wake_up_latency_nanos);
//!     if cycle.number < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(cycle.overruns) }
//! });
//! println!("{overruns} overruns, woken at most {worst} ns late");
//! # Ok(())
//! # }
//! ```

use std::ops::ControlFlow;
use std::time::Duration;

use crate::clock::{Clock, sleep_until};

/// Error of an invalid cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CyclicError {
    /// The cycle is 0 ns long.
    #[error(
        "a cycle has 0 ns: it must have at least 1 ns, and cycles below about 50 µs are of little use"
    )]
    ZeroCycle,
    /// The cycle exceeds the range of the clock, whose nanoseconds end in 2262.
    #[error("a cycle of {0:?} is longer than the clock's range")]
    TooLong(Duration),
}

/// One cycle, as passed to the work of that cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    /// The number *n* in `base time + n · cycle`. It grows by one, or by more after an overrun; goes back when the
    /// clock is set back.
    pub number: u64,
    /// Scheduled start of this cycle, in nanoseconds of the loop's clock.
    pub start_nanos: i64,
    /// Delay of the actual start, in nanoseconds.
    pub wake_up_latency_nanos: u64,
    /// Number of cycles skipped immediately before this one because their start had passed.
    pub skipped: u64,
    /// Number of all cycles skipped since the loop began.
    pub overruns: u64,
}

/// A loop with a fixed cycle; see the [module](self).
#[derive(Debug, Clone)]
pub struct Cyclic {
    clock: Clock,
    cycle: i64,
    base_time: i64,
    spin: Duration,
    /// The number of the last cycle; `None` before the first.
    last: Option<i64>,
    overruns: u64,
}

impl Cyclic {
    /// Creates a loop on the monotonic clock whose first cycle, number 0, starts one cycle from now.
    ///
    /// # Errors
    /// [`CyclicError`] for a cycle of no length, or longer than 292 years.
    pub fn new(cycle: Duration) -> Result<Self, CyclicError> {
        let nanos = i64::try_from(cycle.as_nanos()).map_err(|_| CyclicError::TooLong(cycle))?;
        if nanos == 0 {
            return Err(CyclicError::ZeroCycle);
        }
        let clock = Clock::Monotonic;
        Ok(Self {
            clock,
            cycle: nanos,
            base_time: clock.nanos().saturating_add(nanos),
            spin: Duration::ZERO,
            last: None,
            overruns: 0,
        })
    }

    /// Starts the cycles by another clock, at `base_time_nanos` plus whole multiples of the cycle on it.
    ///
    /// A base time may be in the past: the first cycle is then the next one that is due, and its number is the number
    /// of cycles since the base time. In this way hosts agree on a cycle. An offset into the cycle is added to the
    /// base time.
    #[must_use]
    pub fn with_base_time(mut self, clock: Clock, base_time_nanos: i64) -> Self {
        self.clock = clock;
        self.base_time = base_time_nanos;
        self.last = None;
        self
    }

    /// Wakes this long before each start and spins until it: lower latency at the cost of CPU time.
    #[must_use]
    pub fn with_spin(mut self, spin: Duration) -> Self {
        self.spin = spin;
        self
    }

    /// Returns the length of a cycle.
    #[must_use]
    pub const fn cycle(&self) -> Duration {
        Duration::from_nanos(self.cycle.unsigned_abs())
    }

    /// Does `work` in every cycle until it breaks with a result. Allocates nothing.
    pub fn run<T>(mut self, mut work: impl FnMut(Cycle) -> ControlFlow<T>) -> T {
        loop {
            if let ControlFlow::Break(result) = work(self.wait()) {
                return result;
            }
        }
    }

    /// Sleeps until the next cycle starts: for custom loops.
    ///
    /// Signals do not end the sleep. A clock that is set back during it (`Realtime`, `Tai`) makes it longer.
    pub fn wait(&mut self) -> Cycle {
        let (number, skipped) = self.next(self.clock.nanos());
        let start = number
            .saturating_mul(self.cycle)
            .saturating_add(self.base_time);
        let woken = sleep_until(self.clock, start, self.spin);
        self.last = Some(number);
        self.overruns = self.overruns.saturating_add(skipped);
        Cycle {
            number: number.unsigned_abs(),
            start_nanos: start,
            wake_up_latency_nanos: woken.saturating_sub(start).unsigned_abs(),
            skipped,
            overruns: self.overruns,
        }
    }

    /// Returns the number of the first cycle that starts after `now`, and the number of cycles skipped since the last
    /// one.
    fn next(&self, now: i64) -> (i64, u64) {
        let since = now.saturating_sub(self.base_time);
        let number = since.div_euclid(self.cycle).saturating_add(1).max(0);
        // A clock that was set back makes this negative: nothing was skipped then.
        let skipped = self
            .last
            .map_or(0, |last| number.saturating_sub(last).saturating_sub(1));
        (number, u64::try_from(skipped).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{monotonic_nanos, tai_nanos};

    const MILLISECOND: i64 = 1_000_000;

    fn cyclic(cycle: i64, base_time: i64) -> Cyclic {
        Cyclic::new(Duration::from_nanos(cycle.unsigned_abs()))
            .unwrap()
            .with_base_time(Clock::Monotonic, base_time)
    }

    #[test]
    fn next_cycle_by_the_clock() {
        let mut c = cyclic(100, 1000);
        assert_eq!(c.next(0), (0, 0), "base time in the future");
        assert_eq!(c.next(999), (0, 0));
        assert_eq!(
            c.next(1000),
            (1, 0),
            "a start that has passed is not due any more"
        );
        assert_eq!(
            c.next(1250),
            (3, 0),
            "before the first cycle nothing is an overrun"
        );

        c.last = Some(3);
        assert_eq!(c.next(1399), (4, 0));
        assert_eq!(c.next(1400), (5, 1), "the work took a whole cycle");
        assert_eq!(c.next(1999), (10, 6));
        assert_eq!(c.next(1100), (2, 0), "the clock was set back");
        assert_eq!(c.next(i64::MIN), (0, 0));
        let (far, _) = c.next(i64::MAX);
        assert!(far > 1 << 56);
    }

    #[test]
    fn starts_are_equidistant_and_never_early() {
        let base = Clock::Monotonic.nanos() - 10 * MILLISECOND;
        let mut c = cyclic(MILLISECOND, base);
        let mut last = None;
        for _ in 0..20 {
            let cycle = c.wait();
            let now = Clock::Monotonic.nanos();
            assert!(now >= cycle.start_nanos);
            assert_eq!(
                cycle.start_nanos,
                base + cycle.number.cast_signed() * MILLISECOND
            );
            assert!(cycle.number >= 10);
            if let Some(last) = last {
                assert_eq!(cycle.number, last + 1 + cycle.skipped);
            }
            last = Some(cycle.number);
        }
    }

    #[test]
    fn overruns_are_skipped_and_counted() {
        let mut seen = Vec::new();
        let cycle = Duration::from_millis(5);
        let overruns = Cyclic::new(cycle).unwrap().run(|cycle| {
            seen.push((cycle.number, cycle.skipped));
            if seen.len() == 1 {
                std::thread::sleep(Duration::from_millis(12));
            }
            if seen.len() == 3 {
                ControlFlow::Break(cycle.overruns)
            } else {
                ControlFlow::Continue(())
            }
        });
        // Busy machines may skip more.
        assert!(
            seen[1].1 >= 2 && seen[1].0 == seen[0].0 + seen[1].1 + 1,
            "{seen:?}"
        );
        assert_eq!(overruns, seen.iter().map(|s| s.1).sum::<u64>());
    }

    #[test]
    fn tai_with_spin() {
        let base = tai_nanos().div_euclid(MILLISECOND) * MILLISECOND;
        let mut c = cyclic(MILLISECOND, 0)
            .with_base_time(Clock::Tai, base)
            .with_spin(Duration::from_micros(100));
        let cycle = c.wait();
        assert!(tai_nanos() >= cycle.start_nanos);
        assert_eq!(cycle.start_nanos.rem_euclid(MILLISECOND), 0);
        assert_eq!(c.cycle(), Duration::from_millis(1));
    }

    #[test]
    fn first_cycle_is_one_cycle_away() {
        let before = monotonic_nanos();
        let cycle = Cyclic::new(Duration::from_millis(2)).unwrap().wait();
        assert!(monotonic_nanos() - before >= 2_000_000);
        assert_eq!(cycle.skipped, 0);
    }

    #[test]
    fn senseless_cycles() {
        assert_eq!(
            Cyclic::new(Duration::ZERO).unwrap_err(),
            CyclicError::ZeroCycle
        );
        assert!(matches!(
            Cyclic::new(Duration::MAX),
            Err(CyclicError::TooLong(_))
        ));
    }
}
