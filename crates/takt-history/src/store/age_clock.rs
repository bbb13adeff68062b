//! The clock from which the ages of records count.
//!
//! Records have times of the real-time clock, which may be wrong for a while: then no record may be removed because of it. Ages
//! count from a time that goes on with the monotonic clock. It goes back with the real-time clock at once, because less is removed
//! then, and follows it forward when that has been ahead for an hour without being set. The file keeps it for the next start.

use std::time::Duration;

use takt_rt::clock::Clock;
use takt_ua::DateTime;

use crate::TICKS_PER_SECOND;

/// Time after which a real-time clock that is ahead is right.
const SETTLING: Duration = Duration::from_secs(3600);

/// Differences up to this many ticks are no sign of a clock that was set.
const TOLERANCE: i64 = TICKS_PER_SECOND;

/// Moment on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreTime {
    /// Time of the real-time clock.
    pub date_time: DateTime,
    /// Time since the boot of the system, which no one sets; it counts while the system is suspended, too.
    pub since_boot: Duration,
}

impl StoreTime {
    /// Reads the clocks of this machine.
    #[must_use]
    pub fn now() -> Self {
        let since_boot = Clock::Boottime.nanos().unsigned_abs();
        Self {
            date_time: DateTime::now(),
            since_boot: Duration::from_nanos(since_boot),
        }
    }
}

/// The clock, as the file keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeptAge {
    /// Identifier of the boot.
    pub(super) boot: String,
    pub(super) since_boot: Duration,
    pub(super) now: DateTime,
}

/// The clock.
#[derive(Debug, Clone)]
pub(super) struct AgeClock {
    /// Identifier of the boot, as Linux gives it.
    boot: String,
    /// Last reading: the time from which ages count, and the time since the boot; `None` before the first.
    last: Option<(DateTime, Duration)>,
    /// Time since the boot since which the real-time clock has been ahead, and by how many ticks.
    ahead: Option<(Duration, i64)>,
}

impl AgeClock {
    /// Creates the clock of a file. Without a kept time, the ages of the records of a file count after [`SETTLING`].
    pub(super) fn new(boot: String, kept: Option<KeptAge>, has_records: bool) -> Self {
        let last = match kept {
            // The time since then is known.
            // An empty identifier is none: two unknown boots may be different ones.
            Some(kept) if kept.boot == boot && !boot.is_empty() => {
                Some((kept.now, kept.since_boot))
            }
            // After another boot, no time is known to have passed: the difference to this one saturates at 0.
            Some(kept) => Some((kept.now, Duration::MAX)),
            // The time of the records is unknown: from the earliest time on, none of them is old.
            None => has_records.then_some((DateTime(0), Duration::MAX)),
        };
        Self {
            boot,
            last,
            ahead: None,
        }
    }

    /// Returns the time from which ages count.
    pub(super) fn read(&mut self, time: StoreTime) -> DateTime {
        let at = time.since_boot;
        let Some((before, then)) = self.last else {
            self.last = Some((time.date_time, at));
            return time.date_time;
        };
        let passed = i64::try_from(at.saturating_sub(then).as_nanos() / 100).unwrap_or(i64::MAX);
        let mut now = DateTime(before.0.saturating_add(passed));
        let lead = time.date_time.0.saturating_sub(now.0);
        if lead <= TOLERANCE {
            now = time.date_time;
            self.ahead = None;
        } else {
            let is_known =
                |(_, known): &(Duration, i64)| lead.saturating_sub(*known).abs() <= TOLERANCE;
            // Another lead means that the clock was set again: the hour begins anew.
            let (since, _) = *match self.ahead.take_if(|ahead| is_known(ahead)) {
                Some(ahead) => self.ahead.insert(ahead),
                None => self.ahead.insert((at, lead)),
            };
            if at.saturating_sub(since) >= SETTLING {
                now = time.date_time;
                self.ahead = None;
            }
        }
        self.last = Some((now, at));
        now
    }

    /// Returns the clock as the file keeps it.
    pub(super) fn kept(&self) -> Option<KeptAge> {
        let (now, since_boot) = self.last?;
        Some(KeptAge {
            boot: self.boot.clone(),
            since_boot,
            now,
        })
    }
}

/// Returns the identifier of the boot of this system; empty if the system does not tell it.
pub(super) fn boot() -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.map(|id| id.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some day of 2026, in seconds since 1601.
    const TODAY: i64 = 13_440_000_000;
    const DAY: i64 = 86_400;

    fn time(date_time: i64, since_boot: i64) -> StoreTime {
        StoreTime {
            date_time: DateTime(date_time * TICKS_PER_SECOND),
            since_boot: Duration::from_secs(since_boot.unsigned_abs()),
        }
    }

    fn clock() -> AgeClock {
        AgeClock::new("boot 1".to_owned(), None, false)
    }

    fn read(clock: &mut AgeClock, date_time: i64, since_boot: i64) -> i64 {
        clock.read(time(date_time, since_boot)).0 / TICKS_PER_SECOND
    }

    #[test]
    fn a_short_jump_forward_has_no_effect() {
        let mut clock = clock();
        assert_eq!(read(&mut clock, TODAY, 100), TODAY);
        for (jump, seconds) in [(3600, 3), (DAY, 60), (12 * 365 * DAY, 3500)] {
            let (start, at) = clock.last.map(|(now, at)| (now.0, at.as_secs())).unwrap();
            let (start, at) = (start / TICKS_PER_SECOND, at.cast_signed());
            for second in 1..=seconds {
                let found = read(&mut clock, start + second + jump, at + second);
                assert_eq!(found, start + second);
            }
            let after = read(&mut clock, start + seconds + 1, at + seconds + 1);
            assert_eq!(after, start + seconds + 1);
        }
    }

    #[test]
    fn a_clock_that_stays_ahead_counts_after_an_hour() {
        let mut clock = clock();
        // The first start is in 1970.
        let first = 11_644_473_600;
        assert_eq!(read(&mut clock, first, 10), first);
        assert_eq!(read(&mut clock, TODAY, 20), first + 10);
        assert_eq!(read(&mut clock, TODAY + 3590, 3610), first + 3600);
        assert_eq!(read(&mut clock, TODAY + 3600, 3620), TODAY + 3600);
        // A clock that is set again and again is not right.
        for minute in 1..300 {
            let found = read(&mut clock, TODAY + minute * 2 * DAY, 3620 + minute * 60);
            assert_eq!(found, TODAY + 3600 + minute * 60);
        }
    }

    #[test]
    fn a_clock_that_is_set_back_counts_at_once() {
        let mut clock = clock();
        let wrong = TODAY + 12 * 365 * DAY;
        assert_eq!(read(&mut clock, wrong, 10), wrong);
        assert_eq!(read(&mut clock, TODAY, 20), TODAY);
        // Back and forth again: no record is removed earlier.
        assert_eq!(read(&mut clock, TODAY - 3600, 30), TODAY - 3600);
        assert_eq!(read(&mut clock, TODAY + 20, 40), TODAY - 3590);
    }

    #[test]
    fn the_time_holds_over_restarts() {
        let mut clock = clock();
        read(&mut clock, TODAY, 100);
        let kept = clock.kept();
        let again = |boot: &str, kept| AgeClock::new(boot.to_owned(), kept, true);
        // The same boot: the time between is known, whatever the real-time clock says.
        let mut same = again("boot 1", kept.clone());
        assert_eq!(read(&mut same, TODAY + 12 * 365 * DAY, 400), TODAY + 300);
        // Another boot: the time goes on where it was, until the real-time clock has settled.
        let mut other = again("boot 2", kept.clone());
        assert_eq!(read(&mut other, TODAY + 5 * DAY, 10), TODAY);
        assert_eq!(read(&mut other, TODAY + 5 * DAY + 60, 70), TODAY + 60);
        let settled = TODAY + 5 * DAY + 3600;
        assert_eq!(read(&mut other, settled, 3610), settled);
        // A file of an earlier version has no time.
        let mut old = again("boot 2", None);
        assert_eq!(read(&mut old, TODAY, 10), 0);
        assert_eq!(read(&mut old, TODAY + 3600, 3610), TODAY + 3600);
        // Without an identifier, each start is a new boot.
        let nameless = kept.map(|kept| KeptAge {
            boot: String::new(),
            ..kept
        });
        assert_eq!(read(&mut again("", nameless), TODAY + DAY, 500), TODAY);
    }
}
