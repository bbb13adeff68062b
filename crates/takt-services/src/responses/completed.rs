//! Responses that are sent later than their requests were handled.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use takt_rt::memory_budget::Charge;
use takt_ua::request_handler::CompletionWaker;

/// Responses to deferred requests of a connection, kept until the transport takes them.
pub(crate) struct Completed {
    responses: Mutex<VecDeque<(u32, Vec<u8>, Charge)>>,
    waker: CompletionWaker,
}

impl Completed {
    /// Creates an empty queue of responses; `waker` is called for each response.
    pub(crate) fn new(waker: CompletionWaker) -> Self {
        Self {
            responses: Mutex::default(),
            waker,
        }
    }

    /// Returns what wakes the transport.
    pub(crate) fn waker(&self) -> CompletionWaker {
        Arc::clone(&self.waker)
    }

    /// Takes the next response and its request id.
    pub(crate) fn take(&self) -> Option<(u32, Vec<u8>)> {
        self.responses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
            .map(|(request_id, response, _)| (request_id, response))
    }

    /// Hands over a response and wakes the transport.
    pub(crate) fn push(&self, request_id: u32, response: Vec<u8>, charge: Charge) {
        let mut responses = self
            .responses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        responses.push_back((request_id, response, charge));
        // The waker may call a thread that takes the response.
        drop(responses);
        (self.waker)();
    }
}
