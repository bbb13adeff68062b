//! Two scheduler calls that `rustix` lacks.

use std::io;
use std::mem::MaybeUninit;

pub(crate) const OTHER: i32 = libc::SCHED_OTHER;
pub(crate) const FIFO: i32 = libc::SCHED_FIFO;

/// Sets policy and priority of the calling thread. It uses the pthread function, because musl refuses
/// `sched_setscheduler`.
pub(crate) fn set(policy: i32, priority: u8) -> io::Result<()> {
    // SAFETY: `sched_param` is a C structure of integers, for which all zeros is a value (musl has more fields than
    // one).
    let mut parameters: libc::sched_param = unsafe { MaybeUninit::zeroed().assume_init() };
    parameters.sched_priority = i32::from(priority);
    // SAFETY: the thread is the calling one, hence alive; the pointer is to a live local that the call only reads.
    let error =
        unsafe { libc::pthread_setschedparam(libc::pthread_self(), policy, &raw const parameters) };
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Returns policy and priority of the calling thread.
pub(crate) fn get() -> io::Result<(i32, u8)> {
    let mut policy = 0;
    // SAFETY: as in `set`.
    let mut parameters: libc::sched_param = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: the thread is the calling one, hence alive; both pointers are to live locals that the call may write.
    let error = unsafe {
        libc::pthread_getschedparam(libc::pthread_self(), &raw mut policy, &raw mut parameters)
    };
    match error {
        0 => Ok((
            policy,
            u8::try_from(parameters.sched_priority).unwrap_or(u8::MAX),
        )),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
