//! Waiting for times of a clock that may be set.
//!
//! An absolute sleep on such a clock is prolonged by the time by which the clock is set back. The kernel can cancel a timer
//! when the clock is set (`TFD_TIMER_CANCEL_ON_SET`), but not a timer of CLOCK_TAI, and not when only the offset between TAI and
//! UTC changes. Threads therefore sleep on CLOCK_MONOTONIC, which is never set. The kernel adjusts the rates of all these clocks
//! alike. Their difference is constant until a clock is set, or the machine was suspended: a difference that has changed is a
//! step of the clock.

use std::hint;
use std::time::Duration;

use rustix::thread::clock_nanosleep_absolute;

use crate::clock::{Clock, timespec};

/// Longest sleep before the clock is compared again, in nanoseconds.
const LONGEST_SLEEP: i64 = 1_000_000_000;

/// Changes of the difference up to this are no steps, in nanoseconds: it is several times the resolution of the clocks.
const TOLERANCE: i64 = 1000;

/// Most readings that determine a step: a thread rarely waits in all of them.
const READINGS_OF_A_STEP: usize = 16;

/// Sleeps until `nanos` on `clock`, and returns the time afterwards. The thread wakes up `spin` earlier and spins until then.
///
/// Signals do not end the sleep. If the clock is set during it (`Realtime`, `Tai`), the sleep ends when the time has passed that
/// was left before, after a second at the latest: the time that it returns may then be before `nanos`.
pub fn sleep_until(clock: Clock, nanos: i64, spin: Duration) -> i64 {
    let mut settable = SettableClock::new(clock);
    loop {
        let reading = settable.read(&mut SystemClocks);
        if reading.now >= nanos || reading.step.is_some() {
            return reading.now;
        }
        settable.approach(&mut SystemClocks, &reading, nanos, spin);
    }
}

/// Returns the time of CLOCK_MONOTONIC at which `clock` shows `nanos`, as long as the clock is not set.
#[must_use]
pub fn monotonic_at(clock: Clock, nanos: i64) -> i64 {
    let mut settable = SettableClock::new(clock);
    settable.read(&mut SystemClocks);
    settable.monotonic(nanos)
}

/// Clocks and sleep: those of the system, or those of a test.
pub(crate) trait Clocks {
    /// Returns the time now.
    fn nanos(&mut self, clock: Clock) -> i64;

    /// Sleeps until a time of CLOCK_MONOTONIC; may end earlier.
    fn sleep(&mut self, until: i64);
}

/// Clocks of the system.
pub(crate) struct SystemClocks;

impl Clocks for SystemClocks {
    #[inline]
    fn nanos(&mut self, clock: Clock) -> i64 {
        clock.nanos()
    }

    #[inline]
    fn sleep(&mut self, until: i64) {
        // The sleep ends early on a signal. With any other error the caller spins, because late work is worse.
        let _ = clock_nanosleep_absolute(Clock::Monotonic.id(), &timespec(until));
    }
}

/// Reading of a clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// Time of the clock.
    pub(crate) now: i64,
    /// Time of CLOCK_MONOTONIC, read afterwards.
    pub(crate) monotonic: i64,
    /// Nanoseconds by which the clock was set since the reading before, forwards if positive.
    pub(crate) step: Option<i64>,
}

/// Time of a clock between two times of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy)]
struct Compared {
    now: i64,
    /// Time of CLOCK_MONOTONIC, read after `now`.
    monotonic: i64,
    /// Least and greatest possible difference. They are far apart if the thread waited between two of the three readings.
    difference: (i64, i64),
}

impl Compared {
    #[inline]
    fn read(clock: Clock, clocks: &mut impl Clocks) -> Self {
        let before = clocks.nanos(Clock::Monotonic);
        let now = clocks.nanos(clock);
        let monotonic = clocks.nanos(Clock::Monotonic);
        Self {
            now,
            monotonic,
            difference: (now.saturating_sub(monotonic), now.saturating_sub(before)),
        }
    }

    /// Returns the least change from the known limits of the difference; `None` if it is no step.
    #[inline]
    fn step_from(&self, (least, greatest): (i64, i64)) -> Option<i64> {
        let read = self.difference;
        if read.0 > greatest.saturating_add(TOLERANCE) {
            Some(read.0.saturating_sub(greatest))
        } else if read.1 < least.saturating_sub(TOLERANCE) {
            Some(read.1.saturating_sub(least))
        } else {
            None
        }
    }

    /// Reads again until the limits of the difference are close, so that the size of a step is true.
    #[cold]
    fn narrowed(mut self, clock: Clock, clocks: &mut impl Clocks) -> Self {
        for _ in 1..READINGS_OF_A_STEP {
            let (least, greatest) = self.difference;
            if greatest.saturating_sub(least) <= TOLERANCE {
                break;
            }
            self = Self::read(clock, clocks);
        }
        self
    }
}

/// A clock and the limits of its difference from CLOCK_MONOTONIC.
#[derive(Debug, Clone)]
pub(crate) struct SettableClock {
    clock: Clock,
    /// Least and greatest possible difference, as all readings since the last step say; `None` before the first reading.
    difference: Option<(i64, i64)>,
}

impl SettableClock {
    pub(crate) const fn new(clock: Clock) -> Self {
        Self {
            clock,
            difference: None,
        }
    }

    /// Reads the clock, and compares it with CLOCK_MONOTONIC.
    #[inline]
    pub(crate) fn read(&mut self, clocks: &mut impl Clocks) -> Reading {
        if self.clock == Clock::Monotonic {
            let now = clocks.nanos(self.clock);
            return Reading {
                now,
                monotonic: now,
                step: None,
            };
        }
        let mut reading = Compared::read(self.clock, clocks);
        let known = self.difference.unwrap_or(reading.difference);
        if reading.step_from(known).is_some() {
            reading = reading.narrowed(self.clock, clocks);
        }
        let Compared {
            now,
            monotonic,
            difference: read,
        } = reading;
        let step = reading.step_from(known);
        let narrowed = (known.0.max(read.0), known.1.min(read.1));
        self.difference = Some(match step {
            None if narrowed.0 <= narrowed.1 => narrowed,
            _ => read,
        });
        Reading {
            now,
            monotonic,
            step,
        }
    }

    /// Returns the time of CLOCK_MONOTONIC at which this clock shows `nanos`, if it is not set until then.
    #[inline]
    pub(crate) fn monotonic(&self, nanos: i64) -> i64 {
        // The earliest one: a thread that wakes up too early can wait again.
        nanos.saturating_sub(self.difference.map_or(0, |(_, greatest)| greatest))
    }

    /// Returns the time that this clock shows at a time of CLOCK_MONOTONIC.
    pub(crate) fn shown_at(&self, monotonic: i64) -> i64 {
        monotonic.saturating_add(self.difference.map_or(0, |(_, greatest)| greatest))
    }

    /// Sleeps or spins towards `nanos`, for a limited time. The thread spins in the last `spin` nanoseconds.
    #[inline]
    pub(crate) fn approach(
        &self,
        clocks: &mut impl Clocks,
        reading: &Reading,
        nanos: i64,
        spin: Duration,
    ) {
        let spin = i64::try_from(spin.as_nanos()).unwrap_or(i64::MAX);
        let target = self.monotonic(nanos);
        let wake = target.saturating_sub(spin);
        if reading.monotonic < wake {
            clocks.sleep(wake.min(reading.monotonic.saturating_add(LONGEST_SLEEP)));
            return;
        }
        let end = target.min(reading.monotonic.saturating_add(LONGEST_SLEEP));
        while clocks.nanos(Clock::Monotonic) < end {
            hint::spin_loop();
        }
    }
}

#[cfg(test)]
pub(crate) mod simulated {
    //! Clocks of tests.

    use std::collections::VecDeque;

    use super::{Clock, Clocks};

    /// Clocks that advance by a fixed time with each reading, and are set at given times.
    #[derive(Debug, Default)]
    pub(crate) struct SimulatedClocks {
        /// Time of CLOCK_MONOTONIC.
        pub(crate) monotonic: i64,
        /// Difference of the other clocks.
        pub(crate) difference: i64,
        /// Times of CLOCK_MONOTONIC at which the other clocks are set, and by how much.
        pub(crate) steps: VecDeque<(i64, i64)>,
        /// Times at which sleeps ended.
        pub(crate) woken: Vec<i64>,
    }

    impl SimulatedClocks {
        fn advance(&mut self, to: i64) {
            self.monotonic = self.monotonic.max(to);
            while let Some(&(at, step)) = self.steps.front()
                && at <= self.monotonic
            {
                self.difference += step;
                self.steps.pop_front();
            }
        }
    }

    impl Clocks for SimulatedClocks {
        fn nanos(&mut self, clock: Clock) -> i64 {
            self.advance(self.monotonic + 20);
            match clock {
                Clock::Monotonic | Clock::Boottime => self.monotonic,
                Clock::Realtime | Clock::Tai => self.monotonic + self.difference,
            }
        }

        fn sleep(&mut self, until: i64) {
            self.advance(until.max(self.monotonic) + 5000);
            self.woken.push(self.monotonic);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::simulated::SimulatedClocks;
    use super::*;

    const HOUR: i64 = 3_600_000_000_000;

    #[test]
    fn a_difference_that_changes_is_a_step() {
        let mut clocks = SimulatedClocks {
            difference: 1000 * HOUR,
            ..SimulatedClocks::default()
        };
        let mut clock = SettableClock::new(Clock::Tai);
        for step in [0, HOUR, -HOUR, 5_000_000, -3000, 0, 37_000_000_000] {
            clocks.difference += step;
            let found = clock.read(&mut clocks).step.unwrap_or(0);
            assert!((found - step).abs() <= 100, "{found} instead of {step}");
            assert_eq!(clock.read(&mut clocks).step, None, "a step counts once");
        }
    }

    /// Clocks that go on by a second before some readings, as for a thread that waits.
    struct Interrupted(SimulatedClocks, u32, &'static [u32]);

    impl Clocks for Interrupted {
        fn nanos(&mut self, clock: Clock) -> i64 {
            self.1 += 1;
            if self.2.iter().any(|&often| self.1.is_multiple_of(often)) {
                self.0.monotonic += 1_000_000_000;
            }
            self.0.nanos(clock)
        }

        fn sleep(&mut self, until: i64) {
            self.0.sleep(until);
        }
    }

    #[test]
    fn a_step_has_its_size_if_the_thread_waits_meanwhile() {
        let mut clocks = Interrupted(SimulatedClocks::default(), 0, &[4]);
        let mut clock = SettableClock::new(Clock::Tai);
        for _ in 0..10 {
            assert_eq!(clock.read(&mut clocks).step, None);
        }
        for step in [37_000_000_000, -20_000_000_000, HOUR] {
            clocks.0.difference += step;
            let found = clock.read(&mut clocks).step.unwrap();
            assert!((found - step).abs() <= 100, "{found} instead of {step}");
        }
    }

    #[test]
    fn a_thread_that_waits_between_readings_sees_no_step() {
        let mut clocks = Interrupted(SimulatedClocks::default(), 0, &[3, 5]);
        let mut clock = SettableClock::new(Clock::Realtime);
        for _ in 0..100 {
            assert_eq!(clock.read(&mut clocks).step, None);
        }
    }

    #[test]
    fn the_clocks_of_the_system_make_no_steps() {
        let mut clock = SettableClock::new(Clock::Tai);
        // The clock of this machine may be set during the test, but not every time.
        let steps = (0..100_000).filter(|_| clock.read(&mut SystemClocks).step.is_some());
        assert!(steps.count() < 10);
    }
}
