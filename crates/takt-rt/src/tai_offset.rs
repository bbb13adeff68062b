//! Offset of TAI in the kernel.

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

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;
    use crate::clock::tai_offset_seconds;

    #[test]
    fn the_present_offset_can_be_set_again() {
        let present = i32::try_from(tai_offset_seconds()).unwrap();
        match set(present) {
            Ok(()) => assert_eq!(tai_offset_seconds(), i64::from(present)),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }
}
