//! A request of a client that workers carry out, and its results.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_space::{Caller, RemoteOperations, RemoteReply, RemoteRequest, RemoteResults};
use takt_ua::structures::CallMethodResult;
use takt_ua::{DataValue, StatusCode};

use super::deadlines::{Deadlines, Expire, Key};
use super::places::Place;

/// A request. It is answered when all its operations have results, or at its deadline, then with `BadTimeout` for the
/// operations without a result. If it is dropped before, there is no answer.
pub(super) struct Task {
    pub(super) operations: RemoteOperations,
    /// The client; `None` for the server itself.
    pub(super) caller: Option<Arc<Caller>>,
    state: Mutex<State>,
    deadlines: Arc<Deadlines<Task>>,
}

struct State {
    /// `None` after the answer.
    reply: Option<Box<dyn RemoteReply>>,
    results: RemoteResults,
    /// Number of operations without a result.
    missing: usize,
    key: Option<Key>,
    place: Option<Place>,
    /// True if a worker has begun. If it hangs, it needs the place after the deadline too.
    is_begun: bool,
}

/// Result of one operation.
pub(super) enum Outcome {
    Read(DataValue),
    Write(StatusCode),
    Call(CallMethodResult),
}

impl Task {
    pub(super) fn new(
        request: RemoteRequest,
        place: Option<Place>,
        deadlines: &Arc<Deadlines<Self>>,
    ) -> Self {
        Self {
            state: Mutex::new(State {
                reply: Some(request.reply),
                // At the deadline, operations without a result have this one.
                results: request.operations.failed(StatusCode::BadTimeout),
                missing: request.operations.len(),
                key: None,
                place,
                is_begun: false,
            }),
            operations: request.operations,
            caller: request.caller,
            deadlines: Arc::clone(deadlines),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the key of the task in the list of deadlines.
    pub(super) fn set_key(&self, key: Option<Key>) {
        self.state().key = key;
    }

    /// Begins an operation. Returns false if the request has been answered, or its client does not want an answer any more.
    pub(super) fn begin(&self) -> bool {
        let mut state = self.state();
        let is_awaited = state.reply.as_ref().is_some_and(|reply| reply.is_awaited());
        state.is_begun |= is_awaited;
        is_awaited
    }

    /// Sets the result of an operation, once. The last one answers the request.
    pub(super) fn put(&self, index: usize, outcome: Outcome) {
        let mut state = self.state();
        state.set(index, outcome);
        state.missing = state.missing.saturating_sub(1);
        if state.missing == 0 {
            // The client may use the place for its next request.
            state.place = None;
            self.answer(state);
        }
    }

    /// Answers the request: all operations have failed with `status`.
    pub(super) fn fail(&self, status: StatusCode) {
        let mut state = self.state();
        state.results = self.operations.failed(status);
        state.place = None;
        self.answer(state);
    }

    /// Answers the request, unless it has been answered.
    fn answer(&self, mut state: MutexGuard<'_, State>) {
        let (key, reply) = (state.key.take(), state.reply.take());
        let results = std::mem::replace(&mut state.results, RemoteResults::Read(Vec::new()));
        // The answer is encoded without the lock.
        drop(state);
        if let Some(key) = key {
            self.deadlines.remove(key);
        }
        if let Some(reply) = reply {
            reply.answer(results);
        }
    }
}

impl State {
    fn set(&mut self, index: usize, outcome: Outcome) {
        fn replace<T>(results: &mut [T], index: usize, result: T) {
            if let Some(place) = results.get_mut(index) {
                *place = result;
            }
        }
        match (&mut self.results, outcome) {
            (RemoteResults::Read(values), Outcome::Read(value)) => replace(values, index, value),
            (RemoteResults::Write(results), Outcome::Write(status)) => {
                replace(results, index, status);
            }
            (RemoteResults::Call(results), Outcome::Call(result)) => {
                replace(results, index, result);
            }
            // The result of an answered request, which is empty.
            _ => {}
        }
    }
}

impl Expire for Task {
    fn expire(&self) {
        let mut state = self.state();
        if !state.is_begun {
            state.place = None;
        }
        self.answer(state);
    }
}
