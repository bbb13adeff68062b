//! Offset of TAI in the kernel, and the state of its clock.

use std::io;
use std::mem::MaybeUninit;

/// Sets the seconds by which CLOCK_TAI is ahead of CLOCK_REALTIME (adjtimex(2), `ADJ_TAI`): 37 since 2017. A kernel starts with 0.
///
/// # Errors
/// The process lacks CAP_SYS_TIME.
pub fn set(seconds: i32) -> io::Result<()> {
    let mut change: MaybeUninit<libc::timex> = MaybeUninit::zeroed();
    // SAFETY: a `struct timex` is numbers, for which zeros are valid.
    let change = unsafe { change.assume_init_mut() };
    change.modes = libc::ADJ_TAI;
    change.constant = seconds.into();
    // SAFETY: the pointer is to a live local of the type that the call reads and writes.
    match unsafe { libc::adjtimex(&raw mut *change) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// State of the system clock (adjtimex(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStatus {
    /// True if a program synchronizes the clock, such as chrony or phc2sys.
    pub is_synchronized: bool,
    /// Largest error that this program has told, in microseconds.
    pub maximum_error_micros: i64,
    /// Seconds by which CLOCK_TAI is ahead of UTC.
    pub tai_offset_seconds: i64,
}

/// Returns the state of the system clock; `None` if the kernel does not tell.
#[must_use]
pub fn clock_status() -> Option<ClockStatus> {
    let mut question: MaybeUninit<libc::timex> = MaybeUninit::zeroed();
    // SAFETY: a `struct timex` is numbers, for which zeros are valid. Without a mode, nothing is changed.
    let question = unsafe { question.assume_init_mut() };
    // SAFETY: the pointer is to a live local of the type that the call reads and writes.
    let state = unsafe { libc::adjtimex(&raw mut *question) };
    (state >= 0).then(|| ClockStatus {
        is_synchronized: question.status & libc::STA_UNSYNC == 0,
        maximum_error_micros: question.maxerror,
        tai_offset_seconds: question.tai.into(),
    })
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;
    use crate::clock::tai_offset_seconds;

    #[test]
    fn the_clock_has_a_state() {
        let status = clock_status().unwrap();
        assert_eq!(status.tai_offset_seconds, tai_offset_seconds());
        assert!(status.maximum_error_micros >= 0, "{status:?}");
    }

    #[test]
    fn the_present_offset_can_be_set_again() {
        let present = i32::try_from(tai_offset_seconds()).unwrap();
        match set(present) {
            Ok(()) => assert_eq!(tai_offset_seconds(), i64::from(present)),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }
}
