//! Early end of a thread's sleep, by a signal that only this thread gets: the thread needs no short sleeps, whose ends would disturb it.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use signal_hook::consts::SIGURG;

/// First and longest time between two signals.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(100));

/// Ends the sleep of the thread of this process with this id (`gettid`), for example in
/// [`Cyclic::wait_unless`](crate::cyclic::Cyclic::wait_unless): it gets SIGURG, which nothing else uses here and which is ignored by default.
/// The process has a handler for it afterwards, which does nothing. A thread that has ended gets nothing.
///
/// A thread that is about to sleep may miss it: [`join_sleeping`] repeats it.
///
/// # Errors
/// The handler cannot be installed, or there is no such thread.
pub fn end_sleep(thread: u32) -> io::Result<()> {
    static HANDLER: OnceLock<Result<(), i32>> = OnceLock::new();
    let handler = HANDLER.get_or_init(|| {
        // An ignored signal ends no sleep. The flag is for nobody.
        let registered = signal_hook::flag::register(SIGURG, Arc::new(AtomicBool::new(false)));
        registered
            .map(drop)
            .map_err(|error| error.raw_os_error().unwrap_or(libc::EINVAL))
    });
    handler.map_err(io::Error::from_raw_os_error)?;
    // SAFETY: tgkill(2) takes numbers only. The signal has a handler, and goes to threads of this process only.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_tgkill,
            libc::c_long::from(std::process::id().cast_signed()),
            libc::c_long::from(thread.cast_signed()),
            libc::c_long::from(SIGURG),
        )
    };
    match outcome {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Waits for the end of a thread that was told to end, and ends its sleeps meanwhile. `id` is its own (`gettid`).
///
/// # Errors
/// The panic of the thread.
pub fn join_sleeping<T>(thread: JoinHandle<T>, id: u32) -> std::thread::Result<T> {
    let (mut pause, longest) = PAUSES;
    while !thread.is_finished() {
        // Without the signal, it ends when its sleep does.
        let _ = end_sleep(id);
        std::thread::sleep(pause);
        pause = longest.min(pause * 2);
    }
    thread.join()
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use std::sync::atomic::Ordering;
    use std::sync::mpsc::channel;

    use super::*;
    use crate::cyclic::Cyclic;
    use crate::late::thread_id;

    /// The test hangs if the sleep does not end.
    #[test]
    fn the_longest_cycle_ends_early_and_counts_nothing() {
        let stop = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&stop);
        let (sender, id) = channel();
        let thread = std::thread::spawn(move || {
            let hour = Duration::from_secs(3600);
            let mut cyclic = Cyclic::new(hour).unwrap();
            sender.send(thread_id()).unwrap();
            cyclic.wait_unless(&there)
        });
        let id = id.recv().unwrap();
        // Signals alone do not end the wait.
        end_sleep(id).unwrap();
        stop.store(true, Ordering::Relaxed);
        assert_eq!(join_sleeping(thread, id).unwrap(), None);
        assert!(end_sleep(id).is_err());
    }
}
