//! Services that run in slices: inline as long as the first slice lasts, then as a task of the server.

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encoder};

use super::{Fault, Handled, Request, deferred};
use crate::connection::{Connection, Outcome};
use crate::server::Server;
use crate::session::Session;
use crate::tasks::Task;
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

/// Runs the first slice of a service at once, and leaves the others to [`Server::work`].
///
/// Where requests of the same connection wait already, the service waits behind them.
pub(super) fn start(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut service: impl Service + 'static,
    response: &mut Encoder<'_>,
) -> Handled {
    let server = request.server;
    let (start, max_response) = (response.position(), response.available());
    let mut work = server.tasks.inline_slice(connection.channel, usize::MAX);
    if !work.is_over() {
        let progress = service.run(&mut Turn {
            request,
            session,
            response,
            start,
            is_inline: true,
            work: &mut work,
        });
        server.tasks.note(&work);
        match progress {
            Ok(Progress::Complete) => return Ok(Outcome::Complete),
            Ok(Progress::Remote(operations)) => {
                return operations.defer(request, connection, session);
            }
            Ok(Progress::Unfinished) => {}
            Err(fault) => {
                service.abandon(server, session);
                return Err(fault);
            }
        }
    }
    let from = (start, max_response);
    queue(request, connection, session, service, response, from, &work)
}

/// Leaves the rest of a service to [`Server::work`]. `from` is where the response begins, and how long it may be.
pub(super) fn queue(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut service: impl Service + 'static,
    response: &mut Encoder<'_>,
    (start, max_response): (usize, usize),
    work: &Work,
) -> Handled {
    let server = request.server;
    let so_far = response.written().get(start..).unwrap_or_default();
    let mut begun = Vec::with_capacity(service.response_size().max(so_far.len()));
    begun.extend_from_slice(so_far);
    let task = Task::new(request, connection, session, begun, max_response, work);
    match task {
        Ok(task) => {
            response.truncate(start);
            let task = task.with(Box::new(service));
            server.tasks.push(server, connection.channel, task);
            Ok(Outcome::Deferred)
        }
        Err(fault) => {
            service.abandon(server, session);
            Err(fault)
        }
    }
}
