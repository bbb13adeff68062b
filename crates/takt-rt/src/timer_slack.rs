//! Timer slack: the time by which the kernel may wake a thread too late, so that timers expire together.

use std::io;
use std::num::NonZeroU64;

use rustix::thread::{current_timer_slack, set_current_timer_slack};

/// Error of a timer slack that could not be read or set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimerSlackError {
    /// The kernel accepted the slack and kept another one.
    #[error(
        "the timer slack of this thread is {actual} ns instead of {wanted} ns: a sandbox has changed the call. \
         Let it pass prctl(PR_SET_TIMERSLACK), or give the thread SCHED_FIFO, which has no timer slack"
    )]
    NotKept {
        /// Requested slack, in nanoseconds.
        wanted: u64,
        /// Slack of the thread, in nanoseconds.
        actual: u64,
    },
    /// The system refused.
    #[error(
        "the timer slack of this thread could not be read or set: a sandbox forbids the call. \
         Let it pass prctl(PR_SET_TIMERSLACK), or give the thread SCHED_FIFO, which has no timer slack"
    )]
    System(#[from] io::Error),
}

/// Sets the timer slack of the calling thread to 1 ns, the shortest (`PR_SET_TIMERSLACK`), and reads it back.
///
/// The default is 50 µs for threads of `SCHED_OTHER`, and each wake-up can be late by that much. Threads of
/// `SCHED_FIFO` have no timer slack, and this changes nothing for them. Threads that this thread starts inherit it.
///
/// # Errors
/// [`TimerSlackError`], in a sandbox.
pub fn minimize() -> Result<(), TimerSlackError> {
    let wanted = NonZeroU64::MIN;
    set_current_timer_slack(Some(wanted)).map_err(io::Error::from)?;
    match get()? {
        // Linux 6.12 and later report 0 for real-time threads.
        0 | 1 => Ok(()),
        actual => Err(TimerSlackError::NotKept {
            wanted: wanted.get(),
            actual,
        }),
    }
}

/// Returns the timer slack of the calling thread, in nanoseconds (`PR_GET_TIMERSLACK`). Linux 6.12 and later return 0
/// for a thread of `SCHED_FIFO`; earlier ones return a slack that has no effect.
///
/// # Errors
/// [`TimerSlackError::System`], in a sandbox that forbids the call.
pub fn get() -> Result<u64, TimerSlackError> {
    Ok(current_timer_slack().map_err(io::Error::from)?)
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;
    use crate::priority::{self, Policy};

    #[test]
    fn only_the_calling_thread_gets_the_shortest_slack() {
        std::thread::spawn(|| {
            set_current_timer_slack(NonZeroU64::new(70_000)).unwrap();
            std::thread::spawn(|| {
                assert_eq!(get().unwrap(), 70_000);
                minimize().unwrap();
                assert_eq!(get().unwrap(), 1);
            })
            .join()
            .unwrap();
            assert_eq!(get().unwrap(), 70_000);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn real_time_threads_have_none_or_the_shortest() {
        std::thread::spawn(|| {
            if let Err(error) = priority::set(Policy::Fifo(1)) {
                println!("skipped: {error}");
                return;
            }
            minimize().unwrap();
            assert!(get().unwrap() <= 1);
        })
        .join()
        .unwrap();
    }
}
