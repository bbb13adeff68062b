//! How other threads tell the server that a deferred response is ready.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_rt::readiness::Waker;

use crate::error::ShmError;
use crate::handler::CompletionWaker;

/// Says that a deferred response is ready.
#[derive(Clone)]
pub(super) struct Completed {
    pub(super) waker: Waker,
    /// The same for a loop that spins: it looks here.
    pub(super) flag: Arc<AtomicBool>,
}

impl Completed {
    pub(super) fn new() -> Result<Self, ShmError> {
        Ok(Self {
            waker: Waker::new().map_err(|e| ShmError::io("create an eventfd", e))?,
            flag: Arc::default(),
        })
    }

    /// What the handler calls.
    pub(super) fn for_handler(&self) -> CompletionWaker {
        let Self { waker, flag } = self.clone();
        Arc::new(move || {
            flag.store(true, Ordering::Release);
            waker.wake();
        })
    }
}
