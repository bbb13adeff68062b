//! Requests on their way from the threads that serve clients to the thread that forwards them.

use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use takt_rt::readiness::Waker;
use takt_space::RemoteRequest;

/// Requests that have arrived, and the sleep of the thread that takes them.
pub(super) struct Inbox {
    state: Mutex<State>,
    waker: Waker,
}

#[derive(Default)]
struct State {
    arrived: Vec<RemoteRequest>,
    /// True if the thread sleeps, or is about to, and nobody has woken it yet.
    is_asleep: bool,
    has_ended: bool,
}

/// Contents of an inbox.
pub(super) struct Arrived {
    pub(super) requests: Vec<RemoteRequest>,
    /// True if there will be no more requests, and those so far cannot be answered.
    pub(super) has_ended: bool,
}

impl Inbox {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            state: Mutex::default(),
            waker: Waker::new()?,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request; returns it if the inbox has ended.
    pub(super) fn push(&self, request: RemoteRequest) -> Result<(), Box<RemoteRequest>> {
        let mut state = self.state();
        if state.has_ended {
            return Err(Box::new(request));
        }
        state.arrived.push(request);
        self.wake(state);
        Ok(())
    }

    /// Ends the inbox.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.has_ended = true;
        self.wake(state);
    }

    fn wake(&self, mut state: MutexGuard<'_, State>) {
        if std::mem::take(&mut state.is_asleep) {
            // Before the wake-up: the thread would only wait for the lock.
            drop(state);
            self.waker.wake();
        }
    }

    /// Takes what has arrived.
    pub(super) fn take(&self) -> Arrived {
        let mut state = self.state();
        Arrived {
            requests: std::mem::take(&mut state.arrived),
            has_ended: state.has_ended,
        }
    }

    /// Prepares a sleep until [`descriptor`](Self::descriptor) is readable. Returns false if something has arrived.
    pub(super) fn may_sleep(&self) -> bool {
        let mut state = self.state();
        state.is_asleep = state.arrived.is_empty() && !state.has_ended;
        state.is_asleep
    }

    /// Notes the end of the sleep.
    pub(super) fn is_awake(&self) {
        // Without a wake-up, draining would be a system call for nothing.
        let was_woken = !std::mem::take(&mut self.state().is_asleep);
        if was_woken {
            self.waker.drain();
        }
    }

    /// Ends the inbox if nothing has arrived; returns true if it has ended.
    pub(super) fn end_if_empty(&self) -> bool {
        let mut state = self.state();
        state.has_ended |= state.arrived.is_empty();
        state.has_ended
    }

    /// Returns the descriptor that is readable when a sleeping thread is woken.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }
}
