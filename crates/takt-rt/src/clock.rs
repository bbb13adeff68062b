//! The clocks of the system, as whole nanoseconds.
//!
//! Reading a clock takes about 30 ns: the kernel maps them into every process (vDSO), so there is no system call.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A clock of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// `CLOCK_MONOTONIC`: starts at boot, is never set, and has no relation to other hosts.
    Monotonic,
    /// `CLOCK_BOOTTIME`: like `Monotonic`, and counts while the machine is suspended.
    Boottime,
    /// `CLOCK_REALTIME`: UTC since 1970-01-01. May be set, forwards and backwards, and repeats or stretches leap
    /// seconds.
    Realtime,
    /// `CLOCK_TAI`: like `Realtime` without leap seconds; the clock of PTP, ETF and TAPRIO.
    Tai,
}

impl Clock {
    /// Returns the time now, in nanoseconds since this clock's beginning.
    #[must_use]
    pub fn nanos(self) -> i64 {
        let time = clock_gettime(self.id());
        // 64-bit nanoseconds last until the year 2262.
        time.tv_sec * NANOS_PER_SECOND + time.tv_nsec
    }

    pub(crate) const fn id(self) -> ClockId {
        match self {
            Self::Monotonic => ClockId::Monotonic,
            Self::Boottime => ClockId::Boottime,
            Self::Realtime => ClockId::Realtime,
            Self::Tai => ClockId::Tai,
        }
    }
}

/// Longest time after which [`after`] ends.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Returns `start + time`, the end of a time from outside. It is a hundred years later at most: an [`Instant`] cannot represent every
/// end, and [`Duration::MAX`] stands for no limit.
#[must_use]
pub fn after(start: Instant, time: Duration) -> Instant {
    start + time.min(LONGEST)
}

/// Returns the nanoseconds since boot, which never go back: for durations and deadlines.
#[must_use]
pub fn monotonic_nanos() -> u64 {
    // The monotonic clock starts at zero.
    Clock::Monotonic.nanos().cast_unsigned()
}

/// Returns the nanoseconds of UTC since 1970-01-01T00:00:00Z: for time stamps.
#[must_use]
pub fn realtime_nanos() -> i64 {
    Clock::Realtime.nanos()
}

/// Returns the nanoseconds of TAI since 1970-01-01T00:00:00 TAI: for times that have to agree with other hosts.
#[must_use]
pub fn tai_nanos() -> i64 {
    Clock::Tai.nanos()
}

/// Returns the seconds by which TAI is ahead of UTC according to this system: 37 since 2017.
///
/// Zero means that the kernel does not know the offset (`phc2sys`, `ptp4l` and `chronyd` set it): then TAI equals UTC
/// here, and a time agreed with another host in TAI is wrong by 37 s.
#[must_use]
pub fn tai_offset_seconds() -> i64 {
    // The two readings are taken at slightly different times; rounding removes the difference.
    let difference = tai_nanos() - realtime_nanos();
    (difference + NANOS_PER_SECOND / 2).div_euclid(NANOS_PER_SECOND)
}

/// Returns a point in time in the form of the system calls.
pub(crate) const fn timespec(nanos: i64) -> Timespec {
    Timespec {
        tv_sec: nanos.div_euclid(NANOS_PER_SECOND),
        tv_nsec: nanos.rem_euclid(NANOS_PER_SECOND),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn every_time_has_an_end() {
        let start = Instant::now();
        assert_eq!(
            after(start, Duration::from_secs(3)) - start,
            Duration::from_secs(3)
        );
        assert_eq!(after(start, Duration::MAX) - start, LONGEST);
    }

    #[test]
    fn monotonic_advances() {
        let first = monotonic_nanos();
        std::thread::sleep(Duration::from_millis(1));
        assert!(monotonic_nanos() - first >= 1_000_000);
    }

    #[test]
    fn realtime_is_unix_time() {
        let unix = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        let difference = Duration::from_nanos(realtime_nanos().cast_unsigned()).abs_diff(unix);
        assert!(difference < Duration::from_secs(1), "{difference:?}");
    }

    #[test]
    fn tai_is_ahead_by_the_offset() {
        let offset = tai_offset_seconds();
        assert!((0..100).contains(&offset), "{offset}");
        assert!(
            (tai_nanos() - realtime_nanos() - offset * NANOS_PER_SECOND).abs()
                < NANOS_PER_SECOND / 2
        );
    }

    #[test]
    fn timespec_before_the_epoch() {
        let time = timespec(-1);
        assert_eq!((time.tv_sec, time.tv_nsec), (-1, 999_999_999));
    }
}
