//! Ctrl-C and SIGTERM as a flag that long-running programs check; SIGHUP, which ends no server.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::time_limit::TimeLimit;

/// Environment variable of processes that end with their parent, however the parent ends: the process id of the parent.
pub const END_WITH_PARENT: &str = "TAKT_END_WITH_PARENT";

/// Flag that is set when the user interrupts the program.
#[derive(Debug, Clone)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    /// Socket that is readable from the first signal on.
    signalled: Arc<UnixStream>,
}

impl Interrupt {
    /// Installs handlers: SIGINT, SIGTERM and SIGHUP set the flag. A SIGINT after one of them ends the process at once. A
    /// second SIGTERM does not: `timeout` sends two, one to its child and one to its process group. If [`END_WITH_PARENT`]
    /// is set, the process also gets SIGTERM when its parent ends.
    ///
    /// # Errors
    /// A handler or a socket that the system refuses.
    pub fn install() -> std::io::Result<Self> {
        Self::of_signals(&[SIGINT, SIGTERM, SIGHUP]).map(|(interrupt, _)| interrupt)
    }

    /// Installs the handlers of a server: those of [`install`](Self::install), but SIGHUP sets the flag only if the terminal of the
    /// process is gone. Otherwise `on_hangup` is called, on a thread of its own: tools such as logrotate send SIGHUP to daemons.
    ///
    /// # Errors
    /// A handler, a socket or a thread that the system refuses.
    pub fn install_for_server(
        mut on_hangup: impl FnMut() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (mut hung_up, hang_up_here) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(SIGHUP, hang_up_here)?;
        let had_terminal = has_terminal();
        let (interrupt, mut signal_here) = Self::of_signals(&[SIGINT, SIGTERM])?;
        let flag = interrupt.flag();
        std::thread::Builder::new()
            .name("hangup".to_owned())
            .spawn(move || {
                while hung_up.read_exact(&mut [0]).is_ok() {
                    if had_terminal && !has_terminal() {
                        flag.store(true, Ordering::Relaxed);
                        // It is full if a signal has been noted already.
                        let _ = signal_here.write(&[0]);
                    } else {
                        on_hangup();
                    }
                }
            })?;
        Ok(interrupt)
    }

    /// Returns the flag, and the socket that wakes those who wait for it.
    fn of_signals(signals: &[i32]) -> std::io::Result<(Self, UnixStream)> {
        let flag = Arc::new(AtomicBool::new(false));
        let second = Arc::new(AtomicBool::new(false));
        let (signalled, signal_here) = UnixStream::pair()?;
        for signal in signals.iter().copied() {
            // The flag comes first, so that a signal between these lines is not lost. The shutdown comes second, and sees
            // `second` as the previous signal left it.
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
            if signal == SIGINT {
                signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&second))?;
            }
            signal_hook::flag::register(signal, Arc::clone(&second))?;
            let waker = signal_here.try_clone()?;
            signal_hook::low_level::pipe::register(signal, waker)?;
        }
        end_with_parent()?;
        let interrupt = Self {
            flag,
            signalled: Arc::new(signalled),
        };
        Ok((interrupt, signal_here))
    }

    /// Returns true after a signal.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Sleeps until the time has passed (`None`: without limit) or the user interrupts the program.
    pub fn wait(&self, time: Option<Duration>) {
        let end = TimeLimit::of(time);
        while !self.is_set() && !end.is_over() {
            // A time that the system cannot count has no end.
            let left = Timespec::try_from(end.left()).ok();
            let mut descriptors = [PollFd::new(&*self.signalled, PollFlags::IN)];
            // The signal itself also interrupts it.
            let _ = poll(&mut descriptors, left.as_ref());
        }
    }

    /// Returns the flag itself, for loops in other crates.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

/// Returns true if the process has a controlling terminal.
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// Asks the kernel to end this process when its parent ends, if the parent requests it.
fn end_with_parent() -> std::io::Result<()> {
    let Some(parent) = std::env::var_os(END_WITH_PARENT) else {
        return Ok(());
    };
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    // The parent may have ended before the kernel was asked.
    let now = rustix::process::getppid().map(|id| id.as_raw_nonzero().get().to_string());
    if now.as_deref() != parent.to_str() {
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_longest_wait_ends_with_a_signal() {
        let (signalled, mut signal_here) = UnixStream::pair().unwrap();
        let interrupt = Interrupt {
            flag: Arc::new(AtomicBool::new(false)),
            signalled: Arc::new(signalled),
        };
        for time in [Duration::MAX, Duration::from_secs(u64::MAX / 2)] {
            interrupt.flag.store(false, Ordering::Relaxed);
            std::thread::scope(|scope| {
                scope.spawn(|| interrupt.wait(Some(time)));
                interrupt.flag.store(true, Ordering::Relaxed);
                signal_here.write_all(&[0]).unwrap();
            });
        }
    }
}
