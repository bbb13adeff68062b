//! A request as a task of the server: the state that it needs to continue after its first slice.

use std::cell::Cell;
use std::sync::Arc;

use takt_rt::memory_budget::{Charge, SMALL_MESSAGE};
use takt_space::Caller;
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::views::RequestHeaderRef;
use takt_ua::{DateTime, NodeIdRef, StatusCode};

use super::service::{Progress, Service, Turn};
use crate::responses::fault::Fault;
use crate::responses::message::fault_message;
use crate::responses::pending::Pending;
use crate::server::Server;
use crate::server::connection::Connection;
use crate::services::body;
use crate::services::deferred::DeferredRequest;
use crate::services::request::Request;
use crate::session::Session;
use crate::slices::queues::{Ran, Task};
use crate::slices::work::Work;

/// A request that takes more than its first slice.
pub(crate) struct RequestTask {
    session: Arc<Session>,
    caller: Arc<Caller>,
    pending: Arc<Pending>,
    /// The whole message; empty until it [is set](Self::set_message).
    message: Vec<u8>,
    response: Vec<u8>,
    /// Largest response that the transport takes, in bytes.
    max_response: usize,
    /// Memory of the response; the memory of the message counts in `pending`.
    charge: Charge,
    /// Units of work so far.
    spent: u64,
    service: Option<Box<dyn Service>>,
}

impl RequestTask {
    /// Keeps what a request needs to continue later, except its message. The memory of both counts in the budget of the Session.
    /// The request has begun a response, which has a maximum length, and may have reserved memory so that it can wait.
    pub(crate) fn new(
        request: &Request<'_>,
        connection: &Connection,
        session: &Arc<Session>,
        (response, max_response, reserved): (Vec<u8>, usize, Option<Charge>),
        work: &Work,
    ) -> Result<Box<Self>, Fault> {
        let server = request.server;
        let charge = session
            .memory
            .charge_message(response.capacity())
            .map_err(|_| Fault(StatusCode::BadOutOfMemory))?;
        let reserved = match reserved {
            Some(reserved) => reserved,
            None => Pending::reserve(&session.memory, request.message.len())?,
        };
        let pending = Pending::reserved(
            request.request_id,
            request.header.request_handle,
            Arc::clone(&connection.completed),
            reserved,
        );
        Ok(Box::new(Self {
            pending: session.keep_pending(pending),
            session: Arc::clone(session),
            caller: Arc::clone(&connection.caller),
            message: Vec::new(),
            response,
            max_response: max_response.min(server.budgets.max_response_size),
            charge,
            spent: work.total(),
            service: None,
        }))
    }

    /// Sets the message, which is needed for the next slice.
    pub(crate) fn set_message(&mut self, mut message: Vec<u8>) {
        // Only the length is counted.
        message.shrink_to_fit();
        self.message = message;
    }

    /// Sets the service that continues.
    pub(crate) fn with(mut self: Box<Self>, service: Box<dyn Service>) -> Box<Self> {
        self.service = Some(service);
        self
    }

    fn slice(&mut self, server: &Arc<Server>, work: &mut Work) -> Result<Progress, Fault> {
        let Some(service) = &mut self.service else {
            return Err(Fault(StatusCode::BadInternalError));
        };
        let limits = server.budgets.encoding;
        let laid_out;
        let header = if takt_layout::is_layout(&self.message) {
            laid_out = takt_layout::RequestReader::parse(&self.message, limits)?;
            body::header(&laid_out)
        } else {
            let mut decoder = Decoder::with_limits(&self.message, limits);
            NodeIdRef::decode(&mut decoder)?;
            RequestHeaderRef::decode(&mut decoder)?
        };
        let request = Request {
            server,
            header: &header,
            caller: &self.caller,
            now: DateTime::now(),
            request_id: self.pending.request_id,
            message: &self.message,
            is_refusal_told: Cell::default(),
        };
        // The response may take what the Session has left, beside its own part.
        let memory = self.charge.bytes() + self.session.memory.available();
        // A small response is possible in any case, because budgets keep a reserve for it.
        let memory = memory.max(SMALL_MESSAGE);
        let mut response = Encoder::continuing(&mut self.response, self.max_response.min(memory));
        let progress = service.run(&mut Turn {
            request: &request,
            session: &self.session,
            response: &mut response,
            start: 0,
            is_inline: false,
            work,
        });
        let progress = progress.map_err(|fault| match fault {
            // The response is too large for the remaining memory, not for the client.
            Fault(StatusCode::BadResponseTooLarge) if memory < self.max_response => {
                Fault(StatusCode::BadOutOfMemory)
            }
            fault => fault,
        })?;
        if self.charge.resize(self.response.capacity()).is_err() {
            // The buffer has grown beyond its content.
            self.response.shrink_to_fit();
            self.charge
                .resize(self.response.capacity())
                .map_err(|_| Fault(StatusCode::BadOutOfMemory))?;
        }
        Ok(progress)
    }

    fn fail(&mut self, fault: Fault) {
        let handle = self.pending.request_handle;
        self.pending.answer(fault_message(handle, fault));
        self.session.forget_answered();
    }
}

impl Task<Server> for RequestTask {
    fn run(&mut self, server: &Arc<Server>) -> Ran {
        if self.pending.is_answered() {
            self.abandon(server);
            return Ran::Finished;
        }
        if self.session.is_closed() {
            self.abandon(server);
            self.fail(Fault(StatusCode::BadSessionClosed));
            return Ran::Finished;
        }
        if let Some(gate) = self
            .service
            .as_mut()
            .and_then(|service| service.take_gate())
        {
            return Ran::Waiting(gate, self.pending.waker());
        }
        let mut work = server.tasks.slice_after(self.spent);
        let progress = self.slice(server, &mut work);
        server.tasks.note(&work);
        self.spent = work.total();
        match progress {
            Ok(Progress::Unfinished) => return Ran::Unfinished,
            Ok(Progress::Remote(operations)) => {
                // The response is encoded again with the results of remote sources.
                self.charge.force(0);
                self.response = Vec::new();
                let submitted = operations.submit(DeferredRequest {
                    server,
                    session: &self.session,
                    caller: Arc::clone(&self.caller),
                    pending: Arc::clone(&self.pending),
                    message: std::mem::take(&mut self.message),
                });
                if let Err(fault) = submitted {
                    self.fail(fault);
                }
            }
            Ok(Progress::Settling(settling)) => {
                // `settling` has reserved memory for the response.
                self.charge.force(0);
                let (pending, session) = (Arc::clone(&self.pending), Arc::clone(&self.session));
                settling.wait(pending, session, self.max_response);
            }
            Ok(Progress::Complete) => {
                // From now on the memory counts with the answer.
                self.charge.force(0);
                self.pending.answer(std::mem::take(&mut self.response));
                self.session.forget_answered();
            }
            Err(fault) => {
                self.abandon(server);
                self.fail(fault);
            }
        }
        Ran::Finished
    }

    fn refuse(&mut self, server: &Server) {
        self.abandon(server);
        self.fail(Fault(StatusCode::BadTooManyOperations));
    }

    fn abandon(&mut self, server: &Server) {
        if let Some(mut service) = self.service.take() {
            service.abandon(server, &self.session);
        }
    }
}
