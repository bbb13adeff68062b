//! Cyclic loops.
//!
//! Cycle *n* starts at `base time + n · cycle` on a clock of the system. The thread sleeps until that absolute time
//! (`clock_nanosleep` with `TIMER_ABSTIME`), so lateness does not add up, and hosts whose clocks agree (TAI by PTP)
//! start their cycles at the same time.
//!
//! A clock that is *set*, forwards or backwards, is followed from the next cycle on. Its start is the first one of the new time
//! that is at least half a cycle away from the cycle before, so that cycles never crowd. The step is reported; the cycles that the
//! new time has skipped or repeats are not overruns.
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::Clock;
use crate::sleeping::{Clocks, Reading, SettableClock, SystemClocks};

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
    /// clock is set back, and is 0 in all cycles of a clock that is set to a time before the base time.
    pub number: u64,
    /// Scheduled start of this cycle, in nanoseconds of the loop's clock.
    pub start_nanos: i64,
    /// The same in nanoseconds of CLOCK_MONOTONIC: for times within the cycle, which do not move if the loop's clock is set.
    pub start_monotonic_nanos: i64,
    /// Delay of the actual start, in nanoseconds.
    pub wake_up_latency_nanos: u64,
    /// Number of cycles skipped immediately before this one because their start had passed.
    pub skipped: u64,
    /// Number of all cycles skipped since the loop began.
    pub overruns: u64,
    /// Nanoseconds by which the loop's clock was set since the cycle before, forwards if positive; 0 if it was not set.
    pub clock_step_nanos: i64,
    /// Number of times that the loop's clock was set since the loop began.
    pub clock_steps: u64,
}

/// A loop with a fixed cycle; see the [module](self).
#[derive(Debug, Clone)]
pub struct Cyclic {
    clock: SettableClock,
    cycle: i64,
    base_time: i64,
    spin: Duration,
    /// Nanoseconds by which a cycle may start late; a later one is skipped.
    tolerance: i64,
    /// The number of the last cycle, and its start on CLOCK_MONOTONIC; `None` before the first.
    last: Option<(i64, i64)>,
    overruns: u64,
    clock_steps: u64,
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
            clock: SettableClock::new(clock),
            cycle: nanos,
            base_time: clock.nanos().saturating_add(nanos),
            spin: Duration::ZERO,
            tolerance: 0,
            last: None,
            overruns: 0,
            clock_steps: 0,
        })
    }

    /// Starts the cycles by another clock, at `base_time_nanos` plus whole multiples of the cycle on it.
    ///
    /// A base time may be in the past: the first cycle is then the next one that is due, and its number is the number
    /// of cycles since the base time. In this way hosts agree on a cycle. An offset into the cycle is added to the
    /// base time.
    #[must_use]
    pub fn with_base_time(mut self, clock: Clock, base_time_nanos: i64) -> Self {
        self.clock = SettableClock::new(clock);
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

    /// Starts a cycle whose start has passed by this time or less, instead of skipping it. For work that may take its whole cycle, such
    /// as waiting for messages.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = i64::try_from(tolerance.as_nanos()).unwrap_or(i64::MAX);
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

    /// Does `work` in every cycle until it breaks with a result, or until the flag is set: `None`. The flag ends no sleep, but
    /// [`thread_signal`](crate::thread_signal) does. Allocates nothing.
    pub fn run_unless<T>(
        mut self,
        stop: &AtomicBool,
        mut work: impl FnMut(Cycle) -> ControlFlow<T>,
    ) -> Option<T> {
        while let Some(cycle) = self.wait_unless(stop) {
            if let ControlFlow::Break(result) = work(cycle) {
                return Some(result);
            }
        }
        None
    }

    /// Sleeps until the next cycle starts: for custom loops.
    ///
    /// Signals do not end the sleep. A clock that is set during it (`Realtime`, `Tai`) is noticed when the cycle would have started
    /// by the old time, or after a second if that is earlier.
    pub fn wait(&mut self) -> Cycle {
        loop {
            // Without a flag, it always has a cycle.
            if let Some(cycle) = self.wait_by(&mut SystemClocks, None) {
                return cycle;
            }
        }
    }

    /// Sleeps as [`wait`](Self::wait) does, unless the flag is set before the sleep, or when a signal ends it: `None`.
    pub fn wait_unless(&mut self, stop: &AtomicBool) -> Option<Cycle> {
        self.wait_by(&mut SystemClocks, Some(stop))
    }

    #[inline]
    fn wait_by(&mut self, clocks: &mut impl Clocks, stop: Option<&AtomicBool>) -> Option<Cycle> {
        let mut clock_step = 0_i64;
        let mut reading = self.clock.read(clocks);
        let (mut number, mut skipped) = self.next_or_late(reading.now);
        let mut start = self.start(number);
        loop {
            if let Some(step) = reading.step {
                clock_step = clock_step.saturating_add(step);
                self.clock_steps += 1;
                (number, skipped) = (self.next_after_step(&reading), 0);
                start = self.start(number);
            }
            if reading.now >= start {
                break;
            }
            // The flag passes no data on.
            if stop.is_some_and(|it| it.load(Ordering::Relaxed)) {
                return None;
            }
            self.clock.approach(clocks, &reading, start, self.spin);
            reading = self.clock.read(clocks);
        }
        let start_monotonic = self.clock.monotonic(start);
        self.last = Some((number, start_monotonic));
        self.overruns = self.overruns.saturating_add(skipped);
        Some(Cycle {
            number: u64::try_from(number).unwrap_or(0),
            start_nanos: start,
            start_monotonic_nanos: start_monotonic,
            wake_up_latency_nanos: reading.now.saturating_sub(start).unsigned_abs(),
            skipped,
            overruns: self.overruns,
            clock_step_nanos: clock_step,
            clock_steps: self.clock_steps,
        })
    }

    /// Returns the start of a cycle.
    fn start(&self, number: i64) -> i64 {
        number
            .saturating_mul(self.cycle)
            .saturating_add(self.base_time)
    }

    /// Returns the number of the next cycle after the clock was set.
    #[cold]
    fn next_after_step(&self, reading: &Reading) -> i64 {
        let earliest = self.last.map_or(reading.now, |(_, start)| {
            let away = start.saturating_add(self.cycle / 2);
            self.clock.shown_at(away).saturating_sub(1)
        });
        let number = self.next(earliest).0;
        // A start that has just passed is a late one: no cycle is left out for a step of microseconds.
        let late = reading.now.saturating_sub(self.start(number));
        match late > self.cycle / 16 {
            true => self.next(reading.now).0,
            false => number,
        }
    }

    /// Returns the number of the next cycle, which may have started a tolerated time before `now`, and the number of cycles skipped.
    #[inline]
    fn next_or_late(&self, now: i64) -> (i64, u64) {
        match (self.tolerance, self.last) {
            (0, _) | (_, None) => self.next(now),
            (tolerance, Some((last, _))) => {
                // The last cycle itself may be within the tolerance.
                let (number, skipped) = self.next(now.saturating_sub(tolerance).saturating_sub(1));
                match number > last {
                    true => (number, skipped),
                    false => self.next(now),
                }
            }
        }
    }

    /// Returns the number of the first cycle that starts after `now`, and the number of cycles skipped since the last
    /// one.
    fn next(&self, now: i64) -> (i64, u64) {
        let since = now.saturating_sub(self.base_time);
        let number = since.div_euclid(self.cycle).saturating_add(1);
        // The first cycle waits for the base time; later ones go on if the clock is set back behind it.
        let number = match self.last {
            None => number.max(0),
            Some(_) => number,
        };
        let skipped = self
            .last
            .map_or(0, |(last, _)| number.saturating_sub(last).saturating_sub(1));
        (number, u64::try_from(skipped).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{monotonic_nanos, tai_nanos};
    use crate::sleeping::simulated::SimulatedClocks;

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
        assert_eq!(c.next(i64::MIN), (0, 0));
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

        c.last = Some((3, 1300));
        let late = c.clone().with_tolerance(Duration::from_nanos(50));
        for (now, next) in [
            (1310, (4, 0)),
            (1400, (4, 0)),
            (1450, (4, 0)),
            (1451, (5, 1)),
            (1560, (6, 2)),
        ] {
            assert_eq!(late.next_or_late(now), next, "{now}");
        }
        assert_eq!(c.next(1399), (4, 0));
        assert_eq!(c.next(1400), (5, 1), "the work took a whole cycle");
        assert_eq!(c.next(1999), (10, 6));
        assert_eq!(c.next(1100), (2, 0), "nothing was skipped");
        assert_eq!(c.next(950), (0, 0));
        assert_eq!(c.next(850), (-1, 0), "the cycles go on");
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

    /// Returns 100 cycles of 1 ms on TAI, during which the clock is set at `at` by `step`, and their times on CLOCK_MONOTONIC.
    fn cycles_with_a_step(at: i64, step: i64) -> Vec<(Cycle, i64)> {
        let mut clocks = SimulatedClocks {
            difference: 1_700_000_000 * 1_000_000_000,
            steps: [(at, step)].into(),
            ..SimulatedClocks::default()
        };
        let mut c = cyclic(MILLISECOND, 0).with_base_time(Clock::Tai, 250_000);
        let cycle = |_| {
            let cycle = c.wait_by(&mut clocks, None).unwrap();
            clocks.monotonic += 100_000;
            (cycle, clocks.monotonic)
        };
        (0..100).map(cycle).collect()
    }

    #[test]
    fn a_clock_that_is_set_is_followed_from_the_next_cycle_on() {
        const HOUR: i64 = 3_600_000_000_000;
        let steps = [
            -HOUR,
            HOUR,
            24 * HOUR,
            -24 * HOUR,
            100_000 * HOUR,
            // To 1970.
            -1_699_999_999 * 1_000_000_000,
            -20_000_000_000,
            37_000_000_000,
            400_000,
            -400_000,
            3 * MILLISECOND,
            -3 * MILLISECOND,
            2000,
            -2000,
        ];
        // In the sleep, and in the work of a cycle.
        for (at, step) in [50_700_000, 50_300_000]
            .into_iter()
            .flat_map(|at| steps.map(|step| (at, step)))
        {
            let cycles = cycles_with_a_step(at, step);
            let (last, _) = cycles.last().unwrap();
            assert_eq!((last.clock_steps, last.overruns), (1, 0), "{step} at {at}");
            let found: i64 = cycles.iter().map(|(cycle, _)| cycle.clock_step_nanos).sum();
            assert!((found - step).abs() < 200, "{found} instead of {step}");
            let mut shown = 1_700_000_000 * 1_000_000_000;
            for pair in cycles.windows(2) {
                let [(before, then), (cycle, now)] = pair else {
                    unreachable!()
                };
                if cycle.clock_step_nanos != 0 {
                    shown += step;
                }
                assert_eq!(cycle.start_nanos.rem_euclid(MILLISECOND), 250_000);
                let late = shown + now - cycle.start_nanos;
                assert!((0..200_000).contains(&late), "{late} after {step}");
                assert!(cycle.wake_up_latency_nanos < 10_000, "{step} at {at}");
                let between = cycle.start_monotonic_nanos - before.start_monotonic_nanos;
                let range = MILLISECOND / 2 - 200..2 * MILLISECOND + 200;
                assert!(range.contains(&between), "{between} after {step}");
                assert!(now - then < 3 * MILLISECOND, "silent after {step}");
            }
        }
    }

    #[test]
    fn a_long_cycle_follows_the_clock_within_a_second() {
        const SECOND: i64 = 1_000_000_000;
        let mut clocks = SimulatedClocks {
            steps: [(10 * SECOND, 3000 * SECOND)].into(),
            ..SimulatedClocks::default()
        };
        let mut c = cyclic(3600 * SECOND, 0).with_base_time(Clock::Tai, 0);
        let cycle = c.wait_by(&mut clocks, None).unwrap();
        assert_eq!((cycle.number, cycle.clock_steps), (1, 1));
        assert!((599 * SECOND..602 * SECOND).contains(&clocks.monotonic));
        assert!(
            clocks
                .woken
                .windows(2)
                .all(|pair| pair[1] - pair[0] < 2 * SECOND)
        );
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
