//! Signal of other threads to the server that a deferred response is ready.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_rt::readiness::Waker;
use takt_ua::request_handler::CompletionWaker;

use crate::error::ShmError;

/// Signal that a deferred response is ready.
#[derive(Clone)]
pub(super) struct Completed {
    pub(super) waker: Waker,
    /// Flag with the same meaning, for a loop that spins.
    pub(super) flag: Arc<AtomicBool>,
}

impl Completed {
    pub(super) fn new() -> Result<Self, ShmError> {
        Ok(Self {
            waker: Waker::new().map_err(|e| ShmError::io("create an eventfd", e))?,
            flag: Arc::default(),
        })
    }

    /// Returns the function that the handler calls.
    pub(super) fn for_handler(&self) -> CompletionWaker {
        let Self { waker, flag } = self.clone();
        Arc::new(move || {
            // First, because the loop that is woken looks at the flag.
            flag.store(true, Ordering::Release);
            waker.wake();
        })
    }
}
