//! The interface of services that run in slices.

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encoder};

use super::deferred;
use super::request::Request;
use crate::fault::Fault;
use crate::server::Server;
use crate::session::Session;
use crate::work::Work;

/// What a service has come to at the end of a slice.
pub(crate) enum Progress {
    /// There is more to do.
    Unfinished,
    /// Remote sources have to be asked; their answers complete the response.
    Remote(deferred::Operations),
    /// The response is complete.
    Complete,
}

/// One slice of one request.
pub(crate) struct Turn<'t, 'b> {
    pub(crate) request: &'t Request<'t>,
    pub(crate) session: &'t Arc<Session>,
    pub(crate) response: &'t mut Encoder<'b>,
    /// Where the response message begins in `response`. It differs between the first slice and the others.
    pub(crate) start: usize,
    /// Whether there is no task for the request yet: what it does now may be lost if there is no memory for one.
    pub(crate) is_inline: bool,
    pub(crate) work: &'t mut Work,
}

impl<'t> Turn<'t, '_> {
    /// A decoder of the request message from an offset on.
    pub(crate) fn decoder(&self, offset: usize) -> Decoder<'t> {
        let request = self.request;
        let rest = request.message.get(offset..).unwrap_or_default();
        Decoder::with_limits(rest, request.server.limits.encoding)
    }

    /// The offset of what a [`decoder`](Self::decoder) reads next.
    pub(crate) fn offset(&self, decoder: &Decoder<'_>) -> usize {
        self.request.offset(decoder)
    }

    /// Bytes of the response message so far.
    pub(crate) fn position(&self) -> usize {
        self.response.position() - self.start
    }

    /// Forgets what was encoded after this position of the response message.
    pub(crate) fn truncate(&mut self, position: usize) {
        self.response.truncate(self.start + position);
    }
}

/// A service in progress. Between slices it keeps its own state and nothing of the address space that would have to stay.
pub(crate) trait Service: Send {
    /// Goes on until the response is complete or the slice is over.
    fn run(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault>;

    /// Bytes of memory to reserve for the response, where the operations themselves may take what is left.
    fn response_size(&self) -> usize {
        0
    }

    /// The request ends without a response of this service: cancelled, failed, or its channel is closed.
    fn abandon(&mut self, _server: &Server, _session: &Session) {}
}
