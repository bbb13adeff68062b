//! Waker, which ends a wait from another thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

/// An `eventfd` that any thread can use to end the wait of the thread that polls it.
///
/// Clones wake the same descriptor. A wake-up is one system call, never blocks and is not lost: either the
/// waiting thread wakes, or its next wait returns at once. Many wake-ups before a [`drain`](Self::drain) are one.
#[derive(Debug, Clone)]
pub struct Waker {
    eventfd: Arc<OwnedFd>,
}

impl Waker {
    /// Creates a waker that has not been woken.
    ///
    /// # Errors
    /// The system's error if no descriptors are left.
    pub fn new() -> io::Result<Self> {
        let eventfd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self {
            eventfd: Arc::new(eventfd),
        })
    }

    /// Creates a waker of a received `eventfd`, for instance from another process.
    ///
    /// # Errors
    /// The system's error if `fd` cannot be made non-blocking.
    pub fn from_eventfd(fd: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(Self {
            eventfd: Arc::new(fd),
        })
    }

    /// Makes the descriptor readable.
    pub fn wake(&self) {
        // The only failure is a counter that is full (EAGAIN): then the descriptor is readable already. A signal does
        // not interrupt a non-blocking write.
        let _ = rustix::io::write(&*self.eventfd, &1_u64.to_ne_bytes());
    }

    /// Makes the descriptor unreadable again.
    ///
    /// Check for work after this, not before: work added between the check and the drain would be missed.
    pub fn drain(&self) {
        // One read takes the whole count; EAGAIN means that there was no wake-up.
        let _ = rustix::io::read(&*self.eventfd, &mut [0_u8; 8]);
    }

    /// Returns the descriptor to add to a [`Readiness`](super::Readiness).
    #[must_use]
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.eventfd.as_fd()
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.eventfd.as_fd()
    }
}
