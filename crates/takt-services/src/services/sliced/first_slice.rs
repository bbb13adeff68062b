//! Services that run in slices: the first slice inline, the others as a task of the server.

use std::sync::Arc;

use takt_ua::binary::Encoder;
use takt_ua::request_handler::RequestOutcome;

use super::request_task::RequestTask;
use super::service::{Progress, Service, Turn};
use crate::server::connection::Connection;
use crate::services::request::{Handled, Request};
use crate::session::Session;
use crate::slices::work::Work;

/// Runs the first slice of a service at once, and leaves the others to [`Server::work`](crate::Server::work).
///
/// If requests of the same connection are waiting, the service waits behind them.
pub(crate) fn start(
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
            Ok(Progress::Complete) => return Ok(RequestOutcome::Complete),
            Ok(Progress::Remote(operations)) => {
                return operations.defer(request, connection, session);
            }
            Ok(Progress::Settling(settling)) => {
                return settling.defer(request, connection, session);
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

/// Leaves the rest of a service to [`Server::work`](crate::Server::work), once the task has its message. `from` is the position and the maximum length of the
/// response.
pub(crate) fn queue(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut service: impl Service + 'static,
    response: &mut Encoder<'_>,
    (start, max_response): (usize, usize),
    work: &Work,
) -> Handled {
    let so_far = response.written().get(start..).unwrap_or_default();
    let mut begun = Vec::with_capacity(service.response_size().max(so_far.len()));
    begun.extend_from_slice(so_far);
    let begun = (begun, max_response, service.take_reserved());
    match RequestTask::new(request, connection, session, begun, work) {
        Ok(task) => {
            // The task has this part now. A deferred request leaves nothing in the buffer of the transport.
            response.truncate(start);
            let task = task.with(Box::new(service));
            connection.begun.set(Some(task));
            Ok(RequestOutcome::Deferred)
        }
        Err(fault) => {
            service.abandon(request.server, session);
            Err(fault)
        }
    }
}
