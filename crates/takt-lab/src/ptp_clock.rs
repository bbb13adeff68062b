//! PTP hardware clocks (`Documentation/driver-api/ptp.rst` of Linux): their distance from the system's clock.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::time::{DynamicClockId, Timespec, clock_gettime_dynamic};
use takt_rt::clock::{NANOS_PER_SECOND, tai_nanos};

use crate::host::PtpClockOffset;

/// Number of readings, of which the fastest counts: a slow one was interrupted.
const READINGS: usize = 20;

/// Compares the clock `/dev/ptpN` with CLOCK_TAI. `index` is N.
///
/// # Errors
/// The clock cannot be opened for reading, which usually takes root, or cannot be read.
pub fn ptp_clock_offset(index: u32) -> io::Result<PtpClockOffset> {
    let clock = File::open(format!("/dev/ptp{index}"))?;
    fastest(|| {
        let time = clock_gettime_dynamic(DynamicClockId::Dynamic(clock.as_fd()))?;
        Ok(nanos(time))
    })
}

/// Returns the offset of the reading that took the least time.
fn fastest(mut read: impl FnMut() -> io::Result<i64>) -> io::Result<PtpClockOffset> {
    let mut best: Option<PtpClockOffset> = None;
    for _ in 0..READINGS {
        let before = tai_nanos();
        let time = read()?;
        let after = tai_nanos();
        // A clock that was set back between both readings gives a negative error, which tells nothing.
        let Some(error_nanos) = after.checked_sub(before).filter(|it| *it >= 0) else {
            continue;
        };
        let found = PtpClockOffset {
            nanos: time.saturating_sub(before.saturating_add(error_nanos / 2)),
            error_nanos: error_nanos.div_euclid(2) + 1,
        };
        if best.is_none_or(|best| found.error_nanos < best.error_nanos) {
            best = Some(found);
        }
    }
    best.ok_or_else(|| io::Error::other("the system's clock was set during each reading"))
}

/// Returns the nanoseconds of a time.
fn nanos(time: Timespec) -> i64 {
    let seconds = time.tv_sec.saturating_mul(NANOS_PER_SECOND);
    seconds.saturating_add(time.tv_nsec)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_offset_is_within_the_error_of_its_reading() {
        let ahead = 37 * NANOS_PER_SECOND;
        let found = fastest(|| Ok(tai_nanos() + ahead)).unwrap();
        let error = found.nanos.abs_diff(ahead);
        assert!(error <= found.error_nanos.unsigned_abs(), "{found:?}");
    }

    #[test]
    fn a_clock_that_is_missing_is_an_error() {
        let error = ptp_clock_offset(u32::MAX).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let refused = fastest(|| Err(io::ErrorKind::InvalidInput.into()));
        assert!(refused.is_err());
    }
}
