//! Requests whose changes are being made durable: each is answered when the application says that they are.
//!
//! The application may say so at once, which answers the request as usual, or later and from any thread. Then the request is
//! deferred, like one that waits for another server.

use std::sync::{Arc, Mutex, PoisonError};

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_ua::binary::Encoder;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::{DateTime, StatusCode};

use super::request::{Handled, Request};
use crate::responses::fault::Fault;
use crate::responses::message::fault_message;
use crate::responses::pending::Pending;
use crate::responses::settled::Settled;
use crate::server::connection::Connection;
use crate::session::Session;

/// The part of a request that is left when all operations are done.
pub(crate) struct Settling {
    meeting: Arc<Meeting>,
    respond: Respond,
    reserved: Reserved,
}

/// Memory of the Session that a request reserves before its first operation: its client gets the results.
pub(super) struct Reserved {
    /// Memory of the waiting request, until it is deferred.
    waiting: Option<Charge>,
    /// Memory of the response.
    response: Charge,
}

impl Reserved {
    /// Reserves memory for a response of `response` bytes, and for a request of `waiting` bytes that has not been deferred yet.
    pub(super) fn new(
        memory: &MemoryBudget,
        waiting: Option<usize>,
        response: usize,
    ) -> Result<Self, Fault> {
        let waiting = waiting.map(|bytes| Pending::reserve(memory, bytes));
        let response = memory.charge_message(response);
        Ok(Self {
            waiting: waiting.transpose()?,
            response: response.map_err(|_| Fault(StatusCode::BadOutOfMemory))?,
        })
    }

    /// Takes the memory of the waiting request, which is deferred.
    pub(super) fn take_waiting(&mut self) -> Option<Charge> {
        self.waiting.take()
    }
}

/// Encodes the response to a request of this handle; the operations were settled with this result.
pub(super) type Respond = Box<
    dyn FnOnce(Result<(), StatusCode>, u32, DateTime, &mut Encoder<'_>) -> Result<(), Fault> + Send,
>;

/// Meeting of a request and its result. Whichever comes last answers the request.
#[derive(Default)]
pub(super) struct Meeting(Mutex<Met>);

#[derive(Default)]
struct Met {
    result: Option<Result<(), StatusCode>>,
    answer: Option<Answer>,
}

/// A request that waits for its result.
struct Answer {
    pending: Arc<Pending>,
    session: Arc<Session>,
    /// Largest response in bytes.
    max_response: usize,
    respond: Respond,
    /// Memory of the response.
    charge: Charge,
}

impl Meeting {
    /// Creates a meeting, and the notice that brings the result.
    pub(super) fn new() -> (Arc<Self>, Settled) {
        let meeting = Arc::new(Self::default());
        let notified = Arc::clone(&meeting);
        let settled = Settled::new(move |result| notified.meet(|met| met.result = Some(result)));
        (meeting, settled)
    }

    /// Returns the result if it is there already.
    pub(super) fn result(&self) -> Option<Result<(), StatusCode>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).result
    }

    fn meet(&self, come: impl FnOnce(&mut Met)) {
        let answer = {
            let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            come(&mut met);
            met.result
                .and_then(|result| Some((result, met.answer.take()?)))
        };
        // After the lock is released, because an answer calls a waker.
        if let Some((result, answer)) = answer {
            answer.send(result);
        }
    }
}

impl Settling {
    /// Creates the rest of a request whose result has not come yet.
    pub(super) fn new(meeting: Arc<Meeting>, respond: Respond, reserved: Reserved) -> Self {
        Self {
            meeting,
            respond,
            reserved,
        }
    }

    /// Defers a request that has not been deferred before.
    pub(super) fn defer(
        mut self,
        request: &Request<'_>,
        connection: &Connection,
        session: &Arc<Session>,
    ) -> Handled {
        let charge = match self.reserved.take_waiting() {
            Some(charge) => charge,
            None => Pending::reserve(&session.memory, request.message.len())?,
        };
        let pending = Pending::reserved(
            request.request_id,
            request.header.request_handle,
            Arc::clone(&connection.completed),
            charge,
        );
        let pending = session.keep_pending(pending);
        self.wait(
            pending,
            Arc::clone(session),
            request.server.budgets.max_response_size,
        );
        Ok(RequestOutcome::Deferred)
    }

    /// Answers a deferred request when its result is there. Before, the results of the operations are counted with its message.
    pub(super) fn wait(self, pending: Arc<Pending>, session: Arc<Session>, max_response: usize) {
        let answer = Answer {
            pending,
            session,
            max_response,
            respond: self.respond,
            charge: self.reserved.response,
        };
        self.meeting.meet(|met| met.answer = Some(answer));
    }
}

impl Answer {
    fn send(self, result: Result<(), StatusCode>) {
        if self.pending.is_answered() {
            return;
        }
        let handle = self.pending.request_handle;
        let mut message = Vec::new();
        let mut response = Encoder::growing(&mut message, self.max_response);
        if let Err(fault) = (self.respond)(result, handle, DateTime::now(), &mut response) {
            message = fault_message(handle, fault);
        }
        // Only as much is reserved as the response needs.
        message.shrink_to_fit();
        self.pending.answer_within(message, self.charge);
        self.session.forget_answered();
    }
}
