//! The interface of services that run in slices.

use std::sync::Arc;

use takt_rt::memory_budget::Charge;
use takt_ua::binary::{Decoder, Encoder};

use crate::responses::fault::Fault;
use crate::server::Server;
use crate::services::deferred;
use crate::services::request::Request;
use crate::services::settling::Settling;
use crate::session::Session;
use crate::slices::gate::Gate;
use crate::slices::work::Work;

/// State of a service at the end of a slice.
pub(crate) enum Progress {
    /// The service needs another slice.
    Unfinished,
    /// Remote sources have to be asked; their results complete the response.
    Remote(deferred::Operations),
    /// All operations are done; the response is complete when their changes are durable.
    Settling(Settling),
    /// The response is complete.
    Complete,
}

/// One slice of one request.
pub(crate) struct Turn<'t, 'b> {
    pub(crate) request: &'t Request<'t>,
    pub(crate) session: &'t Arc<Session>,
    pub(crate) response: &'t mut Encoder<'b>,
    /// Position at which the response message begins in `response`. It differs between the first slice and the others.
    pub(crate) start: usize,
    /// True if the request has no task yet: its effects in this slice may be lost if there is no memory for a task.
    pub(crate) is_inline: bool,
    pub(crate) work: &'t mut Work,
}

impl<'t> Turn<'t, '_> {
    /// Returns a decoder of the request message from an offset on.
    pub(crate) fn decoder(&self, offset: usize) -> Decoder<'t> {
        let request = self.request;
        let rest = request.message.get(offset..).unwrap_or_default();
        Decoder::with_limits(rest, request.server.budgets.encoding)
    }

    /// Returns the offset of the next byte of a [`decoder`](Self::decoder).
    pub(crate) fn offset(&self, decoder: &Decoder<'_>) -> usize {
        self.request.offset(decoder)
    }

    /// Returns the number of bytes of the response message so far.
    pub(crate) fn position(&self) -> usize {
        self.response.position() - self.start
    }

    /// Discards the part of the response message after this position.
    pub(crate) fn truncate(&mut self, position: usize) {
        self.response.truncate(self.start + position);
    }
}

/// A service in progress. Between slices it keeps only its own state, and no references into the address space.
pub(crate) trait Service: Send {
    /// Continues until the response is complete or the slice is over.
    fn run(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault>;

    /// Returns the bytes of memory to reserve for the response, if the operations themselves may use up the remaining memory.
    fn response_size(&self) -> usize {
        0
    }

    /// Takes the memory that the service has reserved so that the request can wait: it is about to be deferred.
    fn take_reserved(&mut self) -> Option<Charge> {
        None
    }

    /// Takes the gate at which an unfinished service waits before its next slice.
    fn take_gate(&mut self) -> Option<Arc<Gate>> {
        None
    }

    /// Handles the end of the request without a response of this service: cancelled, failed, or its channel is closed.
    fn abandon(&mut self, _server: &Server, _session: &Session) {}
}

/// Maximum number of bytes of a response beside its results.
const RESPONSE_SIZE: usize = 64;

/// Returns the maximum number of bytes of a response with results of the same size; 0 if their size is not known.
pub(crate) fn response_size(count: usize, result_size: usize) -> usize {
    match result_size {
        0 => 0,
        size => RESPONSE_SIZE + count * size,
    }
}
